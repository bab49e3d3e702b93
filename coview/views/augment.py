"""Crops of whole samples, batched on the device: every field moves alike, so views stay aligned.

Here pixels move by whole places; `resample.py` cuts boxes of any size.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from coview.types import Fields

EXTENT = "extent"  # a field [B 2]: height and width of each sample, where maps are padded to one size


def crop_and_flip(
    fields: Fields,
    generator: torch.Generator,
    *,
    size: int,
    padding: int = 0,
    flip: bool = True,
    vectors: Sequence[str] = ("normal", "flow"),
) -> Fields:
    """A random crop of `size` pixels, after reflecting `padding` at each border, and a random mirror image.

    Fields of four or more dimensions are maps [B ... H W]; others pass as they are. In a mirror the first
    component of `vectors` changes sign.
    """
    maps = {name: values for name, values in fields.items() if values.ndim >= 4}
    if not maps:
        return fields
    if EXTENT in fields:
        raise ValueError(
            "crop_and_flip wants maps of one size, but these pictures differ in size: use random_resized_crop"
        )
    batch, height, width = _shape(maps, size, padding)
    device = next(iter(maps.values())).device
    rows = _window(height, size, padding, _draw(batch, height + 2 * padding - size, generator))
    columns = _window(width, size, padding, _draw(batch, width + 2 * padding - size, generator))
    mirrored = _draw(batch, 1, generator).bool() & flip
    columns = torch.where(mirrored[:, None], columns.flip(1), columns)
    rows, columns, mirrored = rows.to(device), columns.to(device), mirrored.to(device)
    moved = {name: take(values, rows, columns) for name, values in maps.items()}
    for name in set(vectors) & set(moved):
        moved[name] = mirror_vectors(moved[name], mirrored)
    return {**fields, **moved}


def same_shape(maps: Fields) -> tuple[int, int, int]:
    """Batch, height and width of maps that are to be cropped alike."""
    shapes = {name: tuple(values.shape[-2:]) for name, values in maps.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"maps of a sample must have one height and width to be cropped alike, got {shapes}")
    (height, width), batch = next(iter(shapes.values())), len(next(iter(maps.values())))
    return batch, height, width


def _shape(maps: Fields, size: int, padding: int) -> tuple[int, int, int]:
    batch, height, width = same_shape(maps)
    if min(height, width) + 2 * padding < size or padding >= min(height, width):
        raise ValueError(f"cannot crop {size} pixels from {height}x{width} with a padding of {padding}")
    return batch, height, width


def _draw(batch: int, highest: int, generator: torch.Generator) -> Int[Tensor, "B"]:
    return torch.randint(highest + 1, (batch,), generator=generator, device=generator.device)


def _window(length: int, size: int, padding: int, offset: Int[Tensor, "B"]) -> Int[Tensor, "B S"]:
    """Positions of a crop along one side, reflected at the borders."""
    place = (offset[:, None] + torch.arange(size, device=offset.device) - padding).abs()
    return torch.where(place >= length, 2 * (length - 1) - place, place)


def take(values: Tensor, rows: Int[Tensor, "B R"], columns: Int[Tensor, "B S"]) -> Tensor:
    shape = values.shape
    flat = values.reshape(shape[0], -1, *shape[-2:])
    tall = (shape[0], flat.shape[1], rows.shape[1], shape[-1])
    flat = flat.gather(2, rows[:, None, :, None].expand(tall))
    wide = (*tall[:3], columns.shape[1])
    flat = flat.gather(3, columns[:, None, None, :].expand(wide))
    return flat.reshape(*shape[:-2], rows.shape[1], columns.shape[1])


def mirror_vectors(values: Tensor, mirrored: Tensor) -> Tensor:
    """Turn around the first component; it is the channel, third from the end."""
    sign = torch.where(mirrored, -1.0, 1.0).to(values.dtype)
    first = values[..., :1, :, :] * sign.view(-1, *[1] * (values.ndim - 1))
    return torch.cat([first, values[..., 1:, :, :]], -3)
