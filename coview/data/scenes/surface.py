"""What each pixel sees: point, normal, segment and material, from solids and the shell of the room around them."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.data.scenes.cast import FAR, Seen, directions, look, nearest, pack, unpack
from coview.data.scenes.layout import Rooms, Solids
from coview.data.scenes.motion import Camera
from coview.data.scenes.pieces import SEGMENTS
from coview.data.scenes.vector import Triple, dot, split, triple, unit

SHELL = ("wall", "floor", "ceiling")


@dataclass(frozen=True)
class Surface:
    """What pixels see, [S HW] each; solids are numbered, then come wall, floor and ceiling."""

    depth: Float[Tensor, "S HW"]
    number: Int[Tensor, "S HW"]
    ray: Triple  # through the pixel, in camera coordinates, z = 1
    local: Triple  # where the point is in the coordinates of its solid, in metres
    normal: Triple  # in camera coordinates
    segment: Int[Tensor, "S HW"]


def with_shell(rooms: Rooms, solids: Solids) -> Solids:
    """The solids, and three times the box that the room is: as wall, floor and ceiling."""
    width, height, length = rooms.shell.unbind(-1)
    nothing = torch.zeros_like(width)
    centre = torch.stack((nothing, -height / 2, length / 2), -1)[:, None].expand(-1, 3, -1)
    half = (rooms.shell / 2)[:, None].expand(-1, 3, -1)
    facing = torch.tensor([1.0, 0.0], device=width.device).expand(len(width), 3, 2)
    code = torch.full((len(width), 3), -1, device=width.device)
    segment = torch.tensor([SEGMENTS.index(name) for name in SHELL], device=width.device).expand_as(code)
    extra = (centre, half, facing, code, segment, code)
    return Solids(*(torch.cat(pair, 1) for pair in zip(vars(solids).values(), extra, strict=True)))


def surface(camera: Camera, solids: Solids, size: int) -> Surface:
    """Cast a ray through every pixel; the last three solids are the shell."""
    seen = look(camera, solids)
    ray = (*directions(size, camera.focal), torch.ones((), device=camera.focal.device))
    depth, number = unpack(nearest(seen, size, _shell(seen, ray)))
    count = seen.shape.shape[1]
    flat = (number + torch.arange(len(number), device=number.device)[:, None] * count).flatten()
    columns = [*seen.to_unit.flatten(2).unbind(-1), *seen.origin.unbind(-1), *seen.half.unbind(-1)]
    table = torch.stack([column.flatten() for column in columns])
    values = table.index_select(1, flat).view(-1, *number.shape)
    to_unit, origin, half = values[:9].unflatten(0, (3, 3)), values[9:12], values[12:]
    spot = triple(lambda k: origin[k] + depth * dot(split(to_unit[k], 0), ray))
    shape, segment = (
        part.flatten().index_select(0, flat).view_as(number) for part in (seen.shape, solids.segment)
    )
    slope = _slopes(spot, shape)
    normal = unit(triple(lambda k: dot(slope, split(to_unit[:, k], 0))))
    return Surface(depth, number, ray, triple(lambda k: spot[k] * half[k]), normal, segment)


def distances(camera: Camera, solids: Solids, size: int) -> Float[Tensor, "S HW"]:
    """The distance alone, FAR where nothing is: what a lamp sees, to cast shadows."""
    behind = torch.full((len(camera.focal), size * size), FAR, device=camera.focal.device)
    return nearest(look(camera, solids), size, behind)


def _shell(seen: Seen, ray: Triple) -> Float[Tensor, "S HW"]:
    """Packed distance to the walls, the floor and the ceiling, seen from inside."""
    to_unit, origin = seen.to_unit[:, -1], seen.origin[:, -1]
    ways = triple(lambda k: dot(split(to_unit[:, k, :, None], 1), ray))
    out = triple(lambda k: ways[k].reciprocal().abs() - ways[k].reciprocal() * origin[:, k, None])
    walls = torch.minimum(out[0], out[2])
    first = seen.shape.shape[1] - len(SHELL)
    level = out[1] < walls
    number = first + level * (2 - (ways[1] > 0).long())
    return pack(torch.minimum(walls, out[1]), number)


def _slopes(spot: Triple, shape: Int[Tensor, "S HW"]) -> Triple:
    """The outward direction in unit coordinates; of the shell (shape -1) the inward one."""
    x, y, z = spot
    a, b, c = x.abs(), y.abs(), z.abs()
    flat = (shape <= 0).float() * torch.where(shape < 0, -1.0, 1.0)
    on_x = ((a >= b) & (a >= c)).float() * flat
    on_y = ((b > a) & (b >= c)).float() * flat
    on_z = ((c > a) & (c > b)).float() * flat
    drum, ball = (shape == 1).float(), (shape == 2).float()
    lid = (b > (x * x + z * z).sqrt()).float() * drum
    side = drum - lid + ball
    return (
        on_x * x.sign() + side * x,
        on_y * y.sign() + lid * y.sign() + ball * y,
        on_z * z.sign() + side * z,
    )
