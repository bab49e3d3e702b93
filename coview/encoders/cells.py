"""Cells of early maps beside the whole embedding, for contrast with whole views (appendix B.2)."""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from coview.encoders.each import Parts
from coview.names import did_you_mean


def with_cells(
    make: Callable[[], nn.Module],
    *,
    layers: Sequence[str] = ("conv2", "conv3"),
    dim: int = 64,
    hidden: int = 256,
    most: int = 225,
    side: int = 64,
) -> "WithCells":
    """An encoder that also embeds each cell of some of its maps, pooled to at most `most` cells a map.

    How many channels the maps have is seen on an empty image of `side` x `side`.
    """
    encoder = make()
    channels = {layer: maps.shape[1] for layer, maps in _maps(encoder, layers, side).items()}
    heads = {layer: _head(count, hidden, dim) for layer, count in channels.items()}
    return WithCells(encoder, heads, most)


class WithCells(nn.Module):
    """What an encoder says of the whole view, under the name "", and under the names of its layers their cells."""

    def __init__(self, encoder: nn.Module, heads: Mapping[str, nn.Module], most: int) -> None:
        super().__init__()
        if most < 1:
            raise ValueError(f"a map keeps one cell or more, got most={most}")
        self.encoder, self.heads, self.most = encoder, nn.ModuleDict(dict(heads)), most

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """The layers of the encoder itself."""
        return self.encoder.features(view)  # pyright: ignore[reportCallIssue]

    def forward(self, view: Float[Tensor, "B C H W"]) -> Parts:
        found = self.features(view)
        return {"": found["embedding"], **{layer: self._cells(layer, found[layer]) for layer in self.heads}}

    def _cells(self, layer: str, maps: Float[Tensor, "B C H W"]) -> Float[Tensor, "B P D"]:
        height, width = maps.shape[-2:]
        if height * width > self.most:
            shrink = math.sqrt(self.most / (height * width))
            maps = functional.adaptive_avg_pool2d(
                maps, (max(int(height * shrink), 1), max(int(width * shrink), 1))
            )
        return self.heads[layer](maps).flatten(2).mT


def _head(channels: int, hidden: int, dim: int) -> nn.Sequential:
    """A hidden layer and an embedding for every cell alone, as DIM has them.

    The hidden layer leaves the map free to be what the next layers and the probes want.
    """
    return nn.Sequential(
        nn.Conv2d(channels, hidden, 1, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        nn.Conv2d(hidden, dim, 1),
    )


@torch.no_grad()
def _maps(encoder: nn.Module, layers: Sequence[str], side: int) -> dict[str, Tensor]:
    """The wanted maps of one empty image."""
    if not callable(getattr(encoder, "features", None)):
        raise ValueError(f"cells are those of an encoder's features(), and {type(encoder).__name__} has none")
    first = next((part for part in encoder.modules() if isinstance(part, nn.Conv2d)), None)
    if first is None:
        raise ValueError(f"cells are those of maps, but {type(encoder).__name__} has no convolution")
    found = encoder.eval().features(torch.zeros(1, first.in_channels, side, side))  # pyright: ignore
    encoder.train()
    maps = {name: values for name, values in found.items() if values.ndim == 4}
    strange = [layer for layer in layers if layer not in maps]
    if strange or not layers:
        raise ValueError(
            f"wanted the cells of {list(layers)}, but the maps of {type(encoder).__name__} are {', '.join(maps)}"
            f"{did_you_mean(strange[0], maps) if strange else ''}"
        )
    return {layer: maps[layer] for layer in layers}
