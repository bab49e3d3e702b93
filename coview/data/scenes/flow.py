"""Optical flow from geometry: where each pixel's point, carried by its solid, is seen in the next frame."""

import torch
from jaxtyping import Float
from torch import Tensor

from coview.data.scenes.cast import NEAR
from coview.data.scenes.layout import Solids
from coview.data.scenes.motion import Camera
from coview.data.scenes.surface import Surface
from coview.data.scenes.vector import dot, split, triple


def flow(camera: Camera, solids: Solids, seen: Surface, *, frames: int, size: int) -> Float[Tensor, "N 2 HW"]:
    """Pixels from every frame but the last of a clip to the next, [clips x (frames - 1)]."""
    count = solids.half.shape[1]
    shot = torch.arange(len(seen.depth), device=seen.depth.device).view(-1, frames)
    first, second = shot[:, :-1].flatten(), shot[:, 1:].flatten()
    table = torch.stack([*solids.centre.flatten(0, 1).unbind(-1), *solids.facing.flatten(0, 1).unbind(-1)])
    x, y, z = (part[first] for part in seen.local)

    def project(then: Tensor) -> tuple[Tensor, Tensor]:
        flat = (seen.number[first] + then[:, None] * count).flatten()
        u, v, w, cosine, sine = table.index_select(1, flat).view(-1, *x.shape)
        point = (u + cosine * x + sine * z, v + y, w + cosine * z - sine * x)
        pose = camera.pose[then, :, :, None]
        away = triple(lambda k: point[k] - pose[:, k, 3])
        right, down, ahead = triple(lambda k: dot(away, split(pose[:, :3, k], 1)))
        scale = (camera.focal[then] * size)[:, None] / ahead.clamp(min=NEAR)
        return right * scale, down * scale

    # Both by the same formula, so that what does not move has a flow of exactly 0.
    before, after = project(first), project(second)
    return torch.stack((after[0] - before[0], after[1] - before[1]), 1)
