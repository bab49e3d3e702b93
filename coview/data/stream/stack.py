"""Samples -> a batch: maps of one size are stacked, others are laid in the top left of a canvas that holds them all."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from coview.types import Fields

EXTENT = "extent"  # a field [B 2]: height and width of each sample, where maps are padded to one size


def stack(samples: Sequence[Mapping[str, Tensor]], device: torch.device, *, alike: bool = False) -> Fields:
    """The fields of a batch on the device; with "extent" if samples differ in size, which they do not if `alike`."""
    extents = [() if alike else extent_of(sample) for sample in samples]
    same = len(set(extents)) == 1
    canvas = None if same else tuple(max(sides) for sides in zip(*extents, strict=True))
    fields = {name: _field(name, [sample[name] for sample in samples], canvas, device) for name in samples[0]}
    return fields if same else {**fields, EXTENT: torch.tensor(extents, device=device)}


def extent_of(sample: Mapping[str, Tensor]) -> tuple[int, ...]:
    """Height and width of a sample's maps, nothing if it has none; ValueError if they differ."""
    sizes = {name: tuple(values.shape[-2:]) for name, values in sample.items() if values.ndim >= 3}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{name} {height}x{width}" for name, (height, width) in sizes.items())
        raise ValueError(f"its maps differ in size: {listing}")
    return next(iter(sizes.values()), ())


def _field(name: str, values: list[Tensor], canvas: tuple[int, ...] | None, device: torch.device) -> Tensor:
    forms = {(value.dtype, value.shape[:-2] if value.ndim >= 3 else value.shape) for value in values}
    if len(forms) > 1:
        found = " and ".join(f"{dtype} {list(shape)}" for dtype, shape in sorted(forms, key=str))
        raise ValueError(f"the files of field '{name}' decode to {found}: one batch wants one type and shape")
    values = [value.to(device, non_blocking=True) for value in values]
    if canvas is None or values[0].ndim < 3:
        return torch.stack(values)
    batch = values[0].new_zeros(len(values), *values[0].shape[:-2], *canvas)
    for place, value in zip(batch, values, strict=True):
        place[..., : value.shape[-2], : value.shape[-1]] = value
    return batch
