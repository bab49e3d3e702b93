"""CaffeNet: AlexNet as Caffe has it, contrasted at fc6 (appendix E.3)."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

NORMS = ("batch", "local")
SMALL = 96  # pixels below which the first convolution is a smaller one


class Row(NamedTuple):
    """A convolution with ReLU, after it a 3x3 max pool of stride 2 if it has one, in some groups of channels."""

    maps: int
    kernel: int
    stride: int
    padding: int
    groups: int
    pool: bool


TABLE = (
    Row(96, kernel=11, stride=4, padding=0, groups=1, pool=True),
    Row(256, kernel=5, stride=1, padding=2, groups=2, pool=True),
    Row(384, kernel=3, stride=1, padding=1, groups=1, pool=False),
    Row(384, kernel=3, stride=1, padding=1, groups=2, pool=False),
    Row(256, kernel=3, stride=1, padding=1, groups=2, pool=True),
)
SMALL_FIRST = Row(96, kernel=5, stride=2, padding=2, groups=1, pool=True)


class CaffeNet(nn.Module):
    """Five convolutions, fc6 with dropout and an embedding of it; features conv1 to conv5, fc6.

    `size` is the side of what it sees. `norm` is "batch" (behind each convolution) or "local": the original's response
    norm, behind the first two pools.
    """

    def __init__(
        self,
        channels: int,
        *,
        size: int = 227,
        norm: str = "batch",
        dropout: float = 0.5,
        dim: int = 128,
        width: float = 1.0,
    ) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"a CaffeNet has norm {' or '.join(NORMS)}, got '{norm}'")
        table = (SMALL_FIRST if size < SMALL else TABLE[0], *TABLE[1:])
        sizes = [channels, *(_scaled(row.maps, width) for row in table)]
        hidden = _scaled(4096, width)
        self.size, self.side = size, _side(table, size)
        self.maps = nn.ModuleDict(
            {
                f"conv{n + 1}": _layer(sizes[n], sizes[n + 1], row, norm, first=n < 2)
                for n, row in enumerate(table)
            }
        )
        self.fc6 = nn.Sequential(*_full(sizes[-1] * self.side**2, hidden, norm), nn.ReLU(inplace=True))
        self.dropout = nn.Dropout(dropout)
        self.embedding = nn.Linear(hidden, dim)

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Every named layer, in order, the embedding last."""
        found = self.convolved(view)
        found["fc6"] = self.fc6(found["conv5"].flatten(1))
        found["embedding"] = self.embedding(self.dropout(found["fc6"]))
        return found

    def convolved(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """The maps alone, each behind its pool."""
        if tuple(view.shape[-2:]) != (self.size, self.size):
            raise ValueError(
                f"this CaffeNet is made for {self.size} x {self.size} pixels, got {view.shape[-2]} x {view.shape[-1]}: "
                f"make it with size={view.shape[-1]}, or crop to {self.size}"
            )
        found: dict[str, Tensor] = {}
        for name, layer in self.maps.items():
            view = found[name] = layer(view)
        return found

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]


def _layer(channels: int, maps: int, row: Row, norm: str, *, first: bool) -> nn.Sequential:
    batch = norm == "batch"
    layer = nn.Sequential(
        nn.Conv2d(channels, maps, row.kernel, row.stride, row.padding, groups=row.groups, bias=not batch)
    )
    if batch:
        layer.append(nn.BatchNorm2d(maps))
    layer.append(nn.ReLU(inplace=True))
    if row.pool:
        layer.append(nn.MaxPool2d(3, 2, ceil_mode=True))  # as Caffe counts its cells
    if first and not batch:
        layer.append(nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75))
    return layer


def _full(inputs: int, outputs: int, norm: str) -> list[nn.Module]:
    if norm == "local":
        return [nn.Linear(inputs, outputs)]
    return [nn.Linear(inputs, outputs, bias=False), nn.BatchNorm1d(outputs)]


def _scaled(size: int, width: float) -> int:
    """A size of the table times the width, as the nearest multiple of eight."""
    return 8 * max(round(size * width / 8), 1)


def _side(table: tuple[Row, ...], size: int) -> int:
    """Cells along a side of the last map."""
    for row in table:
        size = (size + 2 * row.padding - row.kernel) // row.stride + 1
        size = -(-(size - 3) // 2) + 1 if row.pool else size
        if size < 1:
            raise ValueError("a CaffeNet wants pictures of 32 pixels or more")
    return size
