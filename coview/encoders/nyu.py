"""The encoder of a view of NYU-Depth-V2: table 12 of the paper, for crops of 128."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional


class Row(NamedTuple):
    """A row of the table: a convolution with batch norm and ReLU, after a 2x2 max pool if it has one."""

    maps: int
    kernel: int
    stride: int
    padding: int
    pool: bool = False


TABLE = (
    Row(64, kernel=8, stride=2, padding=3),
    Row(128, kernel=4, stride=2, padding=1, pool=True),
    Row(256, kernel=4, stride=2, padding=1),
    Row(256, kernel=3, stride=1, padding=1),
    Row(512, kernel=4, stride=2, padding=1),
)
SIDE = 4  # of the last map of a crop of 128, which fc6 sees whole
SMALLEST = 32  # pixels, of which the last map is one cell


class NYUEncoder(nn.Module):
    """Five convolutions, a hidden layer and an embedding; features conv1 to conv5, fc6. Maps are before their pools."""

    def __init__(self, channels: int, *, dim: int = 256, width: float = 1.0) -> None:
        super().__init__()
        sizes = [channels, *(_scaled(row.maps, width) for row in TABLE)]
        hidden = _scaled(512, width)
        self.maps = nn.ModuleDict(
            {f"conv{n + 1}": _convolution(sizes[n], sizes[n + 1], row) for n, row in enumerate(TABLE)}
        )
        self.fc6 = nn.Sequential(
            nn.Linear(sizes[-1] * SIDE**2, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True)
        )
        self.embedding = nn.Linear(hidden, dim)  # fc7 of the table

    def convolutions(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """The maps alone: downstream, the paper discards the rest."""
        if min(view.shape[-2:]) < SMALLEST:
            raise ValueError(
                f"wanted images of at least {SMALLEST} x {SMALLEST}, got {view.shape[-2]} x {view.shape[-1]}: "
                "take larger crops, or an encoder for small images"
            )
        found: dict[str, Tensor] = {}
        flow = view
        for name, layer in self.maps.items():
            flow = found[name] = layer(flow)
        return found

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Every named layer, in order, the embedding last."""
        found = self.convolutions(view)
        last = found["conv5"]
        if last.shape[-2:] != (SIDE, SIDE):
            last = functional.adaptive_avg_pool2d(last, SIDE)
        hidden = self.fc6(last.flatten(1))
        return {**found, "fc6": hidden, "embedding": self.embedding(hidden)}

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]


def _convolution(channels: int, maps: int, row: Row) -> nn.Sequential:
    layers: list[nn.Module] = [nn.MaxPool2d(2, 2)] if row.pool else []
    # No bias: the batch norm would take it off again.
    layers.append(nn.Conv2d(channels, maps, row.kernel, row.stride, row.padding, bias=False))
    return nn.Sequential(*layers, nn.BatchNorm2d(maps), nn.ReLU(inplace=True))


def _scaled(size: int, width: float) -> int:
    """A size of the table times the width, as the nearest multiple of eight, which is what the chip wants."""
    return 8 * max(round(size * width / 8), 1)
