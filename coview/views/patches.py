"""One patch of a pair, as a view of its own."""

from jaxtyping import Float
from torch import Tensor

from coview.types import Fields
from coview.views.colour import colour
from coview.views.field import field


def patch(fields: Fields, *, name: str, space: str = "RGB") -> Float[Tensor, "B 3 H W"]:
    """All channels of a patch ("near" or "far"), each scaled to [-1, 1]."""
    return colour({"rgb": field(fields, name=name)}, space=space, channels=(0, 1, 2))
