"""What names stand for where views are compared: recipes, image sets, and parts of colour spaces."""

from pathlib import Path

import pytest
import torch

from coview.recipes.material import colour_views, find_material
from coview.views.colour import split

TOYS = Path(__file__).parents[1] / "toys.py"
SMALL = ("data.train=24", "data.size=16", "augment.size=16", "augment.padding=2")


def fetch(pairs, count=3):
    return pairs.fetch(torch.arange(count), torch.Generator().manual_seed(0))


def test_a_recipe_gives_its_data_views_and_augmentation():
    found = find_material("demo", SMALL)
    assert list(found.views) == ["L", "ab", "depth", "normal"]
    assert len(found.data) == 24
    first, second = fetch(found.pairs("L", "normal"))
    assert (first.shape, second.shape) == ((3, 1, 16, 16), (3, 3, 16, 16))
    still = fetch(find_material("demo", SMALL, augmented=False).pairs("L", "normal"))[0]
    again = find_material("demo", SMALL, augmented=False)
    torch.testing.assert_close(still, found.views["L"](again.data.fetch(torch.arange(3)).fields))
    assert not torch.equal(first, still)


def test_pictures_have_parts_of_colour_spaces():
    found = find_material("demo", SMALL, augmented=False)
    fields = found.data.fetch(torch.arange(3)).fields
    for space, names in (
        ("YDbDr", ("Y", "DbDr")),
        ("HSV", ("H", "SV")),
        ("HED", ("H", "ED")),
        ("RGB", ("GB", "R")),
    ):
        one, other = fetch(found.pairs(*names))
        torch.testing.assert_close(one, split(space)[names[0]](fields))
        torch.testing.assert_close(other, split(space)[names[1]](fields))
    mixed, depth = fetch(found.pairs("R", "depth"))
    assert mixed.shape[1] == depth.shape[1] == 1


def test_a_part_of_one_space_is_the_first_that_has_it():
    alone = colour_views("H", "R")
    assert alone["H"].keywords["space"] == "HSV"  # pyright: ignore[reportFunctionMemberAccess]
    assert colour_views("ED", "H")["H"].keywords["space"] == "HED"  # pyright: ignore[reportFunctionMemberAccess]


def test_an_image_set_gives_its_fields_as_views():
    found = find_material("scenes", samples=12)
    assert list(found.views) == ["L", "ab", "depth", "normal", "segment"]
    assert len(found.data) == 12
    first, second = fetch(found.pairs("ab", "segment"))
    assert first.shape[1:] == (2, 64, 64)
    assert second.dtype == torch.float32


def test_tables_have_no_colours():
    found = find_material(f"{TOYS}:toy")
    with pytest.raises(ValueError, match=r"no view 'Y'.*there are sound, touch, smell$"):
        found.pairs("sound", "Y")


def test_samples_that_lack_a_view_take_no_part():
    found = find_material(f"{TOYS}:toy_with_gaps")
    assert 0 < len(found.pairs("touch", "smell")) < len(found.pairs("sound", "smell")) < 96


def test_names_that_stand_for_nothing():
    with pytest.raises(ValueError, match=r"no recipe or image set 'cifar' .did you mean 'cifar10'"):
        find_material("cifar")
    with pytest.raises(ValueError, match="--set changes a recipe, but 'scenes' is an image set"):
        find_material("scenes", ["epochs=2"])
