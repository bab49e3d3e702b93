"""Flow in 8 bits: clipped to +-20 pixels, signed, so that a mirror image still is a change of sign."""

import torch
from jaxtyping import Float, Int8
from torch import Tensor

LARGEST = 20.0  # pixels; what moves farther is clipped
CODES = 127


def to_eight_bits(flow: Float[Tensor, "*B 2 H W"], largest: float = LARGEST) -> Int8[Tensor, "*B 2 H W"]:
    """Flow in pixels as codes from -127 to 127."""
    return (flow.clamp(-largest, largest) * (CODES / largest)).round().to(torch.int8)


def from_eight_bits(codes: Int8[Tensor, "*B 2 H W"], largest: float = LARGEST) -> Float[Tensor, "*B 2 H W"]:
    """Codes as flow in pixels, to within `largest` / 254."""
    return codes.float() * (largest / CODES)
