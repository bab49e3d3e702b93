"""Colour views of an "rgb" field, pictures or clips: any channels of a colour space, each scaled to about [-1, 1]."""

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from coview.types import Fields, View
from coview.views.colour.spaces import SPACES, Space, find_space
from coview.views.field import field

__all__ = ["SPACES", "Space", "channels_of", "chroma", "colour", "lightness", "rgb_to_lab", "split"]


def colour(fields: Fields, *, space: str, channels: int | Sequence[int]) -> Float[Tensor, "B *T C H W"]:
    """Channels of a colour space by number, as `partial(colour, space="YDbDr", channels=(1, 2))` in a recipe."""
    found = find_space(space)
    wanted = _wanted(found, space, channels)
    values = found.convert(_pixels(fields), wanted)
    scaled = [(value - found.middle[n]) / found.reach[n] for n, value in zip(wanted, values, strict=True)]
    return torch.stack(scaled, -3)


def split(space: str) -> dict[str, View]:
    """The first channel of a colour space against the others, as in section 4.4: {"L": ..., "ab": ...} of Lab."""
    first, *rest = find_space(space).names
    return {
        first: partial(colour, space=space, channels=(0,)),
        "".join(rest): partial(colour, space=space, channels=(1, 2)),
    }


def channels_of(views: Mapping[str, View]) -> dict[str, int]:
    """How many channels each view of "rgb" has, which its encoder must take; seen on one black pixel."""
    pixel = torch.zeros(1, 3, 1, 1, dtype=torch.uint8)
    counts: dict[str, int] = {}
    for name, view in views.items():
        try:
            counts[name] = view({"rgb": pixel}).shape[-3]
        except KeyError as wanted:
            raise ValueError(
                f"view '{name}' cannot be cut from 'rgb' alone: it wants {wanted}, so give its channels by hand"
            ) from wanted
    return counts


def lightness(fields: Fields) -> Float[Tensor, "B *T 1 H W"]:
    """L of Lab, from [0, 100]."""
    return colour(fields, space="Lab", channels=(0,))


def chroma(fields: Fields) -> Float[Tensor, "B *T 2 H W"]:
    """a and b of Lab, from [-86.183, 98.233] and [-107.857, 94.478]."""
    return colour(fields, space="Lab", channels=(1, 2))


def rgb_to_lab(rgb: UInt8[Tensor, "B *T 3 H W"]) -> Float[Tensor, "B *T 3 H W"]:
    """L, a and b as scikit-image gives them, unscaled."""
    return torch.stack(SPACES["Lab"].convert(rgb, (0, 1, 2)), -3)


def _wanted(found: Space, space: str, channels: int | Sequence[int]) -> Sequence[int]:
    wanted = (channels,) if isinstance(channels, int) else channels
    if not wanted or not all(n in (0, 1, 2) for n in wanted):
        numbers = ", ".join(f"{n} ({name})" for n, name in enumerate(found.names))
        raise ValueError(f"a view of {space} takes one or more of its channels {numbers}, got {channels}")
    return wanted


def _pixels(fields: Fields) -> UInt8[Tensor, "B *T 3 H W"]:
    rgb = field(fields, name="rgb")
    if rgb.dtype != torch.uint8 or rgb.ndim < 4 or rgb.shape[-3] != 3:
        raise ValueError(
            f"colour views want 'rgb' as uint8 [B 3 H W], or [B T 3 H W] for clips: "
            f"got {str(rgb.dtype).removeprefix('torch.')} {list(rgb.shape)}"
        )
    return rgb
