"""What frozen encoders say of a dataset, at a named layer: the input of every probe."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from coview.types import Batch

Encoders = Mapping[str, nn.Module] | nn.ModuleDict
"""One encoder per view, by name."""

NUMBERS = 9600  # with this bound AlexNet's five maps pool to the paper's grids of 10, 6, 5, 5 and 6


@dataclass(frozen=True)
class Features:
    """What frozen encoders say of N samples, by view; zeros where a sample does not have the view."""

    values: dict[str, Float[Tensor, "N _"]]
    present: dict[str, Bool[Tensor, "N"]]
    index: Int[Tensor, "N"]
    label: Int[Tensor, "N"] | None = None


def layer_features(
    encoder: nn.Module, view: Float[Tensor, "B ..."], layer: str, *, numbers: int = NUMBERS
) -> Float[Tensor, "B F"]:
    """What an encoder says of a view at a layer; maps are pooled to at most `numbers`, vectors stay."""
    values = _at_layer(encoder, view, layer)
    if values.ndim == 2:
        return values
    if values.ndim != 4:
        raise ValueError(
            f"layer '{layer}' should be vectors [B F] or maps [B C H W], but came as {list(values.shape)}: "
            "let the encoder's features() pool or flatten it"
        )
    return _pooled(values, numbers).flatten(1)


def extract(encoders: Encoders, batches: Iterable[Batch], layer: str, *, numbers: int = NUMBERS) -> Features:
    """Run frozen encoders over batches; maps are pooled so that all views together keep at most `numbers`."""
    share = numbers // max(len(encoders), 1)  # the paper counts the numbers of both halves together
    said: dict[str, list[Tensor]] = {name: [] for name in encoders}
    there: dict[str, list[Tensor]] = {name: [] for name in encoders}
    index: list[Tensor] = []
    label: list[Tensor | None] = []
    with mode(encoders.values(), training=False), torch.no_grad():
        for batch in batches:
            for name, encoder in encoders.items():
                view, rows = view_there(batch, name)
                there[name].append(rows)
                if len(view):
                    said[name].append(layer_features(encoder, view, layer, numbers=share).float())
            index.append(batch.index)
            label.append(batch.label)
    if not encoders or not index:
        raise ValueError(f"nothing to extract: got {len(encoders)} encoders and {len(index)} batches")
    present = {name: torch.cat(rows) for name, rows in there.items()}
    values = {name: _filled(name, layer, said[name], present[name]) for name in encoders}
    return Features(values, present, torch.cat(index), _joined(label))


def concatenate(features: Features, views: Sequence[str]) -> tuple[Float[Tensor, "S F"], Int[Tensor, "S"]]:
    """Several views side by side, with labels; samples that have none of the views, or no label (-1), are left out."""
    strange = [name for name in views if name not in features.values]
    if strange or not views:
        raise ValueError(f"wanted some of the views {list(features.values)}, got {list(views)}")
    if features.label is None:
        raise ValueError(
            "a probe needs labels, and these features have none: extract them from labelled batches"
        )
    some = torch.stack([features.present[name] for name in views]).any(0) & (features.label >= 0)
    return torch.cat([features.values[name][some] for name in views], 1), features.label[some]


def view_there(batch: Batch, name: str) -> tuple[Float[Tensor, "P ..."], Bool[Tensor, "B"]]:
    """The rows of a view that are there, and which samples of the batch they belong to."""
    if name not in batch.views:
        raise ValueError(f"wanted the view '{name}', but the batch has {list(batch.views)}")
    view = batch.views[name]
    rows = (batch.present or {}).get(name)
    if rows is None:
        return view, torch.ones(len(view), dtype=torch.bool, device=view.device)
    return view[rows], rows


@contextmanager
def mode(encoders: Iterable[nn.Module], *, training: bool) -> Iterator[None]:
    """Put encoders into training or evaluation mode, and every part of them back afterwards."""
    encoders = list(encoders)
    before = [(part, part.training) for encoder in encoders for part in encoder.modules()]
    try:
        for encoder in encoders:
            encoder.train(training)
        yield
    finally:
        for part, was_training in before:
            part.training = was_training


def _at_layer(encoder: nn.Module, view: Tensor, layer: str) -> Tensor:
    """The output of an encoder, or one of the layers it names."""
    if layer == "embedding":
        return encoder(view)
    features = getattr(encoder, "features", None)
    named = features(view) if callable(features) else None
    # torchvision's networks also have a `features`, but that one returns a tensor
    named = named if isinstance(named, Mapping) else {}
    if layer not in named:
        names = dict.fromkeys([*named, "embedding"])
        nearest = sorted(names, key=lambda name: -SequenceMatcher(None, layer, name).ratio())
        listing = ", ".join(f"'{name}'" for name in nearest)
        raise ValueError(f"{type(encoder).__name__} has no layer '{layer}'; it has {listing}")
    return named[layer]


def _pooled(maps: Float[Tensor, "B C H W"], numbers: int) -> Float[Tensor, "B C h w"]:
    """Average maps over the largest square grid that keeps to a number of numbers."""
    _, channels, height, width = maps.shape
    if channels * height * width <= numbers:
        return maps
    grid = max(math.isqrt(numbers // channels), 1)
    return functional.adaptive_avg_pool2d(maps, (min(grid, height), min(grid, width)))


def _filled(name: str, layer: str, said: list[Tensor], present: Bool[Tensor, "N"]) -> Float[Tensor, "N F"]:
    """The features of a view in the rows that have it, zeros elsewhere."""
    if not said:
        raise ValueError(
            f"view '{name}' is there for none of the {len(present)} samples: leave its encoder out"
        )
    there = torch.cat(said)
    broken = int((~there.isfinite()).any(1).sum())
    if broken:
        raise ValueError(
            f"view '{name}': layer '{layer}' is NaN or infinite in {broken} of {len(there)} samples; "
            "look at the encoder's weights and at the view's values"
        )
    values = there.new_zeros(len(present), there.shape[1])
    values[present] = there
    return values


def _joined(label: list[Tensor | None]) -> Tensor | None:
    """The labels of all batches, or None where no batch has any."""
    known = [part for part in label if part is not None]
    if known and len(known) < len(label):
        raise ValueError(
            f"{len(known)} of {len(label)} batches have labels: give all of them labels, or none"
        )
    return torch.cat(known) if known else None
