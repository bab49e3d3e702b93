"""Samples seen through affine maps: crop, mirror, turn, shear and shift are one resampling, for all fields alike."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from coview.names import did_you_mean
from coview.types import Fields
from coview.views.augment import EXTENT, same_shape
from coview.views.resample import Boxes, extent_of, interpolate

Affine = Float[Tensor, "B 2 3"]
"""From places of the new picture, -1 to 1 across and down, to old places: such shares too, or at last pixels."""

OUTSIDE = ("reflection", "border", "zeros")
"""What lies beside a picture: its mirror image, its last pixels, or nothing."""


class Places(NamedTuple):
    """Where new pixels come from, folded into the picture, and how much of each lies there, down and across."""

    down: Float[Tensor, "B S S"]
    across: Float[Tensor, "B S S"]
    cover: Float[Tensor, "2 B S S"] | None  # None: all


def of_boxes(boxes: Boxes, mirrored: Bool[Tensor, "B"] | None = None) -> Affine:
    """The map into a box of the old picture."""
    top, left, height, width = boxes.unbind(1)
    reach = width / 2 if mirrored is None else torch.where(mirrored, -width, width) / 2
    nothing = torch.zeros_like(top)
    rows = [[reach, nothing, left + width / 2], [nothing, height / 2, top + height / 2]]
    return torch.stack([torch.stack(row, 1) for row in rows], 1)


def after(first: Affine, then: Affine) -> Affine:
    """A picture changed by `first`, and the result changed by `then`, as one map: back through both."""
    # No matrix product: places must not lose digits on matrix units.
    return (first[:, :, :2, None] * then[:, None]).sum(2) + F.pad(first[:, :, 2:], (2, 0))


def warp(
    fields: Fields,
    affine: Affine,
    *,
    size: int,
    smooth: int = 1,
    outside: str = "reflection",
    pictures: Sequence[str] = ("rgb",),
    vectors: Sequence[str] = ("normal", "flow"),
) -> Fields:
    """The maps of each sample through its affine map; vectors turn with it.

    Pictures are interpolated, at `smooth` x `smooth` points a pixel; other maps take the nearest value. Flow, in
    pixels, follows the whole map; other vectors have a length of their own, and follow its rotation and mirror.
    """
    if outside not in OUTSIDE:
        raise ValueError(
            f"outside must be one of {', '.join(OUTSIDE)}, got '{outside}'{did_you_mean(outside, OUTSIDE)}"
        )
    maps = {name: values for name, values in fields.items() if values.ndim >= 4}
    if not maps:
        return fields
    _, height, width = same_shape(maps)
    extent = extent_of(fields)
    assert extent is not None
    whole = EXTENT not in fields  # then pictures fill the canvas
    limits = (height, width) if whole else tuple(extent[:, axis, None, None] for axis in (0, 1))
    coarse, fine = (_places(affine, limits, side, outside) for side in (size, size * smooth))
    cover = None if fine.cover is None else fine.cover.prod(0)
    moved = {
        name: interpolate(values, fine.down, fine.across, points=smooth, cover=cover)
        if name in pictures
        else _nearest(values, coarse)
        for name, values in maps.items()
    }
    moved |= _turned({name: moved[name] for name in vectors if name in moved}, affine, size)
    return {name: values for name, values in {**fields, **moved}.items() if name != EXTENT}


def _places(affine: Affine, limits: Sequence[int | Tensor], size: int, outside: str) -> Places:
    """Pixel n of the old ones goes from n to n + 1."""
    share = 2 * (torch.arange(size, device=affine.device) + 0.5) / size - 1
    found, covers = [], []
    for axis, limit in ((1, limits[0]), (0, limits[1])):
        right, down, start = (part[:, None, None] for part in affine[:, axis].unbind(1))
        place = right * share + down * share[:, None] + start
        if outside == "reflection":
            place = _reflected(place, limit)
        if outside == "zeros":  # a point between the last pixel and nothing has a part of both
            covers.append((torch.minimum(place, limit - place) + 0.5).clamp(0, 1))
        found.append(place.clamp(min=0.5).clamp(max=limit - 0.5))
    return Places(found[0], found[1], torch.stack(covers) if covers else None)


def _reflected(place: Tensor, limit: int | Tensor) -> Tensor:
    place = place.remainder(2 * limit)
    return torch.minimum(place, 2 * limit - place)


def _nearest(values: Tensor, places: Places) -> Tensor:
    shape, size = values.shape, places.down.shape[-1]
    flat = values.reshape(shape[0], -1, shape[-2] * shape[-1])
    place = (places.down.long() * shape[-1] + places.across.long()).flatten(1)
    found = flat.gather(2, place[:, None].expand(-1, flat.shape[1], -1)).unflatten(2, (size, size))
    if places.cover is not None:
        inside = (places.cover >= 0.5).all(0)[:, None]
        found = torch.where(inside, found, torch.zeros_like(found))
    return found.reshape(*shape[:-2], size, size)


def _turned(vectors: Fields, affine: Affine, size: int) -> Fields:
    """Vectors as they point in the new picture; their first two components are across and down."""
    a, b, c, d = (affine[:, :, :2] * (2 / size)).flatten(1).unbind(1)  # from new pixels to old ones
    scale = (a * d - b * c).reciprocal()
    sign = scale.sign()
    whole = (d * scale, -b * scale, -c * scale, a * scale)
    length = torch.hypot(a + sign * d, b - sign * c)
    turn = tuple(part / length for part in (a + sign * d, c - sign * b, b - sign * c, sign * a + d))
    return {name: _mixed(values, whole if name == "flow" else turn) for name, values in vectors.items()}


def _mixed(values: Tensor, matrix: Sequence[Tensor]) -> Tensor:
    """The first two components, third dimension from the end, through a matrix of two rows."""
    x, y = values[..., :1, :, :], values[..., 1:2, :, :]
    a, b, c, d = (part.to(values.dtype).view(-1, *[1] * (values.ndim - 1)) for part in matrix)
    return torch.cat([a * x + b * y, c * x + d * y, values[..., 2:, :, :]], -3)
