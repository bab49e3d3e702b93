"""Views of geometry: depth and surface normals."""

from jaxtyping import Float
from torch import Tensor

from coview.types import Fields


def depth(fields: Fields, *, far: float = 10.0) -> Float[Tensor, "B *T 1 H W"]:
    """Metres from 0 (also a hole in the depth map) to `far`, scaled to [-1, 1]."""
    return fields["depth"].clamp(0.0, far) * (2 / far) - 1


def normal(fields: Fields) -> Float[Tensor, "B *T 3 H W"]:
    """Unit normals as they are."""
    return fields["normal"]
