"""Studies of information: rows and claims, and each run small from plan to figure."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import layouts
import pytest
import torch
from toys import toy

from coview.recipes.colours import colour_parts
from coview.recipes.find import find_recipe
from coview.recipes.measure import Opened
from coview.recipes.patches import LABELLED, patch_pairs
from coview.reports.outcome import Line, Numbers
from coview.studies import Claim, Place
from coview.studies.carry_out import carry_out
from coview.studies.colour_information import SPACES_TOLD, colour_information, row_name, without
from coview.studies.find import find_study
from coview.studies.information import NATS, SAFE, information
from coview.studies.patch_information import DISTANCES, LINEAR, best_inside, draw, falls, patch_information
from coview.studies.plan import make_plan
from coview.studies.ranks import correlated, resampled
from coview.studies.subject import Subject
from coview.studies.write import write_results
from coview.views.colour import split

THIN = ("compile=false", "channels_last=false", "batch_size=16", "log_every=1", "epochs=1")


class Silent:
    """A display for nobody."""

    def __call__(self, title):
        return self

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


def carried_out(study, tmp_path, pattern, settings):
    """The study on small rooms, with short estimates: its lines, and the folder of what was written."""

    def rows(data):
        quick = {"steps": 6, "batch": 16}
        for row in study.rows(data):
            measure = row.measures["information"]
            short = partial(measure.func, **{**measure.keywords, **quick})
            yield replace(row, measures={**row.measures, "information": short})

    small = replace(study, rows=lambda data: list(rows(data)), seeds=(1,))
    plan = make_plan(
        small, Place(data="scenes", runs=tmp_path / "runs"), pattern=pattern, settings=[*THIN, *settings]
    )
    carry_out(plan.todo, lambda text: None, Silent(), lambda: None)
    lines = {line.name: line for line in write_results(plan, tmp_path / "out", "coview reproduce ...")}
    assert (tmp_path / "out/figure.png").read_bytes()[:4] == b"\x89PNG"
    assert not [job.result()["failed"] for job in plan.jobs if "failed" in job.result()]
    return lines


def test_colour_study(tmp_path):
    settings = ("data.samples=96", "encoders.first.width=0.05", "encoders.rest.width=0.05")
    lines = carried_out(colour_information(), tmp_path, "*HED*", settings)
    numbers = lines["H | ED (HED)"].numbers
    assert set(numbers) == {NATS, SAFE, LINEAR}
    assert numbers[NATS].mean == numbers[NATS].mean  # not NaN
    assert 0 <= numbers[LINEAR].mean <= 100
    claims = json.loads((tmp_path / "out/result.json").read_text())["claims"]
    assert {claim["verdict"] for claim in claims} == {"cannot be said"}  # of one row


def test_patch_study(tmp_path):
    layouts.cifar10(tmp_path / "data", train=2, test=1)
    settings = (
        *("data.samples=64", "data.pictures=3", "data.labelled=cifar10", f"data.root={tmp_path / 'data'}"),
        *("encoders.near.width=0.05", "encoders.far.width=0.05"),
    )
    lines = carried_out(patch_information(), tmp_path, "384", settings)
    assert set(lines["384"].numbers) == {NATS, SAFE, LINEAR}
    assert lines["384"].at == 384


def test_every_space_is_a_row_whose_views_are_its_parts():
    rows = {row.name: row for row in colour_information().rows("scenes")}
    assert len(rows) == len(SPACES_TOLD) == 11
    assert {"L | ab (Lab)", "Y | DbDr (YDbDr)", "R | GB (RGB)", "H | SV (HSV)", "X | YZ (XYZ)"} <= set(rows)
    row = rows["H | ED (HED)"]
    recipe, _ = find_recipe("colour_parts@scenes", row.settings)
    assert recipe.views["first"].keywords == split("HED")["H"].keywords
    assert recipe.views["rest"].keywords == split("HED")["ED"].keywords
    assert find_study("colour-information").name == "colour-information"
    assert find_study("patch-information").data == "div2k"


def test_distances_are_rows_and_only_they_differ():
    rows = patch_information().rows("scenes")
    assert [row.at for row in rows] == list(map(float, DISTANCES))
    for row in rows:
        recipe, _ = find_recipe("patch_pairs@scenes", row.settings)
        assert recipe.data.keywords["distance"] == row.at


def test_information_of_a_run_by_its_seed():
    def measured(seed):
        opened = Opened(replace(toy(), seed=seed), torch.nn.ModuleDict(), 0)
        return information(Subject(opened, Path()), first="sound", second="touch", steps=2, batch=16)

    found = measured(1)
    assert set(found) == {NATS, SAFE}
    assert found[NATS] > 0.5
    assert measured(1) == found
    assert measured(2) != found


def test_labelled_pictures_stand_in_for_both_patches(tmp_path):
    layouts.cifar10(tmp_path, train=2, test=1)
    settings = ["data.pictures=3", "data.samples=10", "data.distance=200", "data.labelled=cifar10"]
    settings.append(f"data.root={tmp_path}")
    recipe, _ = find_recipe("patch_pairs@scenes", settings)
    train, known = recipe.data("train"), recipe.data(LABELLED)
    assert train.fetch(torch.arange(2)).fields["near"].shape == (2, 3, 64, 64)
    assert train.label is None
    sample = known.fetch(torch.arange(3))
    assert torch.equal(sample.fields["near"], sample.fields["far"])
    assert known.label is not None
    assert len(known.classes) == 10
    assert recipe.data("test").name != known.name


def test_recipes_are_for_their_own_data():
    assert colour_parts().data.keywords["name"] == "stl10"
    assert patch_pairs().data.keywords["labelled"] == "stl10"


def lines(nats, accuracy, deviation=0.1):
    return {
        str(distance): Line(
            str(distance),
            {NATS: Numbers((x, x + 0.01)), LINEAR: Numbers((y - deviation, y + deviation))},
            at=float(distance),
        )
        for distance, x, y in zip(DISTANCES, nats, accuracy, strict=False)
    }


def verdict(check, found):
    return Claim("", check).verdict(found)


def test_falling_information_and_an_inner_optimum():
    found = lines(nats=[5, 4, 3, 2, 1.5, 1], accuracy=[40, 44, 48, 46, 43, 41])
    assert verdict(falls(NATS), found).word == "holds"
    best = verdict(best_inside(LINEAR), found)
    assert best.word == "holds"
    assert "at 128" in best.reason
    rising = lines(nats=[1, 2, 3, 4, 5, 6], accuracy=[40, 41, 42, 43, 44, 45])
    assert verdict(falls(NATS), rising).word == "does not hold"
    assert verdict(best_inside(LINEAR), rising).word == "does not hold"
    noisy = lines(nats=[3, 5, 1, 4, 2, 6], accuracy=[40, 41, 40.8, 40, 40, 40.9], deviation=2)
    assert verdict(falls(NATS), noisy).word == "cannot be said"
    assert verdict(best_inside(LINEAR), noisy).word == "cannot be said"
    few = lines(nats=[3, 2], accuracy=[40, 41])
    assert verdict(falls(NATS), few).word == verdict(best_inside(LINEAR), few).word == "cannot be said"


def test_the_best_distance_is_marked_in_its_panel():
    figure = draw(list(lines(nats=[5, 4, 3, 2], accuracy=[40, 44, 48, 46]).values()), "the paper")
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    texts = {
        title: [text.get_text() for text in panel.texts]
        for title, panel in zip(titles, figure.axes, strict=True)
    }
    assert "best at 128" in texts[LINEAR]
    assert "best at 128" not in texts[NATS]


def test_a_row_can_be_left_out_of_a_check():
    found = lines(nats=[1, 2, 3, 4, 5, 6], accuracy=[40, 41, 42, 43, 44, 45])
    assert "6 rows" in verdict(correlated(NATS, LINEAR), found).reason
    assert "5 rows" in verdict(without("64", correlated(NATS, LINEAR)), found).reason
    assert row_name("HSV") in [row.name for row in colour_information().rows("scenes")]


def test_how_far_a_correlation_strays_with_the_rows_that_are_there():
    torch.manual_seed(2)
    values = torch.randn(14)
    for noise, narrow in ((0.1, 0.3), (2.0, 1.3)):
        others = (values + noise * torch.randn(14)).tolist()
        low, high = resampled(values.tolist(), others)
        assert -1.001 < low < high < 1.001
        assert high - low < narrow
    assert resampled([1, 2, 3, 4, 5], [2, 3, 4, 5, 6]) == pytest.approx((1, 1))
