"""Light and colour of pictures, by a strength per sample: each change is torchvision's, batched on the device.

Levels are from 0 to 255, as floats, so that changes that follow each other are rounded once.
"""

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor
from torch.nn import functional as F

from coview.views.colour.convert import hue

GREY = (0.2989, 0.587, 0.114)
TOP = 255.0

Levels = Float[Tensor, "B *T 3 H W"]
Strength = Float[Tensor, "B"]
"""1 leaves a picture as it is, 0 takes all away that is to be changed, more than 1 adds to it."""


def levels(rgb: UInt8[Tensor, "B *T 3 H W"]) -> Levels:
    return rgb.float()


def pixels(picture: Levels) -> UInt8[Tensor, "B *T 3 H W"]:
    return picture.round().clamp(0, TOP).to(torch.uint8)


def blend(picture: Levels, other: Tensor, strength: Strength) -> Levels:
    """The picture, nearer to another one or farther from it."""
    share = per_sample(strength, picture)
    return (share * picture + (1 - share) * other).clamp(0, TOP)


def sharpened(picture: Levels, strength: Strength) -> Levels:
    """Nearer to its smoothed self or farther from it; the outermost pixels stay."""
    if min(picture.shape[-2:]) <= 2:
        return picture
    flat = picture.flatten(0, -4)
    inner = flat[..., 1:-1, 1:-1]
    smooth = (9 * F.avg_pool2d(flat, 3, stride=1) + 4 * inner) / 13
    other = torch.where(_rim(flat), flat, F.pad(smooth, (1, 1, 1, 1)))
    return blend(picture, other.view_as(picture), strength)


def stretched(picture: Levels, chosen: Bool[Tensor, "B"]) -> Levels:
    """Autocontrast: each channel of the chosen ones from black to white; one that is flat stays."""
    lowest, highest = picture.amin((-2, -1), keepdim=True), picture.amax((-2, -1), keepdim=True)
    span = highest - lowest
    wide = (picture - lowest) * (TOP / span.clamp(min=1e-3))
    return torch.where(per_sample(chosen, picture) & (span > 0), wide, picture)


def hue_turned(picture: Levels, turn: Strength) -> Levels:
    """Hues moved once around for a turn of 1; a turn of 0 changes nothing."""
    red, green, blue = picture.unbind(-3)
    highest, lowest = picture.amax(-3), picture.amin(-3)
    span = highest - lowest
    around = 6 * (hue(red, green, blue, highest, span.clamp(min=1e-3)) + per_sample(turn, red))
    # Between red, green and blue a hue falls linearly, two sixths from each: the closed form of HSV to RGB.
    shares = [_share((around + start) % 6) for start in (5, 3, 1)]
    return torch.stack([highest - span * share for share in shares], -3)


def grey(picture: Levels) -> Float[Tensor, "B *T 1 H W"]:
    red, green, blue = picture.split(1, -3)
    return GREY[0] * red + GREY[1] * green + GREY[2] * blue


def per_sample(values: Tensor, like: Tensor) -> Tensor:
    """A number for each sample, to be used with maps."""
    return values.view(-1, *[1] * (like.ndim - 1))


def _share(sixth: Tensor) -> Tensor:
    return torch.minimum(sixth, 4 - sixth).clamp(0, 1)


def _rim(flat: Tensor) -> Bool[Tensor, "H W"]:
    rim = torch.ones(flat.shape[-2:], dtype=torch.bool, device=flat.device)
    rim[1:-1, 1:-1] = False
    return rim
