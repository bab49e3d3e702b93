"""What an encoder says of a view, by layer: its named features and its embedding, pooled to a number of numbers."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from coview.encoders.each import whole

NUMBERS = 9600  # with this bound AlexNet's five maps pool to the paper's grids of 10, 6, 5, 5 and 6
EMBEDDING = "embedding"


def layer_features(
    encoder: nn.Module, view: Float[Tensor, "B ..."], layer: str, *, numbers: int = NUMBERS
) -> Float[Tensor, "B F"]:
    """What an encoder says of a view at a layer; maps are pooled to at most `numbers`, vectors stay."""
    return all_features(encoder, view, [layer], numbers=numbers)[layer]


def all_features(
    encoder: nn.Module, view: Float[Tensor, "B ..."], layers: Sequence[str], *, numbers: int = NUMBERS
) -> dict[str, Float[Tensor, "B _"]]:
    """What an encoder says of a view at several layers, from one pass."""
    said = _by_layer(encoder, view, layers)
    for layer in layers:
        if layer not in said:
            names = dict.fromkeys([*said, EMBEDDING])
            raise ValueError(
                f"{type(encoder).__name__} has no layer '{layer}'; it has {_nearest(layer, names)}"
            )
    return {layer: _vectors(said[layer], layer, numbers) for layer in layers}


@torch.no_grad()
def layer_names(encoder: nn.Module, view: Float[Tensor, "B ..."]) -> tuple[str, ...]:
    """The layers of an encoder that are vectors or maps, in its order, and its embedding; found by a look at a view."""
    features = getattr(encoder, "features", None)
    with mode([encoder], training=False):
        named = features(view) if callable(features) else None
    named = named if isinstance(named, Mapping) else {}
    readable = [layer for layer, values in named.items() if values.ndim in (2, 4)]
    return tuple(dict.fromkeys([*readable, EMBEDDING]))


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


def _by_layer(encoder: nn.Module, view: Tensor, layers: Sequence[str]) -> dict[str, Tensor]:
    """The output of an encoder, and the layers it names where one of them is wanted."""
    if list(layers) == [EMBEDDING]:
        return {EMBEDDING: whole(encoder(view))}
    features = getattr(encoder, "features", None)
    named = features(view) if callable(features) else None
    # torchvision's networks also have a `features`, but that one returns a tensor
    said = dict(named) if isinstance(named, Mapping) else {}
    if EMBEDDING in layers and EMBEDDING not in said:
        said[EMBEDDING] = whole(encoder(view))
    return said


def _vectors(values: Tensor, layer: str, numbers: int) -> Float[Tensor, "B F"]:
    """A layer as one vector a sample."""
    if values.ndim == 2:
        return values
    if values.ndim != 4:
        raise ValueError(
            f"layer '{layer}' should be vectors [B F] or maps [B C H W], but came as {list(values.shape)}: "
            "let the encoder's features() pool or flatten it"
        )
    return _pooled(values, numbers).flatten(1)


def _pooled(maps: Float[Tensor, "B C H W"], numbers: int) -> Float[Tensor, "B C h w"]:
    """Average maps over the largest square grid that keeps to a number of numbers."""
    _, channels, height, width = maps.shape
    if channels * height * width <= numbers:
        return maps
    grid = max(math.isqrt(numbers // channels), 1)
    return functional.adaptive_avg_pool2d(maps, (min(grid, height), min(grid, width)))


def _nearest(name: str, names: Iterable[str]) -> str:
    """The names, the most similar first."""
    ordered = sorted(names, key=lambda known: -SequenceMatcher(None, name, known).ratio())
    return ", ".join(f"'{known}'" for known in ordered)
