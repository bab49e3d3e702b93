"""What a depth camera and a normal estimator make of the truth: noise and holes, by counters."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coview.data.scenes.dice import Dice
from coview.data.scenes.surface import Surface
from coview.data.scenes.vector import Triple, dot, triple, unit

BLOBS = 3


def sense_depth(dice: Dice, seen: Surface, size: int) -> Float[Tensor, "S HW"]:
    """Depth with noise that grows with its square, and 0 at grazing angles, some edges and random blobs."""
    pixels = size * size
    shots = len(seen.depth) // len(dice.key)
    noise = dice.bell("depth", shots, pixels).view(-1, pixels)
    depth = seen.depth + (0.003 + 0.0022 * seen.depth * seen.depth) * noise
    luck = dice.uniform("hole", 0.0, 1.0, shots, pixels).view(-1, pixels)
    grazing = _grazing(seen) < 0.04 + 0.1 * luck
    holes = grazing | (_edges(seen, size) & (luck < 0.6)) | _blobs(dice, luck, size) | (luck > 0.997)
    return depth.clamp(min=0.05).masked_fill(holes, 0.0)


def sense_normal(dice: Dice, seen: Surface) -> Triple:
    """Normals that point a little aside."""
    shots, pixels = len(seen.depth) // len(dice.key), seen.depth.shape[1]
    aside = triple(lambda k: dice.bell(f"normal {k}", shots, pixels).view(-1, pixels))
    return unit(triple(lambda k: seen.normal[k] + 0.04 * aside[k]))


def sense_colour(dice: Dice, colour: Float[Tensor, "S 3 HW"]) -> Float[Tensor, "S 3 HW"]:
    """Grain, alike in the channels for the most part."""
    shots, pixels = len(colour) // len(dice.key), colour.shape[2]
    bits = dice.bits("grain of the film", shots, pixels).view(-1, 1, pixels)
    grain = [((bits >> shift) & 0xFFFF).float() * 2.0**-16 - 0.5 for shift in (0, 16, 32, 48)]
    return colour + 0.03 * grain[0] + 0.02 * torch.cat(grain[1:], 1)


def _grazing(seen: Surface) -> Float[Tensor, "S HW"]:
    """The cosine of the angle at which the ray meets the surface."""
    return -dot(seen.ray, seen.normal) / dot(seen.ray, seen.ray).sqrt()


def _edges(seen: Surface, size: int) -> Bool[Tensor, "S HW"]:
    """Pixels whose right or lower neighbour is a good deal nearer or farther."""
    depth = seen.depth.view(-1, size, size)
    edge = torch.zeros_like(depth, dtype=torch.bool)
    edge[:, :, :-1] |= (depth[:, :, 1:] - depth[:, :, :-1]).abs() > 0.25
    edge[:, :-1] |= (depth[:, 1:] - depth[:, :-1]).abs() > 0.25
    return edge.flatten(1)


def _blobs(dice: Dice, luck: Float[Tensor, "S HW"], size: int) -> Bool[Tensor, "S HW"]:
    """A few ragged discs per scene, at the same place in every frame."""
    shots = len(luck) // len(dice.key)
    steps = (torch.arange(size, device=luck.device) + 0.5) / size
    x, y = steps.repeat(size), steps.repeat_interleave(size)
    across = dice.uniform("blob x", 0.0, 1.0, BLOBS).repeat_interleave(shots, 0)
    down = dice.uniform("blob y", 0.0, 1.0, BLOBS).repeat_interleave(shots, 0)
    radius = dice.uniform("blob radius", -0.03, 0.07, BLOBS).clamp(min=0).repeat_interleave(shots, 0)
    holes = torch.zeros_like(luck, dtype=torch.bool)
    for k in range(BLOBS):
        u, v = x - across[:, k, None], y - down[:, k, None]
        reach = radius[:, k, None] * (0.6 + 0.6 * luck)
        holes |= u * u + v * v < reach * reach
    return holes
