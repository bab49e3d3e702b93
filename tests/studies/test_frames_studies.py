"""Studies of frames on rendered rooms, from plan to table; sets of rows that stand for all."""

import re
from itertools import pairwise

import pytest

from coview.data.images import AbsentData
from coview.recipes.find import find_recipe
from coview.recipes.frames import complete
from coview.reports.orders import orders
from coview.reports.outcome import Line, Numbers
from coview.studies import Place
from coview.studies.carry_out import carry_out
from coview.studies.find import find_study
from coview.studies.frames import find_pictures
from coview.studies.more_views import ORDERS, RECIPES
from coview.studies.plan import make_plan
from coview.studies.predict_or_contrast import beats_on_pictures
from coview.studies.table import failures_of, lines_of
from coview.studies.write import write_results

STUDIES = ("more-views", "core-or-full", "all-views", "predict-or-contrast", "missing")
SMALL = ("epochs=1", "batch_size=8", "compile=false", "channels_last=false")


def thin(name) -> list[str]:
    """Settings for thin encoders in all rows of a study that have them."""
    found = {}
    for row in find_study(name).rows("scenes"):
        encoders = find_recipe(f"{row.recipe}@scenes")[0].encoders if row.recipe else {}
        for view, part in encoders.items():
            found[f"encoders.{view}.{'make.' if 'make' in part.keywords else ''}width=0.1"] = None
    return list(found)


class Quiet:
    """A display that shows nothing."""

    def __call__(self, title):
        return self

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


def planned(name, tmp_path, **more):
    return make_plan(find_study(name), Place(data="scenes", runs=tmp_path / "runs"), **more)


@pytest.mark.filterwarnings("ignore:view '.*' is missing for all . samples of a batch")
@pytest.mark.parametrize(
    ("name", "pattern", "columns"),
    [
        ("more-views", "L + depth + normal", {"mIoU", "accuracy"}),
        ("more-views", "random", {"mIoU", "accuracy"}),
        ("core-or-full", "supervised", {"mIoU", "accuracy"}),
        ("all-views", "contrast", {"L, mIoU", "ab, mIoU", "depth, accuracy", "normal, accuracy"}),
        ("predict-or-contrast", "L, segments*", {"accuracy on scenes"}),
        ("predict-or-contrast", "supervised", {"accuracy on scenes"}),
        ("missing", "50%*", {"mIoU", "accuracy", "depth, mIoU", "depth, accuracy"}),
    ],
)
def test_rows_are_run_and_measured(name, pattern, columns, tmp_path):
    count = 64 if name == "predict-or-contrast" else 16  # of few rooms some kind is not among them
    plan = planned(
        name, tmp_path, pattern=pattern, seeds=[3], settings=[*SMALL, f"data.samples={count}", *thin(name)]
    )
    assert plan.todo
    carry_out(plan.todo, lambda said: None, Quiet(), lambda: None)
    assert failures_of(plan) == []
    for line in lines_of(plan):
        if line.name in plan.chosen:
            assert columns <= set(line.numbers)
            assert all(0 <= value <= 100 for one in line.numbers.values() for value in one.values)
    write_results(plan, tmp_path / "out", "coview reproduce")
    text = (tmp_path / "out/table.md").read_text()
    assert "## Claims" in text
    assert (tmp_path / "out/figure.png").stat().st_size > 5000
    if name != "predict-or-contrast":
        for job in plan.jobs:
            if job.row.name in plan.chosen:
                assert (job.folder / "segments-L.png").is_file()
    if name != "missing":
        assert re.search(r"paper \(nyu\)", text)


@pytest.mark.parametrize("name", STUDIES)
def test_every_row_can_be_planned_and_every_claim_asked(name, tmp_path):
    plan = planned(name, tmp_path)
    lines = {line.name: line for line in lines_of(plan)}
    assert len(plan.jobs) == 3 * len([row for row in plan.rows if row.recipe])
    for claim in plan.study.claims:
        assert claim.verdict(lines).word == "cannot be said"


@pytest.mark.parametrize("name", STUDIES)
def test_claims_read_the_columns_that_rows_have(name, tmp_path):
    """With the same number everywhere every claim finds all that it asks for, and is within the spread or decided."""
    plan = planned(name, tmp_path)
    columns = [
        *("mIoU", "accuracy", "accuracy on scenes"),
        *(f"{view}, {one}" for view in ("L", "ab", "depth", "normal") for one in ("mIoU", "accuracy")),
    ]
    lines = {row.name: Line(row.name, {one: Numbers((4.0, 5.0)) for one in columns}) for row in plan.rows}
    for claim in plan.study.claims:
        assert "there is no row" not in claim.verdict(lines).reason
        assert "has no number" not in claim.verdict(lines).reason


def test_every_order_goes_from_one_view_to_all():
    for names in ORDERS.values():
        assert [name.count("+") for name in names] == [0, 1, 2, 3]
        for before, after in pairwise(names):
            assert set(before.split(" + ")) < set(after.split(" + "))
    assert {name for names in ORDERS.values() for name in names} == set(RECIPES)


@pytest.mark.parametrize("settings", [(), ("epochs=30",)])
def test_frames_left_out_take_as_many_steps(settings, tmp_path):
    jobs = {job.row.name: job for job in planned("missing", tmp_path, seeds=[0], settings=settings).jobs}
    for share in ("25%", "50%", "75%"):
        kept, left = jobs[f"{share} missing, kept"], jobs[f"{share} missing, left out"]
        assert left.samples == complete(2560, int(share[:-1]) / 100) < kept.samples == 2560
        assert left.steps == pytest.approx(kept.steps, rel=0.02)
        assert left.recipe.milestones[0] / left.recipe.epochs == pytest.approx(2 / 3, rel=0.02)
        shares = [getattr(job.row.measures["L"], "keywords", {}).get("share", 1 / 15) for job in (kept, left)]
        assert left.recipe.epochs * shares[1] == pytest.approx(kept.recipe.epochs * shares[0], rel=0.02)


def test_pictures_are_those_on_disk(tmp_path):
    import layouts

    with pytest.raises(AbsentData, match="none of stl10, cifar10 is on disk"):
        find_pictures(("stl10", "cifar10"), str(tmp_path))
    layouts.cifar10(tmp_path, train=2, test=1)
    name, splits = find_pictures(("stl10", "cifar10"), str(tmp_path))
    assert (name, len(splits["train"]), len(splits["test"])) == ("cifar10", 20, 10)


def test_a_claim_about_pictures_finds_their_column():
    lines = {
        "a": Line("a", {"accuracy on tiny": Numbers((50.0, 51.0))}),
        "b": Line("b", {"accuracy on tiny": Numbers((40.0, 41.0))}),
        "c": Line("c", {}),
    }
    assert beats_on_pictures("a", "b")(lines).word == "holds"
    with pytest.raises(LookupError, match="'c' has not been moved yet"):
        beats_on_pictures("c", "a")(lines)


def test_the_figure_draws_each_order_and_the_paper():
    ways = {"one way": ("x", "x y"), "the other": ("x", "x z")}
    lines = [
        Line("x", {"mIoU": Numbers((10.0, 12.0))}),
        Line("x y", {"mIoU": Numbers((14.0, 15.0))}, {"mIoU": 20.0}),
        Line("x z", {"mIoU": Numbers((13.0,))}),
        Line("random", {"mIoU": Numbers((5.0,))}),
    ]
    figure = orders(lines, "the paper", ways=ways)
    (panel,) = figure.axes
    drawn = [one.lines[0].get_ydata().tolist() for one in panel.containers]
    assert drawn == [[11.0, 14.5], [11.0, 13.0]]
    assert [one.get_text() for one in figure.legends[0].get_texts()] == ["the paper", "one way", "the other"]
    assert any("random 5.0" in one.get_text() for one in panel.texts)
    assert [list(one.get_xydata()[0]) for one in panel.lines if one.get_marker() == "D"] == [[2.0, 20.0]]
    empty = orders([Line("x", {})], "the paper", ways=ways)
    assert "no run has come to a number yet" in [one.get_text() for one in empty.texts]
