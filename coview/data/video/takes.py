"""Moments of clips: which frames a sample is made of, and at which moments a clip has them all."""

import zlib
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Takes:
    """Frames by field, counted from the moment t; number n of a flow leads from frame n to the next."""

    rgb: tuple[int, ...] = (0, 10)
    flow: tuple[int, ...] = tuple(range(-5, 5))
    second: tuple[int, ...] = ()  # of another camera

    @property
    def by_field(self) -> dict[str, tuple[int, ...]]:
        return {name: offsets for name, offsets in vars(self).items() if offsets}

    @property
    def before(self) -> int:
        """Frames that must lie before the moment."""
        return max(0, *(-min(offsets) for offsets in self.by_field.values()))

    @property
    def after(self) -> int:
        """Frames that must lie after it."""
        ends = [max(offsets) + (name == "flow") for name, offsets in self.by_field.items()]
        return max(0, *ends)

    @property
    def shortest(self) -> int:
        """How many frames a clip must have."""
        return self.before + 1 + self.after

    def moments(self, length: Int[Tensor, "B"]) -> Int[Tensor, "B"]:
        """How many moments clips of these lengths have."""
        return length - self.shortest + 1

    def at(self, length: Int[Tensor, "B"], share: Float[Tensor, "B"]) -> Int[Tensor, "B"]:
        """The moments that lie a share of the way from the first to the last."""
        return self.before + (share * (self.moments(length) - 1)).round().long()

    def drawn(self, length: Int[Tensor, "B"], index: Int[Tensor, "B"]) -> Int[Tensor, "B"]:
        """Random moments, drawn from the batch itself.

        Epochs shuffle anew and so draw anew, while a run that is resumed draws what it would have drawn.
        """
        seed = zlib.crc32(index.long().contiguous().numpy().tobytes())
        luck = torch.rand(len(index), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        return self.before + (luck * self.moments(length)).long()


def takes(*, later: int = 10, stack: int = 10, second: bool = False) -> Takes:
    """The paper's i_t, i_(t+k) and f_t: frames t and t + `later`, `stack` flows around t; another camera's frame t."""
    if min(later, stack) < 1:
        raise ValueError(f"later and stack count frames from 1, got {later} and {stack}")
    first = -(stack // 2)
    return Takes((0, later), tuple(range(first, first + stack)), (0,) if second else ())
