"""A study that runs in seconds: the toy tables, contrasted in three ways, beside their bounds."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from toys import toy

from coview.contrast import Bank
from coview.reports.comparison import curve
from coview.studies import RANDOM, SUPERVISED, Claim, Row, Study, accuracies, accuracy, beats, best, recall
from coview.training import Recipe

HERE = Path(__file__).resolve()
MEASURES = {"hidden": partial(accuracy, kind="knn", layer="hidden1"), "kNN": partial(accuracy, kind="knn")}


def small(data_name: str = "tables") -> Recipe:
    """The toy, on as many samples as the name of the data says, as in tables64."""
    samples = int(data_name.removeprefix("tables") or 96)
    base = toy()
    return replace(base, data=partial(base.data.func, samples=samples), milestones=(2,), schedule="step")


def broken() -> Recipe:
    """Fails in its third step."""
    return replace(small(), negatives=partial(Failing, draw=20), log_every=1)


class Failing(Bank):
    """A bank that cannot be written for long."""

    def update(self, *arguments, **more):
        self.writes = getattr(self, "writes", 0) + 1
        if self.writes == 3:
            raise RuntimeError("the bank is\nclosed")
        super().update(*arguments, **more)


def row(name: str, **fields) -> Row:
    return Row(name=name, recipe=f"{HERE}:small", measures=MEASURES, **fields)


def rows(data: str) -> list[Row]:
    return [
        row("five negatives", settings=("negatives.draw=5",), paper={"hidden": 61.25}, at=5),
        row("twenty negatives", paper={"hidden": 70.5}, at=20),
        row("random", way=RANDOM),
        row("supervised", way=SUPERVISED, settings=("epochs=2",), paper={"hidden": 90}),
        Row(name="another paper's", paper={"hidden": 33.0}),
    ]


def samples(data: str, root: str | None) -> dict[str, int]:
    if not data.startswith("tables"):
        raise FileNotFoundError(f"there are no data '{data}': get them from the shop")
    count = int(data.removeprefix("tables") or 96)
    return {"train": count, "labelled": count}


def toys() -> Study:
    return Study(
        name="toys",
        claim="Contrast tells where things are",
        paper="nowhere",
        data="tables",
        rows=rows,
        samples=samples,
        fitted="As many samples as the name says.",
        claims=(
            Claim("twenty beat random", beats("twenty negatives", "random", "hidden")),
            Claim("twenty are best", best("twenty negatives", "hidden")),
        ),
        figure=partial(curve, axis="negatives"),
        seeds=(0, 1),
    )


def nothing():
    return []


def with_failure() -> Study:
    """A row that fails between two that do not."""
    first, second, *_ = rows("tables")
    failing = replace(first, name="broken", recipe=f"{HERE}:broken", settings=())
    measured = replace(second, measures={"by view": partial(accuracies, kind="knn"), "R@1": recall})
    return replace(toys(), name="with failure", rows=lambda data: [first, failing, measured], seeds=(0,))
