"""The networks of a critic, one for tables and one for pictures, and pictures as theirs wants them."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

SMALLEST = 4  # the side of the maps that the convolutions end with
NARROW, WIDE = 32, 128  # channels of the first and of the last convolutions
FLAT = 1e-6  # share of the largest variance below which a mix of channels is rounding


class Scaled(nn.Module):
    """Pictures or clips with channels centred and whitened, so that it does not matter how they were mixed."""

    mean: Tensor
    matrix: Tensor

    def __init__(self, view: Float[Tensor, "N *T C H W"]) -> None:
        super().__init__()
        pixels = view.flatten(1, -3).double().movedim(1, -1).flatten(0, -2)
        mean = pixels.mean(0)
        variance, axes = torch.linalg.eigh((pixels - mean).T @ (pixels - mean) / len(pixels))
        known = variance > FLAT * variance[-1]
        self.register_buffer("mean", mean.float())
        self.register_buffer("matrix", (axes[:, known] / variance[known].sqrt()).T.float())

    def forward(self, view: Float[Tensor, "B *T C H W"]) -> Float[Tensor, "B K H W"]:
        channels = view.flatten(1, -3) - self.mean[:, None, None]
        return torch.einsum("kc,bchw->bkhw", self.matrix, channels)


def tower(example: Float[Tensor, "B ..."], outputs: int, *, width: int) -> nn.Sequential:
    """A network for what looks like the example: [B F] or [B C H W]."""
    if example.ndim == 2:
        return table_tower(example.shape[1], outputs, width=width)
    return picture_tower(example.shape[1:], outputs, width=width)


def table_tower(inputs: int, outputs: int, *, width: int) -> nn.Sequential:
    """Two hidden layers."""
    hidden = [nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU()]
    return nn.Sequential(*hidden, nn.Linear(width, outputs))


def picture_tower(shape: tuple[int, ...], outputs: int, *, width: int) -> nn.Sequential:
    """Convolutions that halve [C H W] until a side has four pixels or fewer, then a hidden layer."""
    channels, *sides = shape
    layers: list[nn.Module] = []
    maps = NARROW
    while not layers or min(sides) > SMALLEST:
        layers += _halving(channels, maps)
        channels, maps = maps, min(2 * maps, WIDE)
        sides = [(side + 1) // 2 for side in sides]
    hidden = nn.Linear(channels * sides[0] * sides[1], width, bias=False)
    last = nn.Linear(width, outputs)
    return nn.Sequential(*layers, nn.Flatten(), hidden, nn.BatchNorm1d(width), nn.ReLU(inplace=True), last)


def _halving(channels: int, maps: int) -> list[nn.Module]:
    return [nn.Conv2d(channels, maps, 3, 2, 1, bias=False), nn.BatchNorm2d(maps), nn.ReLU(inplace=True)]
