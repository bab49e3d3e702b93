"""Where the camera stands and what moves: a pose per frame, and the toy's way through a clip."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.data.scenes.dice import Dice, cosine_sine
from coview.data.scenes.layout import Rooms
from coview.data.scenes.rooms import FIRST, TOY

MOTIONS = (
    "still",
    "pan left",
    "pan right",
    "dolly in",
    "dolly out",
    "slide left",
    "slide right",
    "bounce",
    "turn",
)
STEPS = {
    "pan": (0.025, 0.05, 0.5),
    "dolly": (0.05, 0.09, 0.6),
    "slide": (0.06, 0.1, 1.2),
    "turn": (0.1, 0.2, 2.8),
}
"""Least and most per frame, and the most over a whole clip: radians for pan and turn, metres for the others."""


@dataclass(frozen=True)
class Camera:
    """A pinhole camera per shot: the pose takes points from the camera (x right, y down, z ahead) to the world."""

    pose: Float[Tensor, "B 4 4"]
    focal: Float[Tensor, "B"]  # in shares of the picture's side; the axis goes through the middle


def camera(dice: Dice, rooms: Rooms, aim: Float[Tensor, "B 3"]) -> tuple[Tensor, Tensor, Tensor]:
    """A place at the near wall with a look at `aim`: position [B 3], axes [B 3 3] as columns, focal length [B]."""
    x = dice.uniform("camera x", -0.28, 0.28) * rooms.shell[:, 0]
    position = torch.stack(
        (x, -dice.uniform("camera y", 1.15, 1.75), dice.uniform("camera z", 0.3, 0.75)), -1
    )
    forward = _unit(aim - position)
    right = _unit(torch.stack((forward[:, 2], torch.zeros_like(x), -forward[:, 0]), -1))
    down = _cross(forward, right)
    cosine, sine = (part[:, None] for part in cosine_sine(dice.uniform("roll", -0.05, 0.05)))
    axes = torch.stack((cosine * right + sine * down, cosine * down - sine * right, forward), -1)
    return position, axes, dice.uniform("focal", 0.74, 0.95)


def _aim(dice: Dice, rooms: Rooms, *, clip: bool) -> Float[Tensor, "B 3"]:
    """What the camera looks at: the furnished side, in clips above the toy so that its motion stays in view."""
    if clip:
        x = rooms.place[:, TOY, 0] + dice.uniform("aim x", -0.25, 0.25)
        return torch.stack((x, -dice.uniform("aim y", 0.65, 0.9), rooms.place[:, TOY, 2]), -1)
    x = dice.uniform("aim x", -0.15, 0.15) * rooms.shell[:, 0] + 0.5 * _main(rooms)
    z = dice.uniform("aim z", 0.6, 0.75) * rooms.shell[:, 2]
    return torch.stack((x, -dice.uniform("aim y", 0.55, 1.05), z), -1)


def _main(rooms: Rooms) -> Float[Tensor, "B"]:
    """Where from left to right the first piece stands that the room is furnished with."""
    first = FIRST + rooms.present[:, FIRST:].int().argmax(1, keepdim=True)
    return rooms.place[..., 0].gather(1, first)[:, 0]


def shoot(dice: Dice, rooms: Rooms, frames: int) -> tuple[Camera, Rooms, Int[Tensor, "B"]]:
    """Cameras and rooms of every frame, [B x T], and the motion of every clip."""
    position, axes, focal = camera(dice, rooms, _aim(dice, rooms, clip=frames > 1))
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
    time = torch.arange(frames, device=step.device) - (frames - 1) / 2
    way = torch.zeros(len(step), frames, device=step.device)
    for row, label in enumerate(MOTIONS):
        if label.startswith(name):
            sign = -1.0 if label.endswith(("left", "out")) else 1.0
            way = torch.where((motion == row)[:, None], sign * step[:, None] * time, way)
    return way


def _move_toy(dice: Dice, rooms: Rooms, way: dict[str, Tensor], motion: Tensor, right: Tensor) -> Rooms:
    """The rooms of every frame: the toy slides along the camera's right, bounces or turns."""
    frames = way["slide"].shape[1]
    shots = {name: values.repeat_interleave(frames, 0) for name, values in vars(rooms).items()}
    level = _unit(right * torch.tensor([1.0, 0.0, 1.0], device=right.device))
    path = way["slide"][..., None] * level[:, None]
    jump = _jump(dice, frames) * (motion == MOTIONS.index("bounce"))[:, None]
    place, facing = shots["place"].clone(), shots["facing"].clone()
    place[:, TOY] += torch.stack((path[..., 0], jump, path[..., 2]), -1).flatten(0, 1)
    cosine, sine = (part.flatten() for part in cosine_sine(way["turn"]))
    before = shots["facing"][:, TOY]
    facing[:, TOY, 0] = before[:, 0] * cosine - before[:, 1] * sine
    facing[:, TOY, 1] = before[:, 1] * cosine + before[:, 0] * sine
    return replace(Rooms(**shots), place=place, facing=facing)


def _jump(dice: Dice, frames: int) -> Float[Tensor, "B T"]:
    """The height of a bouncing toy over the floor: parabolas."""
    beat = dice.uniform("bounce beat", 0.1, 0.16)[:, None] * torch.arange(frames, device=dice.key.device)
    beat = beat + dice.uniform("bounce start", 0.0, 1.0)[:, None]
    beat = beat - beat.floor()
    return dice.uniform("bounce height", 0.35, 0.7)[:, None] * 4 * beat * (1 - beat)


def _about_vertical(axes: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn vectors (the columns of axes) about the world's y: a positive angle turns z towards x, to the right."""
    x, y, z = axes.unbind(-2)
    return torch.stack((cosine * x + sine * z, y + 0 * cosine, cosine * z - sine * x), -2)


def _cross(first: Float[Tensor, "B 3"], second: Float[Tensor, "B 3"]) -> Float[Tensor, "B 3"]:
    """Step by step: torch.linalg.cross rounds differently from one kind of processor to the next."""
    (x, y, z), (u, v, w) = first.unbind(-1), second.unbind(-1)
    return torch.stack((y * w - z * v, z * u - x * w, x * v - y * u), -1)


def _unit(vector: Float[Tensor, "*S 3"]) -> Float[Tensor, "*S 3"]:
    x, y, z = vector.unbind(-1)
    return vector / (x * x + y * y + z * z).sqrt()[..., None]
