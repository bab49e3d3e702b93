"""The colour spaces: how each is reached from sRGB, and what scales its channels to about [-1, 1]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from coview.names import did_you_mean
from coview.views.colour.convert import Channels, Picture, Row, hed, hsv, lab, luv, mixed, plain, xyz


@dataclass(frozen=True)
class Space:
    """Three named channels, converted by their numbers; a view of one is (value - middle) / reach."""

    names: tuple[str, str, str]
    convert: Callable[[Picture, Sequence[int]], Channels]
    middle: Row
    reach: Row


LUMA: Row = (0.299, 0.587, 0.114)
TO_YCBCR = ((65.481, 128.553, 24.966), (-37.797, -74.203, 112.0), (112.0, -93.786, -18.214))
TO_YDBDR = (LUMA, (-0.45, -0.883, 1.333), (-1.333, 1.116, 0.217))
TO_YUV = (LUMA, (-0.14714119, -0.28886916, 0.43601035), (0.61497538, -0.51496512, -0.10001026))
TO_YIQ = (LUMA, (0.59590059, -0.27455667, -0.32134392), (0.21153661, -0.52273617, 0.31119955))
TO_YPBPR = (LUMA, (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))

# Middle and half of what all sRGB colours span, but YCbCr and YDbDr are centred on the average of photographs: they
# lie in [-1.04, 1.09]. The hue of HSV is an angle: -1 and 1 are the same red, and it stays so.
SPACES = {
    "Lab": Space(("L", "a", "b"), lab, (50.0, 6.025, -6.6895), (50.0, 92.208, 101.1675)),
    "YCbCr": Space(
        ("Y", "Cb", "Cr"),
        partial(mixed, rows=TO_YCBCR, shift=(16.0, 128.0, 128.0)),
        (116.151, 121.080, 132.342),
        (109.5, 111.855, 111.964),
    ),
    "YDbDr": Space(
        ("Y", "Db", "Dr"), partial(mixed, rows=TO_YDBDR), (0.457, -0.082, -0.052), (0.5, 1.331, 1.333)
    ),
    "YUV": Space(("Y", "U", "V"), partial(mixed, rows=TO_YUV), (0.5, 0.0, 0.0), (0.5, 0.436, 0.615)),
    "YIQ": Space(("Y", "I", "Q"), partial(mixed, rows=TO_YIQ), (0.5, 0.0, 0.0), (0.5, 0.596, 0.523)),
    "YPbPr": Space(("Y", "Pb", "Pr"), partial(mixed, rows=TO_YPBPR), (0.5, 0.0, 0.0), (0.5, 0.5, 0.5)),
    "Luv": Space(("L", "u", "v"), luv, (50.0, 45.9683, -13.3494), (50.0, 129.0462, 120.7485)),
    "HSV": Space(("H", "S", "V"), hsv, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "HED": Space(("H", "E", "D"), hed, (0.939, 0.5675, 0.787), (0.939, 0.5675, 0.787)),
    "XYZ": Space(("X", "Y", "Z"), xyz, (0.475, 0.5, 0.5445), (0.475, 0.5, 0.5445)),
    "RGB": Space(("R", "G", "B"), plain, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
}


def find_space(name: str) -> Space:
    """By name, or an error that offers the nearest."""
    if name not in SPACES:
        raise ValueError(
            f"there is no colour space '{name}'{did_you_mean(name, SPACES)}; there are {', '.join(SPACES)}"
        )
    return SPACES[name]
