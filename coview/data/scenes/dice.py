"""Random numbers that depend on (seed, index, name, counter) alone: no state, no order, the same in any batch."""

from zlib import crc32

import torch
from jaxtyping import Float, Int
from torch import Tensor

STEP = 0x9E3779B97F4A7C15 - 2**64  # 2**64 / golden ratio, written as a signed number
FIRST, SECOND = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64


def mix(bits: Int[Tensor, "*S"]) -> Int[Tensor, "*S"]:
    """The finaliser of splitmix64: every bit of the result depends on every bit of the argument."""
    for shift, factor in ((30, FIRST), (27, SECOND)):
        bits = (bits ^ ((bits >> shift) & (2 ** (64 - shift) - 1))) * factor
    return bits ^ ((bits >> 31) & (2**33 - 1))


class Dice:
    """One row of random numbers per index; a name picks the stream."""

    def __init__(self, seed: int, index: Int[Tensor, "B"]) -> None:
        index = index.long()
        self.key = mix(mix(torch.full_like(index, seed)) + index * STEP)

    def bits(self, name: str, *shape: int) -> Int[Tensor, "B *S"]:
        """64 random bits each."""
        stream = mix(self.key ^ (crc32(name.encode()) * STEP % 2**64 - 2**63))
        count = torch.Size(shape).numel()
        counter = torch.arange(count, device=self.key.device) * STEP
        return mix(stream[:, None] + counter).view(-1, *shape)

    def uniform(self, name: str, low, high, *shape: int) -> Float[Tensor, "B *S"]:
        """Evenly from low to high, which are numbers or tensors."""
        share = (self.bits(name, *shape) & 0xFFFFFF).float() * 2.0**-24
        return low + share * (high - low)

    def chance(self, name: str, probability, *shape: int) -> Tensor:
        """True with this probability."""
        return self.uniform(name, 0.0, 1.0, *shape) < probability

    def pick(self, name: str, count: int, *shape: int) -> Int[Tensor, "B *S"]:
        """One of `count` numbers from 0."""
        return self.uniform(name, 0.0, float(count), *shape).long().clamp(max=count - 1)

    def bell(self, name: str, *shape: int) -> Float[Tensor, "B *S"]:
        """Mean 0, spread 1, as the sum of four even ones, which needs no logarithm (its last bit may vary)."""
        bits = self.bits(name, *shape)
        total = (bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) + ((bits >> 32) & 0xFFFF) + ((bits >> 48) & 0xFFFF)
        return (total.float() * 2.0**-16 - 2.0) * 3.0**0.5


def cosine_sine(angle: Float[Tensor, "*S"]) -> tuple[Float[Tensor, "*S"], Float[Tensor, "*S"]]:
    """Cosine and sine of an angle within a turn: polynomials, since torch.sin differs by vector lane."""
    half = angle * 0.5
    square = half * half
    sine = half * (1 - square * (1 / 6 - square * (1 / 120 - square * (1 / 5040))))
    cosine = 1 - square * (1 / 2 - square * (1 / 24 - square * (1 / 720 - square * (1 / 40320))))
    size = sine * sine + cosine * cosine
    return (cosine * cosine - sine * sine) / size, 2 * sine * cosine / size
