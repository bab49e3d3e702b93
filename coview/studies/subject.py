"""A trained run as measures see it: its encoders, its data, and what the encoders say of them."""

from functools import cached_property
from pathlib import Path

from torch import nn

from coview.data import Dataset
from coview.probes import Features
from coview.recipes.measure import Opened, count_classes, fastest_device, features
from coview.training import Recipe


class Subject:
    """A run opened again. Splits stay on the device, and of the layers the last one asked for."""

    def __init__(self, opened: Opened, folder: Path) -> None:
        self.recipe: Recipe = opened.recipe
        self.encoders: nn.ModuleDict = opened.encoders
        self.folder = folder
        self._last: tuple[str, dict[str, Features]] | None = None

    @cached_property
    def splits(self) -> dict[str, Dataset]:
        """The samples to fit on and those to look at once."""
        return {split: self.recipe.data(split).to(fastest_device()) for split in ("train", "test")}

    @cached_property
    def classes(self) -> int:
        """How many classes the labels tell apart."""
        return count_classes(self.splits["train"])

    def features(self, layer: str | None = None) -> dict[str, Features]:
        """What the encoders say of samples with a label, at a layer; the recipe's choice where none is named."""
        layer = layer or self.recipe.probe_layer
        if self._last is None or self._last[0] != layer:
            self._last = None  # two layers of a large set need not fit beside each other
            self._last = layer, features(self.encoders, self.recipe, self.splits, layer)
        return self._last[1]
