"""Settings of a study: schedules in proportion, and only where a recipe has the field."""

from pathlib import Path

import pytest

from coview.recipes.find import find_recipe
from coview.studies.settings import settle, settle_where_there

SMALL = f"{Path(__file__).parents[1] / 'toy_study.py'}:small"


def test_milestones_and_warmup_keep_their_share_of_the_epochs():
    written = settle(SMALL, ["epochs=12", "seed=5"])
    assert written == ["epochs=12", "milestones=8", "warmup=2", "seed=5"]
    recipe, _ = find_recipe(SMALL, written)
    assert (recipe.epochs, recipe.milestones, recipe.warmup, recipe.seed) == (12, (8,), 2.0, 5)


def test_several_milestones_and_epochs_set_twice():
    recipe, _ = find_recipe(
        SMALL, settle(SMALL, ["epochs=100", "milestones=60,80", "epochs=50", "warmup=0.25"])
    )
    assert (recipe.epochs, recipe.milestones, recipe.warmup) == (50, (30, 40), 0.25)


def test_the_same_epochs_change_nothing():
    assert settle(SMALL, ["epochs=3", "batch_size=8"]) == ["epochs=3", "batch_size=8"]


def test_what_a_recipe_does_not_have_is_left_out():
    wanted = ["critic.temperature=0.3", "critic.margin=2", "data.root=/somewhere"]
    assert settle_where_there(SMALL, ["epochs=6"], wanted) == ["epochs=6", "critic.temperature=0.3"]


def test_a_recipe_is_fitted_to_data_by_name():
    recipe, origin = find_recipe(f"{SMALL}@tables48", ["epochs=1"])
    assert len(recipe.data("train")) == 48
    assert origin == {"recipe": f"{SMALL}@tables48", "settings": ["epochs=1"]}
    _, origin = find_recipe(f"{SMALL}@tables")
    assert origin["recipe"].endswith("@tables")


def test_the_folder_of_data_is_written_down_whole(tmp_path, monkeypatch):
    own = tmp_path / "own.py"
    own.write_text(
        f"import sys\nsys.path.insert(0, {str(Path(SMALL).parent)!r})\nfrom toy_study import *\n\n"
        "def mine(data_name: str = 'tables'):\n    return small('tables24')\n"
    )
    monkeypatch.chdir(tmp_path)
    _, origin = find_recipe("own.py:mine@./pictures")
    assert origin["recipe"] == f"{own}:mine@{tmp_path}/pictures"


def test_a_recipe_with_data_of_its_own():
    with pytest.raises(ValueError, match=r"demo@tiny: this recipe has data of its own"):
        find_recipe("demo@tiny")
    with pytest.raises(ValueError, match=r"no recipe 'demoo' \(did you mean 'demo'"):
        find_recipe("demoo@tiny")
