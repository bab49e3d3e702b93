"""Boxes of any size and shape cut from whole samples and resampled to one size, batched on the device."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from coview.types import Fields
from coview.views.augment import EXTENT, mirror_vectors, same_shape, take

TRIES = 10  # boxes drawn for each sample, of which the first that fits is taken
Boxes = Float[Tensor, "B 4"]
"""Top, left, height and width of each sample's box, in pixels."""


def random_resized_crop(
    fields: Fields,
    generator: torch.Generator,
    *,
    size: int,
    scale: tuple[float, float] = (0.2, 1.0),
    ratio: float = 4 / 3,
    flip: bool = True,
    smooth: int = 1,
) -> Fields:
    """A box of a random share of the area and a random shape, resampled to `size`, and a random mirror image.

    Pictures ("rgb") are interpolated, at `smooth` x `smooth` points a pixel; other maps take the nearest value.
    """
    extent = extent_of(fields)
    if extent is None:
        return fields
    boxes = random_boxes(extent, generator, scale=scale, ratio=ratio)
    mirrored = torch.rand(len(extent), generator=generator, device=generator.device) < 0.5 * flip
    return resample(fields, boxes, size=size, mirrored=mirrored.to(extent.device), smooth=smooth)


def centre_crop(fields: Fields, *, size: int, shorter: int | None = None, smooth: int = 1) -> Fields:
    """The square in the middle that has `size` pixels once the shorter side has `shorter` (by default 8/7 of it)."""
    extent = extent_of(fields)
    if extent is None:
        return fields
    side = extent.amin(1) * (size / (shorter or round(size * 8 / 7)))
    corner = (extent - side[:, None]) / 2
    boxes = torch.cat([corner, side[:, None].expand(-1, 2)], 1)
    return resample(fields, boxes, size=size, smooth=smooth)


def random_boxes(
    extent: Float[Tensor, "B 2"],
    generator: torch.Generator,
    *,
    scale: tuple[float, float] = (0.2, 1.0),
    ratio: float = 4 / 3,
) -> Boxes:
    """Boxes as torchvision's RandomResizedCrop draws them, of whole pixels; where none fits, the whole sample."""
    count = len(extent)
    draw = torch.rand(4, count, TRIES, generator=generator, device=generator.device).to(extent.device)
    area = (scale[0] + (scale[1] - scale[0]) * draw[0]) * extent.prod(1, keepdim=True)
    shape = torch.exp((2 * draw[1] - 1) * math.log(ratio))  # width by height
    height, width = (area / shape).sqrt().round(), (area * shape).sqrt().round()
    room = extent[:, :, None] - torch.stack([height, width], 1)  # [B 2 TRIES]
    fits = (room >= 0).all(1) & (height >= 1) & (width >= 1)
    corner = (draw[2:].transpose(0, 1) * (room + 1)).floor()
    every = torch.cat([corner, torch.stack([height, width], 1)], 1)  # [B 4 TRIES]
    first = fits.byte().argmax(1)[:, None, None].expand(-1, 4, 1)
    return torch.where(fits.any(1)[:, None], every.gather(2, first).squeeze(2), _whole(extent, ratio))


def resample(
    fields: Fields,
    boxes: Boxes,
    *,
    size: int,
    mirrored: Bool[Tensor, "B"] | None = None,
    smooth: int = 1,
    pictures: Sequence[str] = ("rgb",),
    vectors: Sequence[str] = ("normal", "flow"),
) -> Fields:
    """The maps of each sample inside its box, at one size; in a mirror the first component of vectors turns around."""
    maps = {name: values for name, values in fields.items() if values.ndim >= 4}
    _, *canvas = same_shape(maps)
    fine = _places(boxes, canvas, fields.get(EXTENT), size * smooth, mirrored)
    rows, columns = (side.long() for side in _places(boxes, canvas, fields.get(EXTENT), size, mirrored))
    moved = {
        name: interpolate(values, fine[0][:, :, None], fine[1][:, None, :], points=smooth)
        if name in pictures
        else take(values, rows, columns)
        for name, values in maps.items()
    }
    if "flow" in moved:  # in pixels, which are others now
        zoom = size / boxes[:, [3, 2]]
        moved["flow"] = moved["flow"] * zoom.view(-1, *[1] * (moved["flow"].ndim - 4), 2, 1, 1)
    if mirrored is not None:
        moved |= {name: mirror_vectors(moved[name], mirrored) for name in set(vectors) & set(moved)}
    return {name: values for name, values in {**fields, **moved}.items() if name != EXTENT}


def extent_of(fields: Fields) -> Float[Tensor, "B 2"] | None:
    """Height and width of each sample; None where there are no maps."""
    maps = {name: values for name, values in fields.items() if values.ndim >= 4}
    if not maps:
        return None
    if EXTENT in fields:
        return fields[EXTENT].float()
    batch, height, width = same_shape(maps)
    device = next(iter(maps.values())).device
    return torch.stack([torch.full((batch,), float(side), device=device) for side in (height, width)], 1)


def _whole(extent: Float[Tensor, "B 2"], ratio: float) -> Boxes:
    """The largest box in the middle whose shape is allowed."""
    height, width = extent.unbind(1)
    height, width = (
        torch.minimum(height, (width * ratio).round()),
        torch.minimum(width, (height * ratio).round()),
    )
    corner = ((extent - torch.stack([height, width], 1)) / 2).round()
    return torch.cat([corner, height[:, None], width[:, None]], 1)


def _places(
    boxes: Boxes,
    canvas: Sequence[int],
    extent: Tensor | None,
    size: int,
    mirrored: Bool[Tensor, "B"] | None,
) -> tuple[Float[Tensor, "B S"], Float[Tensor, "B S"]]:
    """How far down and across the canvas the new pixels lie; pixel n of the old ones goes from n to n + 1."""
    share = ((torch.arange(size, device=boxes.device) + 0.5) / size).expand(len(boxes), size)
    turned = share if mirrored is None else torch.where(mirrored[:, None], 1 - share, share)
    places = []
    for axis, along in enumerate((share, turned)):
        limit = canvas[axis] if extent is None else extent[:, axis, None].float()
        place = boxes[:, axis, None] + along * boxes[:, axis + 2, None]
        places.append(place.clamp(min=0.5).clamp(max=limit - 0.5))  # nothing is taken from beside the sample
    return places[0], places[1]


def interpolate(
    values: Tensor,
    down: Float[Tensor, "B #S #S"],
    across: Float[Tensor, "B #S #S"],
    *,
    points: int = 1,
    cover: Float[Tensor, "B S S"] | None = None,
) -> Tensor:
    """The values between four pixels each, averaged over the points of a new pixel; in the values' own type.

    `cover` is how much of each point lies in the picture; the rest of it is zero.
    """
    shape, kind = values.shape, values.dtype
    flat = values.reshape(shape[0], -1, *shape[-2:]).float()
    x, y = 2 * across / shape[-1] - 1, 2 * down / shape[-2] - 1
    grid = torch.stack(torch.broadcast_tensors(x, y), -1)
    found = F.grid_sample(flat, grid, mode="bilinear", padding_mode="border", align_corners=False)
    if cover is not None:
        found = found * cover[:, None]
    if points > 1:
        found = F.avg_pool2d(found, points)
    if not kind.is_floating_point:
        found = found.round().clamp(0, 255)
    return found.reshape(*shape[:-2], *found.shape[-2:]).to(kind)
