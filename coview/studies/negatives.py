"""`negatives`: accuracy against the number of negatives, from 64 to 8,192 and all (appendix D.3, figure 6)."""

from collections.abc import Sequence
from functools import partial

from coview.recipes.pictures import pictures
from coview.reports.comparison import curve
from coview.studies.claims import Claim, best, every, rises, within
from coview.studies.measures import accuracy
from coview.studies.pictures import ON_PICTURES
from coview.studies.study import Row, Study

COUNTS = tuple(2**power for power in range(6, 14))
PAPER = {4096: 60.3}  # the one number that the paper gives of its curve: there it saturates
LINEAR = partial(accuracy, layer="conv5")


def rows(data: str) -> Sequence[Row]:
    """A row for each number of negatives below that of all, by both losses, and one for all."""
    there = [count for count in COUNTS if count < pictures(data).samples]
    return [
        *(drawn(count, "negatives_drawn", "softmax") for count in there),
        Row(
            name="all", recipe="negatives_all", measures={"softmax": LINEAR}, at=float(pictures(data).samples)
        ),
        *(drawn(count, "negatives_nce", "NCE") for count in there),
    ]


def drawn(count: int, recipe: str, loss: str) -> Row:
    """So many negatives under one loss."""
    paper = {"NCE": PAPER[count]} if loss == "NCE" and count in PAPER else {}
    name = f"{count:,}" if loss == "softmax" else f"{count:,}, {loss}"
    settings = (f"negatives.draw={count}",)
    return Row(
        name=name, recipe=recipe, settings=settings, measures={loss: LINEAR}, paper=paper, at=float(count)
    )


def negatives() -> Study:
    """The curve."""
    names = [f"{count:,}" for count in COUNTS]
    return Study(
        name="negatives",
        claim="More negatives are better, and all are no worse than thousands",
        paper="appendix D.3, figure 6",
        data="imagenet100",
        rows=rows,
        claims=(
            Claim("accuracy rises with the number of negatives", rises(names, "softmax")),
            Claim("with NCE too", rises([f"{name}, NCE" for name in names], "NCE")),
            Claim("all are no worse than any number of drawn ones", best("all", "softmax")),
            Claim(
                "from 4,096 to 8,192 it changes by less than a point",
                every(
                    within("8,192, NCE", "4,096, NCE", "NCE", points=1.0),
                    within("8,192", "4,096", "softmax", points=1.0),
                ),
            ),
        ),
        figure=partial(curve, axis="negatives m (all: every other picture)", logarithmic=True),
        **ON_PICTURES,
    )
