"""Frames brought to one size, so that clips of any shape fit into one batch."""

from jaxtyping import UInt8
from torch import Tensor
from torch.nn import functional


def cover(frames: UInt8[Tensor, "T 3 h w"], height: int, width: int) -> UInt8[Tensor, "T 3 H W"]:
    """The frames just large enough to cover height x width, and of what is too much the middle."""
    zoom = max(height / frames.shape[-2], width / frames.shape[-1])
    size = [max(round(frames.shape[-2] * zoom), height), max(round(frames.shape[-1] * zoom), width)]
    if list(frames.shape[-2:]) != size:
        frames = functional.interpolate(frames, size, mode="bilinear", antialias=True, align_corners=False)
    top, left = (size[0] - height) // 2, (size[1] - width) // 2
    return frames[..., top : top + height, left : left + width].contiguous()


def parse_size(text: str) -> tuple[int, int]:
    """Height and width, written as "128x171"."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) >= 16 for part in parts):
        raise ValueError(f"a size is height x width, 16 or more each, as 128x171, got '{text}'")
    height, width = map(int, parts)
    return height, width
