"""From uint8 sRGB to channels of a colour space as scikit-image gives them; only those wanted are computed.

Mixes are sums of products by numbers: under autocast a matrix product would lose its precision.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

Row = tuple[float, ...]  # of red, green and blue
Picture = UInt8[Tensor, "B *T 3 H W"]
Channels = list[Float[Tensor, "B *T H W"]]

TO_XYZ: tuple[Row, ...] = (
    (0.412453, 0.357580, 0.180423),
    (0.212671, 0.715160, 0.072169),
    (0.019334, 0.119193, 0.950227),
)
WHITE: Row = (0.95047, 1.0, 1.08883)  # D65, seen at 2 degrees

# Luv divides 4 X and 9 Y by X + 15 Y + 3 Z and takes off what white gives; taken off first, less is lost to rounding.
TO_SUM: Row = (3.660520, 11.442559, 4.113639)
WHITE_SUM = WHITE[0] + 15 * WHITE[1] + 3 * WHITE[2]
TO_U = tuple(4 * (x - total * WHITE[0] / WHITE_SUM) for x, total in zip(TO_XYZ[0], TO_SUM, strict=True))
TO_V = tuple(9 * (y - total * WHITE[1] / WHITE_SUM) for y, total in zip(TO_XYZ[1], TO_SUM, strict=True))

TO_STAINS: tuple[Row, ...] = (  # from densities: the inverse of what each stain takes of red, green and blue
    (1.877982736852, -0.065908062224, -0.601907363439),
    (-1.007678686286, 1.134730372500, -0.480414188497),
    (-0.556115818200, -0.135521798628, 1.573588071964),
)
FAINTEST = 1e-6  # the light at which a stain has a density of 1


def mixed(
    rgb: Picture, wanted: Sequence[int], *, rows: Sequence[Row], shift: Row = (0.0, 0.0, 0.0)
) -> Channels:
    """Weighted sums of red, green and blue, each from 0 to 1."""
    fraction = rgb.float() / 255
    return [_mix(fraction, rows[channel]) + shift[channel] for channel in wanted]


def plain(rgb: Picture, wanted: Sequence[int]) -> Channels:
    """Red, green and blue, from 0 to 1."""
    return [rgb.select(-3, channel).float() / 255 for channel in wanted]


def xyz(rgb: Picture, wanted: Sequence[int]) -> Channels:
    linear = _linear(rgb)
    return [_mix(linear, TO_XYZ[channel]) for channel in wanted]


def lab(rgb: Picture, wanted: Sequence[int]) -> Channels:
    linear = _linear(rgb)
    y = _cube_root(_mix(linear, TO_XYZ[1]))
    channels = (
        lambda: 116 * y - 16,
        lambda: 500 * (_cube_root(_mix(linear, TO_XYZ[0]) / WHITE[0]) - y),
        lambda: 200 * (y - _cube_root(_mix(linear, TO_XYZ[2]) / WHITE[2])),
    )
    return [channels[channel]() for channel in wanted]


def luv(rgb: Picture, wanted: Sequence[int]) -> Channels:
    linear = _linear(rgb)
    y = _mix(linear, TO_XYZ[1])
    lightness = torch.where(y > 0.008856, 116 * _cube_root(y) - 16, 903.3 * y)

    def per_sum(row: Row) -> Tensor:
        return _mix(linear, row) / _mix(linear, TO_SUM).clamp(min=1e-12)  # black: 0

    channels = (
        lambda: lightness,
        lambda: 13 * lightness * per_sum(TO_U),
        lambda: 13 * lightness * per_sum(TO_V),
    )
    return [channels[channel]() for channel in wanted]


def hsv(rgb: Picture, wanted: Sequence[int]) -> Channels:
    red, green, blue = rgb.float().unbind(-3)  # whole numbers, so that differences are exact
    highest = torch.maximum(torch.maximum(red, green), blue)
    span = highest - torch.minimum(torch.minimum(red, green), blue)
    channels = (
        lambda: hue(red, green, blue, highest, span.clamp(min=1)),
        lambda: span / highest.clamp(min=1),  # black: 0
        lambda: highest / 255,
    )
    return [channels[channel]() for channel in wanted]


def hed(rgb: Picture, wanted: Sequence[int]) -> Channels:
    density = _look_up(_levels(rgb).clamp(min=FAINTEST).log() / math.log(FAINTEST), rgb)
    return [_mix(density, TO_STAINS[channel]).clamp(min=0) for channel in wanted]


def _levels(rgb: Tensor) -> Tensor:
    """The 256 values that a channel can have, from 0 to 1."""
    return torch.arange(256, device=rgb.device, dtype=torch.float32) / 255


def _linear(rgb: Tensor) -> Tensor:
    """sRGB as uint8 to linear light: only 256 values, so a table."""
    value = _levels(rgb)
    table = torch.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)
    return _look_up(table, rgb)


def _look_up(table: Tensor, rgb: Tensor) -> Tensor:
    """Not by table[rgb]: the ONNX runtime takes 32-bit numbers of rows in a selection alone."""
    return table.index_select(0, rgb.int().flatten()).view(rgb.shape)


def _mix(colours: Tensor, row: Row) -> Tensor:
    red, green, blue = colours.unbind(-3)
    return red * row[0] + green * row[1] + blue * row[2]


def _cube_root(value: Tensor) -> Tensor:
    return torch.where(value > 0.008856, value.clamp(min=1e-6) ** (1 / 3), 7.787 * value + 16 / 116)


def hue(red: Tensor, green: Tensor, blue: Tensor, highest: Tensor, span: Tensor) -> Tensor:
    """Once around from red over green and blue, 0 to 1; grey is 0."""
    behind = torch.where(highest == green, 2 + (blue - red) / span, 4 + (red - green) / span)
    return torch.where(highest == red, (green - blue) / span, behind) / 6 % 1
