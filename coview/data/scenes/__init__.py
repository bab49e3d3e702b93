"""The embedded dataset: rendered rooms with colour, depth, normals, segments and motion; nothing to download."""

from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.data.resident import Resident
from coview.data.scenes.dice import Dice
from coview.data.scenes.flow import flow
from coview.data.scenes.layout import furnish, solids
from coview.data.scenes.motion import MOTIONS, shoot
from coview.data.scenes.paint import colour
from coview.data.scenes.pieces import SEGMENTS
from coview.data.scenes.rooms import ROOMS
from coview.data.scenes.sensor import sense_colour, sense_depth, sense_normal
from coview.data.scenes.surface import surface, with_shell
from coview.types import Fields

__all__ = ["MOTIONS", "ROOMS", "SEGMENTS", "SPLITS", "render", "scenes"]

SPLITS = {"train": 0, "test": 2**32, "held-out": 2**33}  # where the scenes of a split begin
CHUNK = 32 * 64 * 64  # pixels rendered at a time, so that the working set stays in the cache


def render(
    index: Int[Tensor, "B"], *, seed: int = 0, size: int = 64, frames: int = 1, noise: bool = True
) -> Fields:
    """The scenes of these numbers, wherever and with whatever others they are rendered.

    rgb uint8 [B 3 H W]; depth float [B 1 H W], metres along the axis, 0: a hole; normal float [B 3 H W], unit length,
    x right, y down, z ahead; segment uint8 [B 1 H W]; room int64 [B]; intrinsics [B 3 3] with pixel middles at .5;
    pose [B 4 4] from the camera to the world; shell [B 3]: the room's width, height and length. The world has the
    floor at y = 0, the ceiling at -height, walls at x = -width/2 and width/2, z = 0 and length.

    Clips (frames > 1) have T after B in the fields of pixels and in pose, flow float [B T-1 2 H W] in pixels to the
    next frame, and motion int64 [B]. Without `noise`, depth and normals are the truth, without holes.
    """
    if size < 1 or frames < 1:
        raise ValueError(f"size and frames of scenes count from 1, but came as {size} and {frames}")
    step = max(1, CHUNK // (size * size * frames))
    chunks = [_chunk(part, seed, size, frames, noise) for part in index.split(step)]
    return {name: torch.cat([chunk[name] for chunk in chunks]) for name in chunks[0]}


@lru_cache(maxsize=4)
def scenes(
    split: str = "train", *, samples: int = 2000, size: int = 64, frames: int = 1, seed: int = 0
) -> Resident:
    """Rendered rooms as a dataset: the label is the room, and of clips (frames > 1) the motion."""
    if split not in SPLITS:
        raise ValueError(f"no split '{split}' of the scenes: choose one of {', '.join(SPLITS)}")
    rendered = render(torch.arange(samples) + SPLITS[split], seed=seed, size=size, frames=frames)
    fields = {
        name: rendered[name] for name in ("rgb", "depth", "normal", "segment", "flow") if name in rendered
    }
    if frames > 1:
        return Resident(f"scenes {split} clips", fields, rendered["motion"], MOTIONS)
    return Resident(f"scenes {split}", fields, rendered["room"], ROOMS)


def _chunk(index: Int[Tensor, "B"], seed: int, size: int, frames: int, noise: bool) -> Fields:
    """A few scenes at once."""
    dice = Dice(seed, index)
    rooms = furnish(dice, toy=frames > 1)
    camera, shots, motion = shoot(dice, rooms, frames)
    parts = with_shell(shots, solids(shots))
    seen = surface(camera, parts, size)
    picture = colour(dice, rooms, parts, camera, seen)
    depth, normal = seen.depth, seen.normal
    if noise:
        depth, normal, picture = (
            sense_depth(dice, seen, size),
            sense_normal(dice, seen),
            sense_colour(dice, picture),
        )
    pixels = {
        "rgb": (picture.clamp(0, 1) * 255 + 0.5).to(torch.uint8),
        "depth": depth[:, None],
        "normal": torch.stack(normal, 1),
        "segment": seen.segment[:, None].to(torch.uint8),
    }
    if frames > 1:
        pixels["flow"] = flow(camera, parts, seen, frames=frames, size=size)
    fields = {name: _unfold(values, len(index), size, frames) for name, values in pixels.items()}
    fields |= {
        "room": rooms.room,
        "shell": rooms.shell,
        "intrinsics": _intrinsics(camera.focal[::frames], size),
    }
    fields["pose"] = camera.pose if frames == 1 else camera.pose.unflatten(0, (len(index), frames))
    return fields | ({"motion": motion} if frames > 1 else {})


def _unfold(values: Tensor, count: int, size: int, frames: int) -> Tensor:
    """[B x T C HW] to [B T C H W], without T in pictures."""
    picture = values.unflatten(-1, (size, size))
    return picture if frames == 1 else picture.unflatten(0, (count, -1))


def _intrinsics(focal: Float[Tensor, "B"], size: int) -> Float[Tensor, "B 3 3"]:
    matrix = torch.eye(3, device=focal.device).repeat(len(focal), 1, 1)
    matrix[:, 0, 0] = matrix[:, 1, 1] = focal * size
    matrix[:, :2, 2] = size / 2
    return matrix
