"""Optical flow of many pairs of pictures at once, and its form in 8 bits."""

from coview.flow.eight_bits import LARGEST, from_eight_bits, to_eight_bits
from coview.flow.tvl1 import FAST, TVL1, grey

__all__ = ["FAST", "LARGEST", "TVL1", "from_eight_bits", "grey", "to_eight_bits"]
