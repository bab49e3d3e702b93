"""Surface normals from depth: around each pixel the plane that fits best, wherever something was measured.

Of a plane the inverse depth is linear across the picture, so that a fit is a weighted regression in the window. Points
off the plane count little in the next fit: the window may reach over an edge, and depth may come in coarse steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

SLANT, NOISE = (
    0.02,
    0.005,
)  # of the depth: how much a pixel aside may differ, and how much a point on the plane may
LEAST = 0.15  # share of the window that must lie on the plane

Map = Float[Tensor, "B H W"]


@dataclass(frozen=True)
class Fit:
    """Of each pixel's plane the relative inverse depth: what it grows by to the right and down, and at the pixel."""

    across: Map
    down: Map
    level: Map
    share: Map  # of the window that lies on it, and 0 where no plane can be told


def normals(
    depth: Float[Tensor, "B 1 H W"],
    camera: Sequence[float],
    *,
    step: float = 0.0,
    radius: int | None = None,
    fits: int = 4,
) -> tuple[Float[Tensor, "B 3 H W"], Bool[Tensor, "B 1 H W"]]:
    """Unit normals towards the camera, x right, y down, z ahead, and where they are valid; elsewhere they are 0.

    `depth` is in metres, 0 where there is a hole; `camera` is fx, fy, cx and cy in pixels, the first pixel's middle at
    (0.5, 0.5). `step` is the distance in metres between depths that can be told apart: where it is coarse the window
    is wide, unless its `radius` in pixels is given.
    """
    seen = depth.squeeze(1).float()
    there = seen > 0
    inverse = torch.where(there, 1 / seen.clamp(min=1e-3), 0.0)
    radius = _radius(seen.shape[-1], coarse=step > 0) if radius is None else radius
    coarse = step * inverse
    fit = None
    for _ in range(fits):
        fit = _fit(inverse, coarse, fit, radius)
    assert fit is not None
    valid = there & (fit.share > LEAST)
    return _towards_camera(fit, camera).masked_fill(~valid[:, None], 0.0), valid[:, None]


def _radius(width: int, *, coarse: bool) -> int:
    """Of a window that is a 24th of the picture wide, or where depth is coarse a 15th."""
    return max(round(width / (30 if coarse else 48)), 2)


def _fit(inverse: Map, coarse: Map, before: Fit | None, radius: int) -> Fit:
    """The weighted regression in every window; points near the last fit count."""
    padded = functional.pad(inverse[:, None], [radius] * 4).squeeze(1)
    height, width = inverse.shape[-2:]
    known = inverse > 0
    scale = torch.where(known, 1 / inverse.clamp(min=1e-6), 0.0)
    sums, offsets = inverse.new_zeros(9, *inverse.shape), list(_offsets(radius))
    for down, across in offsets:
        other = padded[:, radius + down : radius + down + height, radius + across : radius + across + width]
        apart = other * scale - 1
        if before is None:
            reach = SLANT * max(abs(down), abs(across), 1) + coarse
            weight = (1 + (apart / reach).square()).reciprocal()
        else:
            off = apart - before.level - before.across * across - before.down * down
            weight = (1 + (off / (NOISE + 0.5 * coarse)).square()).reciprocal().square()
        weight = weight * (other > 0) * known
        _add(sums, weight, apart, across=across, down=down)
    return _solve(sums, len(offsets))


def _offsets(radius: int) -> Iterator[tuple[int, int]]:
    """Down and across, in a window of at most 11 x 11 points."""
    stride = max(round(radius / 5), 1)
    places = range(-(radius // stride) * stride, radius + 1, stride)
    return ((down, across) for down in places for across in places)


def _add(sums: Float[Tensor, "9 B H W"], weight: Map, apart: Map, *, across: int, down: int) -> None:
    """A point of every window to the moments that a regression needs."""
    told = weight * apart
    for number, (values, factor) in enumerate(
        [
            *((weight, one) for one in (1, across, down, across * across, across * down, down * down)),
            *((told, one) for one in (1, across, down)),
        ]
    ):
        sums[number].add_(values, alpha=factor)


def _solve(sums: Float[Tensor, "9 B H W"], points: int) -> Fit:
    total = sums[0].clamp(min=1e-6)
    x, y, xx, xy, yy, e, xe, ye = (one / total for one in sums[1:])
    xx, xy, yy, xe, ye = xx - x * x, xy - x * y, yy - y * y, xe - x * e, ye - y * e
    spread = xx * yy - xy * xy
    told = spread > 0.05 * (xx + yy).square()  # points along a line tell no plane
    spread = torch.where(told, spread, 1.0)
    across = torch.where(told, (yy * xe - xy * ye) / spread, 0.0)
    down = torch.where(told, (xx * ye - xy * xe) / spread, 0.0)
    return Fit(across, down, e - across * x - down * y, sums[0] / points * told)


def _towards_camera(fit: Fit, camera: Sequence[float]) -> Float[Tensor, "B 3 H W"]:
    fx, fy, cx, cy = camera
    height, width = fit.level.shape[-2:]
    x = torch.arange(width, device=fit.level.device) + 0.5 - cx
    y = (torch.arange(height, device=fit.level.device) + 0.5 - cy)[:, None]
    ahead = 1 + fit.level - fit.across * x - fit.down * y
    found = -torch.stack([fit.across * fx, fit.down * fy, ahead], 1)
    return functional.normalize(found, dim=1)
