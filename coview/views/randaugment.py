"""RandAugment with the operations that leave colour its meaning; crop and geometry are one resampling (section 4.1)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.types import Fields
from coview.views.affine import Affine, after, of_boxes, warp
from coview.views.resample import extent_of, random_boxes
from coview.views.tone import Levels, levels, pixels, sharpened, stretched

STRONGEST = 30.0  # magnitudes are counted up to here
OPERATIONS = {  # what the strongest does
    "identity": 0.0,
    "autocontrast": 0.0,
    "rotate": 30.0,  # degrees
    "sharpness": 0.9,
    "shear_x": 0.3,  # of the height
    "shear_y": 0.3,
    "translate_x": 150 / 331,  # of the width
    "translate_y": 150 / 331,
}
NAMES = tuple(OPERATIONS)


@dataclass(frozen=True)
class Chosen:
    """An operation for each sample, as its place in NAMES, and how strong it is, from -1 to 1."""

    operation: Int[Tensor, "B"]
    strength: Float[Tensor, "B"]

    def amount(self, name: str) -> Float[Tensor, "B"]:
        """How much of an operation each sample gets; 0 for those that got another one."""
        return torch.where(self.has(name), self.strength * OPERATIONS[name], 0.0)

    def has(self, name: str) -> Tensor:
        return self.operation == NAMES.index(name)


def rand_augment(
    fields: Fields,
    generator: torch.Generator,
    *,
    size: int,
    operations: int = 2,
    magnitude: float = 9.0,
    scale: tuple[float, float] = (0.2, 1.0),
    flip: bool = True,
    smooth: int = 1,
    outside: str = "reflection",
) -> Fields:
    """A random resized crop and mirror image, then so many operations, each sample's drawn on its own.

    Magnitudes are drawn evenly from 0 to twice `magnitude`, but at most 30, the strongest, as torchvision counts them.
    A turned crop reaches into the rest of the picture; what lies beside the picture is `outside`: its "reflection", its
    "border" or "zeros". Light and colour change in "rgb" alone.
    """
    extent = extent_of(fields)
    if extent is None:
        return fields
    boxes = random_boxes(extent, generator, scale=scale)
    mirrored = torch.rand(len(extent), generator=generator, device=generator.device) < 0.5 * flip
    chosen = draw(len(extent), operations, magnitude, generator, extent.device)
    affine = of_boxes(boxes, mirrored.to(extent.device))
    for one in chosen:
        affine = after(affine, geometry(one))
    moved = warp(fields, affine, size=size, smooth=smooth, outside=outside)
    if "rgb" not in moved:
        return moved
    picture = levels(moved["rgb"])
    for one in chosen:
        picture = tone(picture, one)
    return {**moved, "rgb": pixels(picture)}


def draw(
    samples: int, operations: int, magnitude: float, generator: torch.Generator, device: torch.device
) -> list[Chosen]:
    """Operations and their strengths, as many rounds as each sample gets operations."""
    luck = torch.rand(3, operations, samples, generator=generator, device=generator.device).to(device)
    operation = (luck[0] * len(NAMES)).long()
    strength = (luck[1] * 2 * magnitude / STRONGEST).clamp(max=1.0)
    strength = torch.where(luck[2] < 0.5, -strength, strength)
    return [Chosen(*one) for one in zip(operation, strength, strict=True)]


def geometry(chosen: Chosen) -> Affine:
    """What moves pixels; a sample gets one of them, so their maps can be added up."""
    angle = chosen.amount("rotate").deg2rad()  # against the clock
    lean, slope = chosen.amount("shear_x"), chosen.amount("shear_y")  # about the upper left corner
    across, down = 2 * chosen.amount("translate_x"), 2 * chosen.amount("translate_y")
    rows = [
        [angle.cos(), lean - angle.sin(), lean - across],
        [slope + angle.sin(), angle.cos(), slope - down],
    ]
    return torch.stack([torch.stack(row, 1) for row in rows], 1)


def tone(picture: Levels, chosen: Chosen) -> Levels:
    """What changes light and colour."""
    picture = stretched(picture, chosen.has("autocontrast"))
    return sharpened(picture, 1 + chosen.amount("sharpness"))
