"""Where the camera stands and what moves: a pose per frame, and the toy's way through a clip."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.data.scenes.dice import Dice, cosine_sine
from coview.data.scenes.layout import Rooms
from coview.data.scenes.rooms import FIRST, TOY

MOTIONS = (
    *("still", "pan left", "pan right", "dolly in", "dolly out"),
    *("slide left", "slide right", "bounce", "turn"),
)
STEPS = {"pan": (0.025, 0.05, 0.5), "dolly": (0.05, 0.09, 0.8), "slide": (0.06, 0.1, 1.2), "turn": (0.1, 0.2, 2.8)}
"""Least and most per frame, and the most over a whole clip: radians for pan and turn, metres for the others."""


@dataclass(frozen=True)
class Camera:
    """A pinhole camera per shot: the pose takes points from the camera (x right, y down, z ahead) to the world."""

    pose: Float[Tensor, "B 4 4"]
    focal: Float[Tensor, "B"]  # in shares of the picture's side; the axis goes through the middle


def camera(dice: Dice, rooms: Rooms) -> tuple[Float[Tensor, "B 3"], Float[Tensor, "B 3 3"], Float[Tensor, "B"]]:
    """A place at the near wall with a look at the furnished side: position, axes (as columns) and focal length."""
    width, _, length = rooms.shell.unbind(-1)
    x = dice.uniform("camera x", -0.28, 0.28) * width
    position = torch.stack((x, -dice.uniform("camera y", 1.15, 1.75), dice.uniform("camera z", 0.25, 0.75)), -1)
    aim = torch.stack(
        (
            dice.uniform("aim x", -0.15, 0.15) * width + 0.5 * _main(rooms),
            -dice.uniform("aim y", 0.55, 1.05),
            length * dice.uniform("aim z", 0.6, 0.75),
        ),
        -1,
    )
    forward = _unit(aim - position)
    nothing = torch.zeros_like(x)
    right = _unit(torch.stack((forward[:, 2], nothing, -forward[:, 0]), -1))
    down = torch.linalg.cross(forward, right)
    cosine, sine = (part[:, None] for part in cosine_sine(dice.uniform("roll", -0.05, 0.05)))
    axes = torch.stack((cosine * right + sine * down, cosine * down - sine * right, forward), -1)
    return position, axes, dice.uniform("focal", 0.74, 0.95)


def _main(rooms: Rooms) -> Float[Tensor, "B"]:
    """Where from left to right the first piece stands that the room is furnished with."""
    first = FIRST + rooms.present[:, FIRST:].int().argmax(1, keepdim=True)
    return rooms.place[..., 0].gather(1, first)[:, 0]


def shoot(dice: Dice, rooms: Rooms, frames: int) -> tuple[Camera, Rooms, Int[Tensor, "B"]]:
    """Cameras and rooms of every frame, [B x T], and the motion of every clip."""
    position, axes, focal = camera(dice, rooms)
    motion = dice.pick("motion", len(MOTIONS)) if frames > 1 else torch.zeros_like(rooms.room)
    way = {name: _way(dice, name, motion, frames) for name in STEPS}
    cosine, sine = cosine_sine(way["pan"])
    turned = _about_vertical(axes[:, None], cosine[..., None], sine[..., None])
    ahead = _unit(axes[:, None, :, 2] * torch.tensor([1.0, 0.0, 1.0], device=axes.device))
    stand = position[:, None] + way["dolly"][..., None] * ahead
    pose = torch.eye(4, device=axes.device).repeat(len(axes) * frames, 1, 1)
    pose[:, :3, :3] = turned.flatten(0, 1)
    pose[:, :3, 3] = stand.flatten(0, 1)
    moved = _move_toy(dice, rooms, way, motion, axes[:, :, 0])
    return Camera(pose, focal.repeat_interleave(frames)), moved, motion


def _way(dice: Dice, name: str, motion: Int[Tensor, "B"], frames: int) -> Float[Tensor, "B T"]:
    """How far this kind of motion has come in each frame: 0 in clips that move in another way."""
    low, high, most = STEPS[name]
    step = dice.uniform(f"{name} step", low, high).clamp(max=most / max(frames - 1, 1))
    sign = torch.zeros_like(step)
    for row, label in enumerate(MOTIONS):
        if label.startswith(name):
            sign = sign.masked_fill(motion == row, -1.0 if label.endswith(("left", "out")) else 1.0)
    time = torch.arange(frames, device=step.device).float()
    return (sign * step)[:, None] * (time - (frames - 1) / 2 if name != "dolly" else time)


def _move_toy(dice: Dice, rooms: Rooms, way: dict[str, Tensor], motion: Tensor, right: Tensor) -> Rooms:
    """The rooms of every frame: the toy slides along the camera's right, bounces or turns."""
    frames = way["slide"].shape[1]
    shots = {name: values.repeat_interleave(frames, 0) for name, values in vars(rooms).items()}
    height = dice.uniform("bounce height", 0.35, 0.7)[:, None]
    beat = dice.uniform("bounce beat", 0.1, 0.16)[:, None] * torch.arange(frames, device=height.device)
    beat = beat + dice.uniform("bounce start", 0.0, 1.0)[:, None]
    beat = beat - beat.floor()
    jump = height * 4 * beat * (1 - beat) * (motion == MOTIONS.index("bounce"))[:, None]
    level = _unit(right * torch.tensor([1.0, 0.0, 1.0], device=right.device))
    path = way["slide"][..., None] * level[:, None]
    place, facing = shots["place"].clone(), shots["facing"].clone()
    place[:, TOY, 0] += path[..., 0].flatten()
    place[:, TOY, 1] += jump.flatten()
    place[:, TOY, 2] += path[..., 2].flatten()
    cosine, sine = (part.flatten() for part in cosine_sine(way["turn"]))
    before = shots["facing"][:, TOY]
    facing[:, TOY, 0] = before[:, 0] * cosine - before[:, 1] * sine
    facing[:, TOY, 1] = before[:, 1] * cosine + before[:, 0] * sine
    return replace(Rooms(**shots), place=place, facing=facing)


def _about_vertical(axes: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn vectors (the columns of axes) about the world's y: a positive angle turns z towards x, to the right."""
    x, y, z = axes.unbind(-2)
    return torch.stack((cosine * x + sine * z, y.expand(cosine.expand_as(cosine * x).shape), cosine * z - sine * x), -2)


def _unit(vector: Float[Tensor, "*S 3"]) -> Float[Tensor, "*S 3"]:
    x, y, z = vector.unbind(-1)
    return vector / (x * x + y * y + z * z).sqrt()[..., None]
