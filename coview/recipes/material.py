"""What a name stands for where views are compared: samples, and views that can be cut from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from coview.data import Dataset
from coview.data.images import SETS
from coview.information import ViewPairs, view_pairs
from coview.names import did_you_mean
from coview.recipes.find import find_recipe, is_path, shipped_recipes
from coview.recipes.measure import fastest_device
from coview.recipes.mine import mine
from coview.recipes.pictures import pictures
from coview.training import Recipe, override
from coview.types import Augment, Fields, Still, View
from coview.views import chroma, depth, field, lightness, normal
from coview.views.colour import SPACES, split

VIEWS: Mapping[str, Mapping[str, View]] = {  # of fields whose view is not the field as it is
    "rgb": {"L": lightness, "ab": chroma},
    "depth": {"depth": depth},
    "normal": {"normal": normal},
}


@dataclass(frozen=True, kw_only=True)
class Material:
    """Samples on the device, the views of them that are meant, and what is done to them before they are cut."""

    data: Dataset
    views: Mapping[str, View]
    augment: Augment | None = None

    def view(self, name: str, *beside: str) -> View:
        """A view by its name; where there are pictures, parts of colour spaces have names too, as Y and DbDr."""
        known = dict(self.views)
        if "rgb" in fields_of(self.data):
            known = {**colour_views(name, *beside), **known}
        if name not in known:
            raise ValueError(
                f"there is no view '{name}'{did_you_mean(name, known)}; there are {', '.join(known)}"
            )
        return known[name]

    def pairs(self, first: str, second: str) -> ViewPairs:
        """Two views by name."""
        views = {first: self.view(first, second), second: self.view(second, first)}
        return view_pairs(self.data, views, first, second, augment=self.augment)


def find_material(
    name: str,
    settings: Sequence[str] = (),
    *,
    part: str = "train",
    samples: int | None = None,
    augmented: bool = True,
) -> Material:
    """A recipe's data and views, your own views at a place, or those of an image set or of a folder of pictures."""
    recipe = _recipe(name, settings)
    if recipe is not None:
        data, views, augment, still = recipe.data(part), recipe.views, recipe.augment, recipe.still
    elif name in SETS or name == "scenes" or is_path(name) or Path(name).exists():
        data, views, augment, still = _of_images(name, part, samples, settings)
    else:
        raise ValueError(
            f"no recipe or image set '{name}'{did_you_mean(name, [*shipped_recipes(), *SETS, 'scenes'])}; "
            "`coview list` and `coview data` name them, my_file.py:my_recipe is yours, a folder goes by its path"
        )
    if samples is not None and samples < len(data):
        rows = torch.arange(samples) * len(data) // samples
        data = data.subset(rows)  # pyright: ignore[reportAttributeAccessIssue]
    prepare = augment if augmented else _still(still)
    return Material(data=data.to(fastest_device()), views=views, augment=prepare)


def colour_views(*names: str) -> dict[str, View]:
    """Every part of a colour space by its name; those asked for are of one space, if one has them all."""
    parts = [split(space) for space in SPACES]
    together = next((one for one in parts if all(name in one for name in names)), {})
    return {name: view for one in [*reversed(parts), together] for name, view in one.items()}


def fields_of(data: Dataset) -> Fields:
    """The fields of one sample."""
    return data.fetch(torch.zeros(1, dtype=torch.int64)).fields


def _recipe(name: str, settings: Sequence[str]) -> Recipe | None:
    """The recipe of this name, or the one that the rules make of views at this place; None where there is neither."""
    if ".py" in name or "@" in name or (name in shipped_recipes() and name not in SETS):
        return find_recipe(name, settings)[0]
    if name in SETS or not Path(name).expanduser().exists():
        return None
    try:
        return override(mine(name), settings)
    except ValueError:
        if Path(name).is_file():
            raise
        return None  # a folder of pictures


def _of_images(name: str, part: str, samples: int | None, settings: Sequence[str]) -> tuple[Any, ...]:
    if settings:
        raise ValueError(
            f"--set changes a recipe, but '{name}' is an image set; recipes take it as RECIPE@{name}"
        )
    images = pictures(name)
    data = images.data()(part, samples=samples)
    views: dict[str, View] = {}
    for one in fields_of(data):
        views |= VIEWS.get(one, {one: partial(field, name=one)})
    return data, views, images.augment(), images.still()


def _still(still: Still | None) -> Augment | None:
    """What stands in the place of an augmentation draws nothing."""
    return None if still is None else lambda fields, generator: still(fields)
