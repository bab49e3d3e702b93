"""How the encoders of a row come about: by contrast, or one of the bounds that it is measured between."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coview.recipes.measure import look_in, supervised
from coview.training import Recipe, RunFolder, describe, fit
from coview.training.checkpoint import save_checkpoint
from coview.training.progress import Observer
from coview.training.state import build_encoders

Make = Callable[[Recipe, Path, dict[str, Any], Observer | None], None]
"""Fills a run folder: with a recipe, where it comes from, and who is told how it goes."""


@dataclass(frozen=True)
class Way:
    """A way to encoders, and the split whose samples it learns from, if it does."""

    name: str
    make: Make
    split: str | None


def contrast(recipe: Recipe, folder: Path, origin: dict[str, Any], observe: Observer | None) -> None:
    """Train the recipe, or go on with it."""
    begun = (folder / "recipe.json").is_file()
    fit(recipe, folder, resume=begun, origin=origin, observe=observe, look_in=look_in(recipe))


def leave(recipe: Recipe, folder: Path, origin: dict[str, Any], observe: Observer | None) -> None:
    """Take the encoders as they start."""
    torch.manual_seed(recipe.seed)
    _keep(build_encoders(recipe), recipe, folder, origin)


def supervise(recipe: Recipe, folder: Path, origin: dict[str, Any], observe: Observer | None) -> None:
    """Train the same encoders on the labels, for as many epochs; one that was interrupted starts afresh."""
    encoders = supervised(recipe, recipe.data("train"), recipe.epochs)
    _keep(encoders, recipe, folder, origin)


CONTRAST = Way("contrast", contrast, "train")
RANDOM = Way("random", leave, None)
SUPERVISED = Way("supervised", supervise, "labelled")


def _keep(encoders: nn.Module, recipe: Recipe, folder: Path, origin: dict[str, Any]) -> None:
    """A run folder with nothing but encoders in its checkpoint, which probes can open."""
    run = RunFolder(folder)
    if not (folder / "recipe.json").is_file():
        run.create({**origin, "fields": describe(recipe)}, recipe.seed)
    state = {"step": 0, "recipe": describe(recipe), "encoders": encoders.state_dict()}
    save_checkpoint(run.checkpoints / "step-00000000.pt", state)
