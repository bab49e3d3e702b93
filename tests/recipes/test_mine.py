"""The recipe for your own views: its rules, and that the file says all of it."""

from dataclasses import replace

import numpy as np
import pytest
from toy_files import picture, save, sensors

from coview.data.own import Summary
from coview.recipes.find import find_recipe, shipped_recipes
from coview.recipes.mine import batch_size, choose_epochs, choose_side, mine, plan, recipe_text
from coview.training import describe, fit
from coview.training.state import build_encoders


def view(side: int) -> Summary:
    return Summary("v", 5, 7, "map", 3, ((side, side + 3),), True, (0.0,), (1.0,), (0, 1), 0.0)


@pytest.mark.parametrize(
    ("sides", "samples", "chosen"),
    [([40, 75], 100, 64), ([40, 63], 100, 48), ([9], 100, 16), ([500], 100, 64), ([500], 20_000, 128)],
)
def test_side(sides, samples, chosen):
    assert choose_side(list(map(view, sides)), samples) == chosen


@pytest.mark.parametrize(
    ("samples", "batch"), [(16, 4), (31, 4), (32, 8), (511, 64), (512, 128), (9999, 128)]
)
def test_batches(samples, batch):
    assert batch_size(samples) == batch


def test_too_few_samples():
    with pytest.raises(ValueError, match="samples to train on: 9; contrast needs"):
        batch_size(9)


@pytest.mark.parametrize(("samples", "epochs"), [(100, 200), (1920, 100), (200_000, 20)])
def test_epochs(samples, epochs):
    assert choose_epochs(samples, 128, "map") == epochs


def test_the_file_makes_the_same_recipe(tmp_path):
    sensors(tmp_path / "data", 40)
    file = tmp_path / "my_recipe.py"
    file.write_text(recipe_text(plan(tmp_path / "data")))
    found, _ = find_recipe(f"{file}:mine")
    assert describe(found) == describe(mine(tmp_path / "data"))
    assert found.graph.views == ("depth", "heat", "rgb")
    assert found.probe_layer == "fc"


@pytest.mark.parametrize("wide", [3, 70])
def test_maps_beside_tables(tmp_path, wide):
    """Wide tables have one range for all columns, narrow ones a range each; both train."""
    data = tmp_path / "a.npz"
    values = np.random.default_rng(0).normal(size=(40, wide)) * np.arange(1, wide + 1)
    values[::3] = np.nan
    np.savez(data, table=values, photo=np.stack([picture(n) for n in range(40)]))
    recipe = mine(data)
    bounds = recipe.views["table"].keywords["high"]
    assert isinstance(bounds, tuple if wide == 3 else float)
    assert recipe.probe_layer == "embedding"
    out = recipe.views["table"](recipe.data("train").fields)
    assert out.isfinite().all()
    assert recipe.augment is not None
    assert fit(replace(recipe, steps=2), tmp_path / "run").step == 2


def test_large_sets_get_residual_networks(tmp_path, monkeypatch):
    monkeypatch.setattr("coview.recipes.mine.MANY", 20)
    for number in range(40):
        for name in ("left", "right"):
            save(tmp_path / name / f"{number}.png", picture(number, 150, 200))
    recipe = mine(tmp_path)
    assert recipe.augment.keywords["size"] == 128
    encoders = build_encoders(recipe)
    assert {type(one).__name__ for one in encoders.values()} == {"ResNet"}
    views = {name: view(recipe.data("test").fields).float() for name, view in recipe.views.items()}
    assert encoders.eval()(views)["left"].shape == (8, 64)


def test_pairs_that_share_nothing_are_left_out(tmp_path):
    for number in range(60):
        save(tmp_path / "rgb" / f"{number}.png", picture(number))
        save(tmp_path / ("night" if number % 2 else "day") / f"{number}.png", picture(number))
    recipe = mine(tmp_path)
    pairs = {frozenset(edge[:2]) for edge in recipe.graph.edges}
    assert pairs == {frozenset({"day", "rgb"}), frozenset({"night", "rgb"})}


@pytest.mark.parametrize("name", ['a"b', "back\\slash", "Wärme", "it's", '"""', "{x}"])
def test_any_name_makes_a_file_that_runs(tmp_path, name):
    for number in range(20):
        save(tmp_path / 'my "data"' / name / f"{number}.png", picture(number, channels=1))
        save(tmp_path / 'my "data"' / "rgb" / f"{number}.png", picture(number))
    recipe = mine(tmp_path / 'my "data"')
    assert set(recipe.views) == {name, "rgb"}
    assert len(recipe.data("train")) == 16


def test_it_is_not_among_those_that_ship():
    assert "mine" not in shipped_recipes()
    with pytest.raises(ValueError, match="'mine' is made from your data: `coview init DIR`"):
        find_recipe("mine")
