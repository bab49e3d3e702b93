"""Views of geometry: depth, surface normals, and what is where."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from coview.types import Fields


def depth(fields: Fields, *, far: float = 10.0, mask: bool = False) -> Float[Tensor, "B *T C H W"]:
    """Metres from 0 to `far`, scaled to [-1, 1]; a hole in the depth map is -1, which nothing measured is.

    With `mask` there is a second channel, 1 where something was measured, and a hole is 0 in both.
    """
    metres = fields["depth"].float()
    found = metres.clamp(0.0, far) * (2 / far) - 1
    return _with_mask(found, metres > 0) if mask else found


def normal(fields: Fields, *, mask: bool = False) -> Float[Tensor, "B *T C H W"]:
    """Unit normals, also of those stored times 127; a hole is 0, which has no length.

    With `mask` there is a fourth channel, 1 where there is a normal.
    """
    stored = fields["normal"]
    found = stored if stored.is_floating_point() else stored * (1 / 127)
    return _with_mask(found, stored.ne(0).any(-3, keepdim=True)) if mask else found


def segments(fields: Fields, *, classes: int, apart: bool = False) -> Float[Tensor, "B *T C H W"]:
    """The number of the class in one channel, scaled to [-1, 1] with void at -1; or `apart`, a channel a class.

    A channel is 1 where its class is, and void is 0 in all: their means over an area are the classes' shares of it.
    """
    number = fields["segment"]
    if not apart:
        return number * (2 / classes) - 1
    known = functional.one_hot(number.squeeze(-3).long(), classes + 1)
    return known[..., 1:].movedim(-1, -3).float()


def _with_mask(values: Tensor, there: Tensor) -> Tensor:
    return torch.cat([values * there, there.to(values.dtype)], -3)
