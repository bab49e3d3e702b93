"""What the encoders of a recipe have learned: a run opened again, and probed beside its bounds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from coview.data import Dataset
from coview.probes import (
    OURS,
    Features,
    Protocol,
    Score,
    concatenate,
    cross_view_retrieval,
    extract,
    extract_layers,
    layer_names,
    probe_by,
    train_supervised,
)
from coview.probes.quick import quick_look, some
from coview.probes.room import kept_as, room
from coview.recipes.find import find_recipe
from coview.training import LookIn, Recipe, RunFolder, Training, describe
from coview.training.checkpoint import last_checkpoint, load_checkpoint
from coview.training.loop import epoch_order
from coview.training.resume import MAY_CHANGE
from coview.training.state import build_encoders
from coview.types import Batch
from coview.views import cut, stand_still

ALL = "all views"


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


def batches(data: Dataset, recipe: Recipe, size: int = 250, *, only: Tensor | None = None) -> Iterator[Batch]:
    """Every sample once, or only some, with nothing random about them, cut into views."""
    samples = data.batches(size) if only is None or len(only) == len(data) else data.epoch(only.split(size))
    return (cut(stand_still(sample, recipe.still), recipe.views) for sample in samples)


def _beside(name: str, folder: Path) -> str:
    """A recipe that lies in the run folder is named from there: the folder may have been moved."""
    return f"{folder / name}" if ".py" in name and not Path(name).is_absolute() else name


def features(
    encoders: nn.ModuleDict, recipe: Recipe, splits: Mapping[str, Dataset], layer: str
) -> dict[str, Features]:
    """Features of every split at one layer, made where this machine is fastest."""
    return features_by_layer(encoders, recipe, splits, [layer])[layer]


def features_by_layer(
    encoders: nn.ModuleDict, recipe: Recipe, splits: Mapping[str, Dataset], layers: Sequence[str]
) -> dict[str, dict[str, Features]]:
    """Features of every split at several layers, by layer, from one pass over the samples that have labels.

    They are kept in float32, or in float16 where only that fits into half of the free memory of a GPU, or a
    quarter of all elsewhere.
    """
    device = fastest_device()
    encoders.to(device)
    splits = {split: data.to(device) for split, data in splits.items()}
    only = {split: labelled(data) for split, data in splits.items()}
    with as_trained(recipe, device):
        two = extract_layers(encoders, [two_samples(recipe, next(iter(splits.values())))], layers)
        numbers = sum(values.shape[1] for one in two.values() for values in one.values.values())
        keep = kept_as(numbers, sum(map(len, only.values())), memory=room(device))
        found = {
            split: extract_layers(encoders, batches(data, recipe, only=only[split]), layers, keep=keep)
            for split, data in splits.items()
        }
    return {layer: {split: one[layer] for split, one in found.items()} for layer in layers}


def layers_of(encoders: nn.ModuleDict, recipe: Recipe, data: Dataset) -> tuple[str, ...]:
    """The layers that all encoders have, in their order."""
    device = next((values.device for values in encoders.parameters()), data.device)
    views = two_samples(recipe, data.to(device)).views
    names = [layer_names(encoder, views[name]) for name, encoder in encoders.items()]
    return tuple(layer for layer in names[0] if all(layer in others for others in names))


def two_samples(recipe: Recipe, data: Dataset) -> Batch:
    """The first samples of a dataset, to see what sizes come; what a view of them lacks is zero."""
    batch = next(batches(data, recipe, only=torch.arange(min(2, len(data)))))
    views = {name: torch.nan_to_num(view) for name, view in batch.views.items()}
    return replace(batch, views=views, present=None)


def labelled(data: Dataset) -> Tensor:
    """The numbers of the samples that have a label; of all samples where none has."""
    if data.label is None or not bool((data.label >= 0).any()):
        return torch.arange(len(data))
    return (data.label >= 0).nonzero().flatten().cpu()


def as_trained(recipe: Recipe, device: torch.device) -> AbstractContextManager:
    """The precision that the encoders of a recipe are trained in on a device."""
    mixed = recipe.precision == "bf16-mixed" or (recipe.precision == "auto" and device.type == "cuda")
    # What it casts is not kept: in here weights may be trained, and old ones would go on being used.
    return torch.autocast(device.type, torch.bfloat16, enabled=mixed, cache_enabled=False)


def fastest_device() -> torch.device:
    """CUDA where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def probe(
    found: Mapping[str, Features],
    views: Sequence[str],
    classes: int,
    *,
    kind: str = "linear",
    protocol: Protocol = OURS,
    seed: int = 0,
) -> Score:
    """The score of one probe on some views side by side, fitted on "train" and looked at once on "test"."""
    train, test = concatenate(found["train"], views), concatenate(found["test"], views)
    return probe_by(protocol, kind, *train, *test, classes=classes, seed=seed)


def probe_views(
    found: Mapping[str, Features],
    classes: int,
    *,
    kind: str = "linear",
    protocol: Protocol = OURS,
    seed: int = 0,
) -> dict[str, float]:
    """Accuracy in percent by view, and of all of them together."""
    names = list(found["train"].values)
    groups = {name: [name] for name in names} | ({ALL: names} if len(names) > 1 else {})
    return {
        name: probe(found, views, classes, kind=kind, protocol=protocol, seed=seed).accuracy
        for name, views in groups.items()
    }


def supervised(
    recipe: Recipe,
    data: Dataset,
    epochs: int,
    observe: Callable[..., None] | None = None,
    *,
    layer: str | None = None,
) -> nn.ModuleDict:
    """Encoders of the same shape, data and augmentation, trained on the labels: what contrast is measured against.

    They are trained up to `layer`, by default the one that probes look at.
    """
    torch.manual_seed(recipe.seed)
    data = data.to(fastest_device())
    classes, numbers = count_classes(data), labelled(data)
    encoders = build_encoders(recipe).to(data.device)
    generator = torch.Generator(data.device).manual_seed(recipe.seed)

    def epoch(number: int) -> Iterator[Batch]:
        order = epoch_order(len(numbers), recipe.batch_size, recipe.seed, number)
        for sample in data.epoch(numbers[rows] for rows in order):
            yield cut(sample, recipe.views, recipe.augment, generator)

    with as_trained(recipe, data.device):
        train_supervised(
            encoders,
            lambda number: _Epoch(lambda: epoch(number), max(len(numbers) // recipe.batch_size, 1)),
            classes=classes,
            epochs=epochs,
            # It descends by AdamW, for which the rate of an SGD is far too high.
            learning_rate=recipe.learning_rate if recipe.optimiser.startswith("adam") else 1e-3,
            weight_decay=recipe.weight_decay,
            layer=layer or recipe.probe_layer,
            on_step=observe,
        )
    return encoders


def count_classes(data: Dataset) -> int:
    """How many classes the labels of a dataset tell apart."""
    if data.label is None or not bool((data.label >= 0).any()):
        raise ValueError(f"dataset '{data.name}' has no labels: --kind retrieval needs none")
    return len(data.classes) or int(data.label.max()) + 1


def look_in(recipe: Recipe, *, samples: int = 10_000, numbers: int = 2048) -> LookIn | None:
    """What looks at a run every `probe_every` epochs, all views side by side at `probe_layer`; None where none does.

    Of at most so many TRAINING samples a fifth is kept out and scored: the test set is for when all is chosen.
    """
    if recipe.probe_every is None:
        return None

    def look(training: Training, data: Dataset) -> dict[str, float]:
        if data.label is None or not bool((data.label >= 0).any()):
            raise ValueError(f"dataset '{data.name}' has no labels to look at: set probe_every=none")
        only, layer = some(data.label, samples, seed=recipe.seed), recipe.probe_layer
        with as_trained(recipe, data.device):
            found = extract(training.trained, batches(data, recipe, only=only), layer, numbers=numbers)
        return quick_look(found, seed=recipe.seed)

    return look


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
