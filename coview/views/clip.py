"""Views of a clip at a moment: one of its frames, and the flow around it as one stack of channels."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from coview.flow.eight_bits import CODES, LARGEST
from coview.types import Fields


def frame(fields: Fields, *, name: str = "rgb", at: int = 0) -> Float[Tensor, "B 3 H W"]:
    """The frame of this place among those of a sample, from -1 to 1."""
    return fields[name][:, at].float() / 127.5 - 1


def flow_stack(fields: Fields, *, name: str = "flow", pixels: float = 5.0) -> Float[Tensor, "B C H W"]:
    """The flows of a sample as channels, two each; a motion of so many `pixels` is 1."""
    return fields[name].flatten(1, 2).float() * (LARGEST / CODES / pixels)


def ten_crops(fields: Fields, *, size: int) -> Iterator[Fields]:
    """The corners and the middle, and the mirror image of each, as action recognition looks at a frame."""
    height, width = next(iter(fields.values())).shape[-2:]
    if size > min(height, width):
        raise ValueError(f"cannot crop {size} pixels from {height}x{width}")
    down, across = height - size, width - size
    for top, left in ((0, 0), (0, across), (down, 0), (down, across), (down // 2, across // 2)):
        cut = {name: values[..., top : top + size, left : left + size] for name, values in fields.items()}
        yield cut
        yield {name: _mirrored(name, values) for name, values in cut.items()}


def _mirrored(name: str, values: Tensor) -> Tensor:
    turned = values.flip(-1)
    if name != "flow":
        return turned
    return torch.cat([-turned[..., :1, :, :], turned[..., 1:, :, :]], -3)
