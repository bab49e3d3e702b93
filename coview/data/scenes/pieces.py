"""What a piece of furniture is: boxes, cylinders and ellipsoids, in shares of its width, height and depth."""

from dataclasses import dataclass
from typing import Literal

Shape = Literal["box", "cylinder", "ellipsoid"]
Span = tuple[float, float]

SHAPES: tuple[Shape, ...] = ("box", "cylinder", "ellipsoid")
SEGMENTS = (
    "wall",
    "floor",
    "ceiling",
    "bed",
    "table",
    "chair",
    "sofa",
    "shelf",
    "lamp",
    "cabinet",
    "plant",
    "picture",
    "screen",
    "basin",
    "crate",
    "toy",
)
GLOW = 3  # the material of lampshades, after the three that a piece draws


@dataclass(frozen=True)
class Part:
    """One solid of a piece: x from -1 (left) to 1, y from 0 (floor) to 1, z from -1 (front) to 1 (back)."""

    shape: Shape
    x: Span
    y: Span
    z: Span
    material: int = 0
    segment: str | None = None  # None: that of the piece


@dataclass(frozen=True)
class Piece:
    """A kind of furniture: what it is, its size in metres, and its parts."""

    segment: str
    size: tuple[Span, Span, Span]  # least and most width, height and depth
    parts: tuple[Part, ...]


def box(x: Span, y: Span, z: Span, material: int = 0, segment: str | None = None) -> Part:
    return Part("box", x, y, z, material, segment)


def drum(x: Span, y: Span, z: Span, material: int = 0, segment: str | None = None) -> Part:
    return Part("cylinder", x, y, z, material, segment)


def ball(x: Span, y: Span, z: Span, material: int = 0, segment: str | None = None) -> Part:
    return Part("ellipsoid", x, y, z, material, segment)
