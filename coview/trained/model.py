"""Trained encoders with the views they take, from a run folder or from a folder that was exported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from coview.data import Dataset
from coview.data.own import Found, find, own_data
from coview.data.own.load import load
from coview.encoders.load import CONFIG, load_encoders, read_config, rebuild
from coview.names import did_you_mean
from coview.recipes.measure import open_run
from coview.training import describe
from coview.types import Fields, Still, View


@dataclass(frozen=True)
class Model:
    """Views and encoders by name; how files become fields, and where known the dataset that was trained on."""

    name: str
    views: Mapping[str, View]
    encoders: nn.ModuleDict
    still: Still | None = None
    files: dict[str, Any] = field(default_factory=dict)  # side and channels: how files are read
    data: Callable[[str], Dataset] | None = None
    record: dict[str, Any] = field(default_factory=dict)  # how views and encoders are made, as plain values

    def read(self, place: Path, split: str = "all") -> tuple[tuple[str, ...], Dataset]:
        """Samples found at a place, by name, in the form that was trained on."""
        found = find(place, alone=True)
        rows = found.part(split)
        return tuple(found.samples[row] for row in rows), self._load(found, rows)

    def few(self, count: int) -> Dataset:
        """Some samples of what was trained on."""
        if self.data is None:
            raise ValueError(f"{self.name} does not say what it was trained on")
        if (place := self.place) is None:
            return self.data("train")
        found = find(place)
        return self._load(found, found.part("train")[:count])

    def check_view(self, name: str) -> None:
        """Refuse a view that there is no encoder for."""
        if name not in self.encoders:
            near = did_you_mean(name, self.encoders)
            raise ValueError(f"{self.name} has no view '{name}'{near}; it has {', '.join(self.encoders)}")

    @property
    def place(self) -> Path | None:
        """Where the files lie that were trained on, if they were files of your own."""
        if not isinstance(self.data, partial) or self.data.func is not own_data:
            return None
        return Path(self.data.keywords["path"])

    def _load(self, found: Found, rows: Int[np.ndarray, "S"]) -> Dataset:
        name = found.place.name
        return load(found, rows, name, side=self.files.get("side"), channels=self.files.get("channels") or {})


def open_model(folder: Path) -> Model:
    """The encoders of a run folder, or of a folder that `coview export` or `coview import` wrote."""
    if (folder / CONFIG).is_file():
        return _of_export(folder)
    opened = open_run(folder)
    recipe = opened.recipe
    record = {
        "views": describe(recipe.views),
        "encoders": describe(recipe.encoders),
        "still": describe(recipe.still),
    }
    files = {}
    if isinstance(recipe.data, partial) and recipe.data.func is own_data:
        files = {name: recipe.data.keywords.get(name) for name in ("side", "channels")}
    return Model(
        folder.resolve().name, recipe.views, opened.encoders, recipe.still, files, recipe.data, record
    )


def _of_export(folder: Path) -> Model:
    config = read_config(folder)
    views = {name: rebuild(one) for name, one in config["views"].items()}
    still = None if config["still"] is None else rebuild(config["still"])
    return Model(config["name"], views, load_encoders(folder), still, config["files"], None, config)


class Noted(dict):
    """Fields that remember which of those that are not there were asked for."""

    def __init__(self, fields: Fields) -> None:
        super().__init__(fields)
        self.lacking: set[str] = set()

    def __contains__(self, name: object) -> bool:
        there = super().__contains__(name)
        if not there:
            self.lacking.add(str(name))
        return there

    def __missing__(self, name: str) -> Tensor:
        self.lacking.add(name)
        raise KeyError(name)


@torch.no_grad()
def lacking(view: View, fields: Fields) -> set[str]:
    """What a view would have to be cut from, and is not there; nothing if it can be cut."""
    noted = Noted(fields)
    try:
        view(noted)
    except (KeyError, ValueError):
        if not noted.lacking:
            raise
        return noted.lacking
    return set()


def fields_of(views: Mapping[str, View], fields: Fields) -> dict[str, set[str]]:
    """The fields that each view is cut from; views for which one of them is not there are left out."""
    can = {name: view for name, view in views.items() if not lacking(view, fields)}
    return {
        name: {one for one in fields if lacking(view, {n: v for n, v in fields.items() if n != one})}
        for name, view in can.items()
    }
