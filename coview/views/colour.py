"""Colour views of an "rgb" field, pictures or clips: L and ab of CIE Lab, each channel scaled to [-1, 1]."""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from coview.types import Fields

TO_XYZ = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))
WHITE = (0.95047, 1.0, 1.08883)  # D65, seen at 2 degrees
MIDDLE = (50.0, 6.025, -6.6895)  # of L, a and b over all sRGB colours
REACH = (50.0, 92.208, 101.1675)


def lightness(fields: Fields) -> Float[Tensor, "B *T 1 H W"]:
    """L, from [0, 100]."""
    luminance = _mix(_linear(fields["rgb"]), TO_XYZ[1])
    return ((116 * _cube_root(luminance) - 16 - MIDDLE[0]) / REACH[0]).unsqueeze(-3)


def chroma(fields: Fields) -> Float[Tensor, "B *T 2 H W"]:
    """a and b, from [-86.183, 98.233] and [-107.857, 94.478]."""
    linear = _linear(fields["rgb"])
    x, y, z = (_cube_root(_mix(linear, row) / white) for row, white in zip(TO_XYZ, WHITE, strict=True))
    a, b = 500 * (x - y), 200 * (y - z)
    return torch.stack([(a - MIDDLE[1]) / REACH[1], (b - MIDDLE[2]) / REACH[2]], -3)


def rgb_to_lab(rgb: UInt8[Tensor, "B *T 3 H W"]) -> Float[Tensor, "B *T 3 H W"]:
    """L, a and b as scikit-image gives them, unscaled."""
    scaled = torch.cat([lightness({"rgb": rgb}), chroma({"rgb": rgb})], -3)
    return scaled * scaled.new_tensor(REACH).view(3, 1, 1) + scaled.new_tensor(MIDDLE).view(3, 1, 1)


def _linear(rgb: Tensor) -> Tensor:
    """sRGB as uint8 to linear light: only 256 values, so a table."""
    value = torch.arange(256, device=rgb.device) / 255
    table = torch.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)
    return table[rgb.int()]


def _mix(linear: Tensor, row: tuple[float, float, float]) -> Tensor:
    red, green, blue = linear.unbind(-3)
    return red * row[0] + green * row[1] + blue * row[2]


def _cube_root(value: Tensor) -> Tensor:
    return torch.where(value > 0.008856, value.clamp(min=1e-6) ** (1 / 3), 7.787 * value + 16 / 116)
