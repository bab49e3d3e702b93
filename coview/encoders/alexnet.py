"""Half of an AlexNet for each view: tables 11 and 10 of the paper, for ImageNet and for STL-10."""

from collections.abc import Sequence
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional


class Row(NamedTuple):
    """A row of the table: a convolution with batch norm and ReLU, and a 3x3 max pool of stride 2 if it has one."""

    maps: int
    kernel: int
    stride: int
    padding: int
    pool: bool


IMAGENET = (
    Row(48, kernel=11, stride=4, padding=2, pool=True),
    Row(128, kernel=5, stride=1, padding=2, pool=True),
    Row(192, kernel=3, stride=1, padding=1, pool=False),
    Row(192, kernel=3, stride=1, padding=1, pool=False),
    Row(128, kernel=3, stride=1, padding=1, pool=True),
)
STL10 = (
    Row(48, kernel=3, stride=1, padding=1, pool=True),
    Row(96, kernel=3, stride=1, padding=1, pool=True),
    Row(192, kernel=3, stride=1, padding=1, pool=False),
    Row(192, kernel=3, stride=1, padding=1, pool=False),
    Row(96, kernel=3, stride=1, padding=1, pool=True),
)

CIFAR10 = (STL10[0]._replace(pool=False), *STL10[1:])


def imagenet_half(channels: int, *, dim: int = 128, width: float = 1.0) -> "HalfAlexNet":
    """The half for images of 224 (at least 63); `width=2` is the whole network, for one view that has it all."""
    return HalfAlexNet(channels, table=IMAGENET, side=6, dim=dim, width=width)


def stl10_half(channels: int, *, dim: int = 64, width: float = 1.0) -> "HalfAlexNet":
    """The half for crops of 64 (at least 15); `width=2` is the whole network, for one view that has it all."""
    return HalfAlexNet(channels, table=STL10, side=7, dim=dim, width=width)


def cifar10_half(channels: int, *, dim: int = 64, width: float = 1.0) -> "HalfAlexNet":
    """The half for STL-10 without its first pool, for images of 32: from there on all maps have the same sizes."""
    return HalfAlexNet(channels, table=CIFAR10, side=7, dim=dim, width=width)


class HalfAlexNet(nn.Module):
    """Convolutions by a table, two hidden layers and an embedding; features conv1 to conv5, fc6, fc7."""

    def __init__(
        self, channels: int, *, table: Sequence[Row], side: int, dim: int, width: float = 1.0
    ) -> None:
        super().__init__()
        sizes = [channels, *(_scaled(row.maps, width) for row in table)]
        hidden = _scaled(2048, width)
        self.smallest, self.side = _smallest(table), side
        self.maps = nn.ModuleDict(
            {f"conv{n + 1}": _convolution(sizes[n], sizes[n + 1], row) for n, row in enumerate(table)}
        )
        self.vectors = nn.ModuleDict(
            {"fc6": _full(sizes[-1] * side * side, hidden), "fc7": _full(hidden, hidden)}
        )
        self.embedding = nn.Linear(hidden, dim)

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Every named layer, in order, the embedding last."""
        self._check_size(*view.shape[-2:])
        found: dict[str, Tensor] = {}
        flow = view
        for name, layer in self.maps.items():
            # After its pool: only so is conv5 the 6x6 that the paper's linear probe looks at.
            flow = found[name] = layer(flow)
        return {**found, **self.from_maps(flow)}

    def from_maps(self, maps: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """The layers after the convolutions."""
        found: dict[str, Tensor] = {}
        flow = self._to_side(maps).flatten(1)
        for name, layer in self.vectors.items():
            flow = found[name] = layer(flow)
        found["embedding"] = self.embedding(flow)
        return found

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]

    def _check_size(self, height: int, width: int) -> None:
        if min(height, width) < self.smallest:
            raise ValueError(
                f"wanted images of at least {self.smallest} x {self.smallest}, got {height} x {width}: "
                "take larger crops, or an encoder for small images"
            )

    def _to_side(self, maps: Float[Tensor, "B C H W"]) -> Float[Tensor, "B C S S"]:
        """Maps of the size that fc6 takes; at the table's own size they are as they are."""
        if maps.shape[-2:] == (self.side, self.side):
            return maps
        return functional.adaptive_avg_pool2d(maps, self.side)


def _convolution(channels: int, maps: int, row: Row) -> nn.Sequential:
    layer = nn.Sequential(
        # No bias: the batch norm would take it off again.
        nn.Conv2d(channels, maps, row.kernel, row.stride, row.padding, bias=False),
        nn.BatchNorm2d(maps),
        nn.ReLU(inplace=True),
    )
    return layer.append(nn.MaxPool2d(3, 2)) if row.pool else layer


def _full(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, outputs, bias=False), nn.BatchNorm1d(outputs), nn.ReLU(inplace=True)
    )


def _scaled(size: int, width: float) -> int:
    """A size of the table times the width, as the nearest multiple of eight, which is what the chip wants."""
    return 8 * max(round(size * width / 8), 1)


def _smallest(table: Sequence[Row]) -> int:
    """The side of the smallest image of which the last row makes one cell."""
    side = 1
    for row in reversed(table):
        side = 2 * side + 1 if row.pool else side
        side = (side - 1) * row.stride + row.kernel - 2 * row.padding
    return side
