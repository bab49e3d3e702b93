"""What the encoders of a recipe have learned: a run opened again, and probed beside its bounds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coview.data import Dataset
from coview.probes import (
    Features,
    Score,
    concatenate,
    cross_view_retrieval,
    extract,
    knn_probe,
    linear_probe,
    mlp_probe,
    train_supervised,
)
from coview.recipes.find import find_recipe
from coview.training import Recipe, RunFolder, describe
from coview.training.checkpoint import last_checkpoint, load_checkpoint
from coview.training.loop import epoch_order
from coview.training.resume import MAY_CHANGE
from coview.training.state import build_encoders
from coview.types import Batch
from coview.views import cut, stand_still

ALL = "all views"
KINDS: dict[str, Callable[..., Any]] = {"linear": linear_probe, "mlp": mlp_probe, "knn": knn_probe}


@dataclass(frozen=True)
class Opened:
    """A run read back: what it was made of, and its encoders as the last checkpoint has them."""

    recipe: Recipe
    encoders: nn.ModuleDict
    step: int


def open_run(folder: Path, recipe: Recipe | None = None) -> Opened:
    """Read a run back. Its recipe is made again, or given where it has no name; it must be what it was."""
    record = RunFolder(folder).read_json("recipe.json")
    if recipe is None and "recipe" not in record:
        raise ValueError(f"{folder} was trained from Python: open it there, with open_run(folder, recipe)")
    recipe = recipe or find_recipe(_beside(record["recipe"], folder), record["settings"])[0]
    changed = [
        name
        for name, value in describe(recipe).items()
        if name not in MAY_CHANGE and record["fields"].get(name) != value
    ]
    if changed:
        raise ValueError(f"the recipe has changed since {folder} was trained: {', '.join(changed)} differ")
    path = last_checkpoint(folder / "checkpoints")
    if path is None:
        raise FileNotFoundError(f"{folder} has no checkpoint yet: train it with --resume")
    state = load_checkpoint(path)
    encoders = build_encoders(recipe)
    encoders.load_state_dict(state["encoders"])
    return Opened(recipe, encoders, state["step"])


def _beside(name: str, folder: Path) -> str:
    """A recipe that lies in the run folder is named from there: the folder may have been moved."""
    return f"{folder / name}" if ".py" in name and not Path(name).is_absolute() else name


def batches(data: Dataset, recipe: Recipe, size: int = 250) -> Iterator[Batch]:
    """Every sample once, with nothing random about it, cut into views."""
    return (cut(stand_still(sample, recipe.still), recipe.views) for sample in data.batches(size))


def features(
    encoders: nn.ModuleDict, recipe: Recipe, splits: Mapping[str, Dataset], layer: str
) -> dict[str, Features]:
    """Features of every split, made where this machine is fastest."""
    device = fastest_device()
    encoders.to(device)
    return {
        split: extract(encoders, batches(data.to(device), recipe), layer) for split, data in splits.items()
    }


def fastest_device() -> torch.device:
    """CUDA where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def probe(
    found: Mapping[str, Features], views: Sequence[str], classes: int, *, kind: str = "linear", seed: int = 0
) -> Score:
    """The score of one probe on some views side by side, fitted on "train" and looked at once on "test"."""
    train, train_label = concatenate(found["train"], views)
    test, test_label = concatenate(found["test"], views)
    extra = {} if kind == "knn" else {"seed": seed}
    return KINDS[kind](train, train_label, test, test_label, classes=classes, **extra)


def probe_views(
    found: Mapping[str, Features], classes: int, *, kind: str = "linear", seed: int = 0
) -> dict[str, float]:
    """Accuracy in percent by view, and of all of them together."""
    names = list(found["train"].values)
    groups = {name: [name] for name in names} | ({ALL: names} if len(names) > 1 else {})
    return {
        name: probe(found, views, classes, kind=kind, seed=seed).accuracy for name, views in groups.items()
    }


def supervised(
    recipe: Recipe, data: Dataset, epochs: int, observe: Callable[..., None] | None = None
) -> nn.ModuleDict:
    """Encoders of the same shape, data and augmentation, trained on the labels: what contrast is measured against."""
    torch.manual_seed(recipe.seed)
    data = data.to(fastest_device())
    encoders = build_encoders(recipe).to(data.device)
    generator = torch.Generator(data.device).manual_seed(recipe.seed)

    def epoch(number: int) -> Iterator[Batch]:
        for index in epoch_order(len(data), recipe.batch_size, recipe.seed, number):
            yield cut(data.fetch(index.to(data.device)), recipe.views, recipe.augment, generator)

    train_supervised(
        encoders,
        lambda number: _Epoch(lambda: epoch(number), max(len(data) // recipe.batch_size, 1)),
        classes=len(data.classes),
        epochs=epochs,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        layer=recipe.probe_layer,
        on_step=observe,
    )
    return encoders


def retrieval(found: Features) -> dict[str, dict[str, float]]:
    """R@1 by directed pair, beside chance."""
    recalls = cross_view_retrieval(found)
    return {pair: {"recall": recall.at[1], "chance": recall.chance[1]} for pair, recall in recalls.items()}


class _Epoch:
    """Batches whose number is known before they are made."""

    def __init__(self, make: Callable[[], Iterator[Batch]], length: int) -> None:
        self.make, self.length = make, length

    def __iter__(self) -> Iterator[Batch]:
        return self.make()

    def __len__(self) -> int:
        return self.length
