"""Which solid a pixel sees and how far off: rays are cast only in the tiles of the picture that a solid touches."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.data.scenes.layout import Solids
from coview.data.scenes.motion import Camera
from coview.data.scenes.vector import Triple, dot, split, triple

TILE = 8
NEAR = 0.05
FAR = 1e3
LOW_BITS = 0xFF  # the last bits of a distance hold the solid's number, which costs 0.03 mm per metre


@dataclass(frozen=True)
class Seen:
    """Solids as a camera sees them: `to_unit` takes directions to coordinates in which the solid is a unit one."""

    to_unit: Float[Tensor, "S P 3 3"]
    origin: Float[Tensor, "S P 3"]  # the camera, in the unit coordinates of the solid
    half: Float[Tensor, "S P 3"]
    shape: Int[Tensor, "S P"]
    focal: Float[Tensor, "S"]


def look(camera: Camera, solids: Solids) -> Seen:
    """Solids from where a camera stands."""
    axes, position = camera.pose[:, None, :3, :3], camera.pose[:, None, :3, 3]
    cosine, sine = solids.facing[..., 0, None], solids.facing[..., 1, None]
    rows = (
        cosine * axes[..., 0, :] - sine * axes[..., 2, :],
        axes[..., 1, :].expand(solids.half.shape),
        sine * axes[..., 0, :] + cosine * axes[..., 2, :],
    )
    to_unit = torch.stack(rows, -2) / solids.half[..., None]
    x, y, z = (position - solids.centre).unbind(-1)
    cosine, sine = solids.facing.unbind(-1)
    origin = torch.stack((cosine * x - sine * z, y, sine * x + cosine * z), -1) / solids.half
    return Seen(to_unit, origin, solids.half, solids.shape, camera.focal)


def nearest(seen: Seen, size: int, behind: Float[Tensor, "S HW"]) -> Float[Tensor, "S HW"]:
    """Distance along the axis to the nearest solid of each pixel, its number in the last bits; `behind` where none."""
    across = -(-size // TILE)
    buffer = _to_tiles(behind, size, across)
    for code, hit in enumerate((_box, _cylinder, _ellipsoid)):
        shot, number = (seen.shape == code).nonzero(as_tuple=True)
        to_unit, origin = seen.to_unit[shot, number], seen.origin[shot, number]
        focal = seen.focal[shot]
        which, row, column = _tiles(to_unit, origin, seen.half[shot, number], focal, size)
        ray = _rays(split(to_unit[which], -2), row, column, (focal * size)[which], size / 2)
        distance = hit(ray, split(origin[which], -1))
        rows = pack(distance, number[which]).view(TILE * TILE, -1).t().contiguous()
        target = (shot[which] * across + row) * across + column
        buffer.scatter_reduce_(0, target[:, None].expand_as(rows), rows, "amin")
    return _from_tiles(buffer, size, across)


def unpack(packed: Float[Tensor, "S HW"]) -> tuple[Float[Tensor, "S HW"], Int[Tensor, "S HW"]]:
    """Distance and number of the solid."""
    bits = packed.view(torch.int32)
    return (bits & ~LOW_BITS).view(torch.float32), bits & LOW_BITS


def pack(distance: Float[Tensor, "*S"], number: Int[Tensor, "*#S"]) -> Float[Tensor, "*S"]:
    """Distance with the number of the solid in its last bits, so that the smallest is the nearest."""
    return (distance.view(torch.int32) & ~LOW_BITS | number.int()).view(torch.float32)


def directions(size: int, focal: Float[Tensor, "S"]) -> tuple[Float[Tensor, "S HW"], Float[Tensor, "S HW"]]:
    """x and y of the ray through each pixel's middle, where z is 1."""
    steps = (torch.arange(size, device=focal.device) + 0.5 - size / 2) / (focal * size)[:, None]
    x = steps[:, None, :].expand(-1, size, -1)
    y = steps[:, :, None].expand(-1, -1, size)
    return x.flatten(1), y.flatten(1)


def _tiles(
    to_unit: Tensor, origin: Tensor, half: Tensor, focal: Tensor, size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The tiles that the bounding box of each solid touches: which solid, the tile's row, the tile's column."""
    across = -(-size // TILE)
    corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], device=half.device)] * 3)
    # The way back from unit coordinates: the axes are orthogonal, so the inverse is the transpose, scaled.
    back = to_unit * (half * half)[..., None]
    offset = corners[:, None] - origin
    x, y, z = triple(lambda j: dot(split(offset, -1), split(back[:, :, j], -1)))
    close = z.amin(0) < NEAR
    scale = focal * size / z.clamp(min=NEAR)
    bounds = []
    for side in (x, y):
        pixels = side * scale + size / 2
        first = pixels.amin(0).div(TILE).floor().clamp(0, across)
        last = pixels.amax(0).div(TILE).floor().clamp(-1, across - 1)
        bounds += [first.masked_fill(close, 0).long(), last.masked_fill(close, across - 1).long()]
    left, right, top, bottom = bounds
    width, height = (right - left + 1).clamp(min=0), (bottom - top + 1).clamp(min=0)
    count = width * height * (z.amax(0) > NEAR)
    which = torch.arange(len(count), device=half.device).repeat_interleave(count)
    step = torch.arange(len(which), device=half.device) - (count.cumsum(0) - count)[which]
    return which, top[which] + step // width[which], left[which] + step % width[which]


def _rays(rows: Triple, row: Tensor, column: Tensor, focal: Tensor, middle: float) -> Triple:
    """Directions in unit coordinates for the pixels of each tile, [row, column, pair]."""
    step = torch.arange(TILE, device=row.device)[:, None] + 0.5
    x = (column * TILE + step - middle) / focal
    y = (row * TILE + step - middle) / focal

    def coordinate(k: int) -> Tensor:
        u, v, w = rows[k].unbind(-1)
        return (u * x + w)[None] + (v * y)[:, None]

    return triple(coordinate)


def _slab(direction: Tensor, origin: Tensor) -> tuple[Tensor, Tensor]:
    """Where a ray comes into and out of -1 to 1 along one axis."""
    inverse = direction.reciprocal()
    middle = inverse * -origin
    inverse = inverse.abs_()
    return middle - inverse, middle.add_(inverse)


def _box(ray: Triple, origin: Triple) -> Tensor:
    spans = [_slab(direction, start) for direction, start in zip(ray, origin, strict=True)]
    near = torch.maximum(torch.maximum(spans[0][0], spans[1][0]), spans[2][0])
    far = torch.minimum(torch.minimum(spans[0][1], spans[1][1]), spans[2][1])
    return _entered(near, far)


def _round(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Where a t^2 + 2 b t + c falls below 0 and rises again; never: an empty span."""
    inside = b * b - a * c
    root = inside.clamp(min=0).sqrt_()
    near = ((-b) - root).div_(a).masked_fill_(inside < 0, FAR)
    return near, (root - b).div_(a)


def _cylinder(ray: Triple, origin: Triple) -> Tensor:
    (x, y, z), (u, v, w) = ray, origin
    near, far = _round(x * x + z * z, x * u + z * w, u * u + w * w - 1)
    low, high = _slab(y, v)
    return _entered(torch.maximum(near, low), torch.minimum(far, high))


def _ellipsoid(ray: Triple, origin: Triple) -> Tensor:
    near, far = _round(dot(ray, ray), dot(ray, origin), dot(origin, origin) - 1)
    return _entered(near, far)


def _entered(near: Tensor, far: Tensor) -> Tensor:
    """The distance to where a ray comes in; FAR where it misses, or starts inside or beyond."""
    return near.masked_fill_((near > far) | (near < NEAR), FAR)


def _to_tiles(picture: Tensor, size: int, across: int) -> Tensor:
    """[S HW] to [S x tiles, pixels of a tile]; pixels beyond the border are in front of everything."""
    padded = picture.new_zeros(len(picture), across * TILE, across * TILE)
    padded[:, :size, :size] = picture.view(-1, size, size)
    return padded.view(-1, across, TILE, across, TILE).transpose(2, 3).reshape(-1, TILE * TILE)


def _from_tiles(buffer: Tensor, size: int, across: int) -> Tensor:
    picture = buffer.view(-1, across, across, TILE, TILE).transpose(2, 3)
    return picture.reshape(-1, across * TILE, across * TILE)[:, :size, :size].reshape(-1, size * size)
