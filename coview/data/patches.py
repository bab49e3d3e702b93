"""Pairs of patches cut from one picture, a fixed distance apart (section 4.4), all pictures resident on the device."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from coview.types import Sample

FIELDS: tuple[str, str] = ("near", "far")


@dataclass(frozen=True)
class PatchPairs:
    """N pairs: square patches at (x, y), "near", and at (x + d, y + d), "far"; sample n is of picture n modulo M.

    Places are drawn once, so that a sample is the same whenever it is fetched; only its patches are ever cut.
    """

    name: str
    pixels: UInt8[Tensor, "_"]  # of all pictures, one after the other, each [3 H W]
    start: Int[Tensor, "M"]  # where each picture begins
    extent: Int[Tensor, "M 2"]  # its height and width
    corner: Int[Tensor, "N 2"]  # y and x of each near patch
    size: int
    distance: int
    label: Int[Tensor, "N"] | None = None
    classes: tuple[str, ...] = ()
    present: Mapping[str, Tensor] = field(default_factory=dict)
    numbers: Int[Tensor, "N"] | None = None  # of the samples among all, where this is a part of them

    def __len__(self) -> int:
        return len(self.corner)

    @property
    def group(self) -> Int[Tensor, "N"]:
        """The picture of each pair: what is held out should be of other pictures."""
        return self._numbers(torch.arange(len(self), device=self.device)) % len(self.start)

    @property
    def device(self) -> torch.device:
        return self.pixels.device

    def to(self, device: torch.device | str) -> "PatchPairs":
        """The same pairs, with the pictures on another device."""
        names = ("pixels", "start", "extent", "corner", "label", "numbers")
        moved = {name: getattr(self, name) for name in names}
        return replace(self, **{name: one if one is None else one.to(device) for name, one in moved.items()})

    def subset(self, index: Int[Tensor, "S"]) -> "PatchPairs":
        """Some of the pairs, counted anew from 0; the pictures stay."""
        index = index.to(self.device)
        label = None if self.label is None else self.label[index]
        return replace(self, corner=self.corner[index], label=label, numbers=self._numbers(index))

    def fetch(self, index: Int[Tensor, "B"]) -> Sample:
        """A batch of pairs, by index."""
        index = index.to(self.device)
        picture = self._numbers(index) % len(self.start)
        corner = self.corner[index]
        fields = {
            name: self._cut(picture, corner + away)
            for name, away in zip(FIELDS, (0, self.distance), strict=True)
        }
        return Sample(fields, index, None, None if self.label is None else self.label[index])

    def epoch(self, batches: Iterable[Tensor]) -> Iterator[Sample]:
        """Batches of pairs, by index."""
        return (self.fetch(index) for index in batches)

    def batches(self, size: int) -> Iterator[Sample]:
        """Every pair once, in order."""
        return self.epoch(torch.arange(len(self), device=self.device).split(size))

    def _numbers(self, index: Tensor) -> Tensor:
        return index if self.numbers is None else self.numbers[index]

    def _cut(self, picture: Int[Tensor, "B"], corner: Int[Tensor, "B 2"]) -> UInt8[Tensor, "B 3 S S"]:
        height, width = self.extent[picture].unbind(1)
        step = torch.arange(self.size, device=self.device)
        channel = torch.arange(3, device=self.device)
        rows = (corner[:, :1] + step) * width[:, None]
        columns = corner[:, 1:] + step
        planes = self.start[picture][:, None] + channel * (height * width)[:, None]
        return self.pixels[planes[:, :, None, None] + rows[:, None, :, None] + columns[:, None, None, :]]


def patch_pairs(
    name: str,
    pictures: Sequence[UInt8[Tensor, "3 _ _"]],
    *,
    distance: int,
    size: int = 64,
    samples: int = 50_000,
    seed: int = 0,
) -> PatchPairs:
    """Pairs at random places of pictures that are large enough; each picture is cut about equally often."""
    if size < 1 or samples < 1 or distance < 0:
        raise ValueError(
            f"size and samples count from 1, distance from 0: got {size}, {samples} and {distance}"
        )
    need = size + distance
    large = [one for one in pictures if min(one.shape[1:]) >= need]
    if not large:
        most = max((min(one.shape[1:]) for one in pictures), default=0)
        raise ValueError(
            f"patches of {size} at a distance of {distance} need pictures of {need} pixels a side, but of the "
            f"{len(pictures)} of '{name}' the largest has {most}: take larger ones, or a smaller distance"
        )
    extent = torch.tensor([one.shape[1:] for one in large])
    start = torch.tensor([one.numel() for one in large]).cumsum(0).roll(1)
    start[0] = 0
    room = extent[torch.arange(samples) % len(large)] - need + 1
    drawn = torch.rand(samples, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    pixels = torch.cat([one.flatten() for one in large])
    return PatchPairs(name, pixels, start, extent, (drawn * room).long(), size, distance)
