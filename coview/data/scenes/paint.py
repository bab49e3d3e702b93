"""Colour: random palettes and textures, lamps with shadows, and the darkness of corners."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.data.scenes.dice import Dice
from coview.data.scenes.layout import PARTS, SLOTS, Rooms, Solids
from coview.data.scenes.motion import Camera
from coview.data.scenes.pieces import GLOW, SEGMENTS
from coview.data.scenes.rooms import LIGHTS
from coview.data.scenes.surface import Surface, distances
from coview.data.scenes.vector import Triple, dot, split, triple

SHADOW = 64  # pixels along the side of a lamp's view
WIDE = 0.22  # focal length of a lamp's view: 132 degrees
LIFT = 0.1  # metres that a point is lifted off its surface before it looks for its lamp
COLUMNS = 17


def colour(
    dice: Dice, rooms: Rooms, solids: Solids, camera: Camera, seen: Surface
) -> Float[Tensor, "S 3 HW"]:
    """The picture, from 0 to 1; `rooms` and `dice` have a row a scene, the others a row a shot."""
    frames = len(camera.focal) // len(rooms.room)
    table = materials(dice, solids.material[::frames])
    scene = torch.arange(len(seen.number), device=seen.number.device) // frames
    flat = (seen.number + scene[:, None] * table.shape[2]).flatten()
    paint = table.flatten(1).index_select(1, flat).view(COLUMNS, *seen.number.shape)
    pigment = _texture(paint, seen, camera)
    light = _light(dice, rooms, solids, camera, seen)
    glow = paint[16]
    channels = []
    for k in range(3):
        shone = pigment[k] * light[k] * (1 - glow) + glow * (0.6 + pigment[k]) * 2.0
        channels.append((1.55 * shone / (shone + 0.9)).sqrt())
    return torch.stack(channels, 1)


def materials(dice: Dice, material: Int[Tensor, "B P"]) -> Float[Tensor, "C B P"]:
    """What every solid is painted with, [columns scenes solids]: two colours and a pattern; class plays no part."""
    count = SLOTS * (GLOW + 1) + 3
    hue, saturation, value = _palette(dice, count)
    first = _rgb(hue, saturation, value)
    shifted = value * dice.uniform("second value", 0.45, 0.85, count)
    second = _rgb(hue + dice.uniform("second hue", -0.12, 0.12, count), saturation, shifted)
    columns = torch.stack((*first, *second, *_pattern(dice, count), *_grain_and_glow(dice, count)))
    slot = torch.arange(SLOTS, device=material.device).repeat_interleave(PARTS)
    shell = torch.arange(3, device=material.device) + SLOTS * (GLOW + 1)
    which = torch.cat((slot * (GLOW + 1) + material[:, : len(slot)], shell.expand(len(material), 3)), 1)
    return columns.gather(2, which.expand(COLUMNS, -1, -1))


def _palette(dice: Dice, count: int) -> Triple:
    """Hue, saturation and value of every material: hues near two of the scene, walls and ceiling pale."""
    base = dice.uniform("hue", 0.0, 1.0)[:, None]
    other = base + dice.uniform("contrast", 0.25, 0.75)[:, None]
    near = torch.where(dice.chance("side", 0.5, count), base, other)
    near = near + dice.uniform("near", -0.07, 0.07, count)
    hue = torch.where(dice.chance("stray", 0.35, count), dice.uniform("any", 0.0, 1.0, count), near)
    saturation = dice.uniform("saturation", 0.15, 0.85, count)
    value = dice.uniform("value", 0.3, 0.95, count)
    wall, floor, ceiling = range(count - 3, count)
    saturation[:, wall] *= 0.6
    saturation[:, floor] *= 0.8
    saturation[:, ceiling] *= 0.25
    value[:, wall] = 0.4 + 0.6 * value[:, wall]
    value[:, ceiling] = 0.7 + 0.3 * value[:, ceiling]
    return hue, saturation, value


def _rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Triple:
    """The usual conversion, then squared: from how a colour looks to how much light it gives."""

    def channel(k: int) -> Tensor:
        turn = hue + 1 - k / 3
        wave = ((turn - turn.floor()) * 6 - 3).abs() - 1
        pure = value * (1 - saturation * (1 - wave.clamp(0, 1)))
        return pure * pure

    return triple(channel)


def _pattern(dice: Dice, count: int) -> list[Tensor]:
    """Waves per metre and phase along three axes, how sharp, how wobbly, how strong: stripes, checks, marble, plain."""
    kind = dice.pick("kind", 5, count)
    checks, marble, plain = kind == 2, kind == 3, kind == 4
    axis = dice.pick("axis", 3, count)
    pace = dice.uniform("pace", 1.2, 5.0, count)
    waves, phases = [], []
    for k in range(3):
        on = (axis == k) | checks
        waves.append(pace * on.float())
        phases.append(torch.where(on, dice.uniform(f"phase {k}", 0.0, 1.0, count), 0.0))
    sharp = torch.where(marble, 1.0, dice.uniform("sharp", 2.0, 9.0, count))
    wobble = torch.where(marble, 0.9, dice.uniform("wobble", -0.4, 0.25, count).clamp(min=0))
    strong = torch.where(plain, 0.12, dice.uniform("strong", 0.4, 1.0, count))
    strong[:, -3:] *= torch.tensor([0.55, 0.8, 0.3], device=strong.device)
    return [*waves, *phases, sharp, wobble, strong]


def _grain_and_glow(dice: Dice, count: int) -> tuple[Tensor, Tensor]:
    """How cloudy a material is, and whether it shines by itself, as lampshades do."""
    glow = torch.zeros(len(dice.key), count, device=dice.key.device)
    glow[:, GLOW : SLOTS * (GLOW + 1) : GLOW + 1] = 1.0
    return dice.uniform("grain", 0.0, 0.2, count), glow


def _wave(phase: Tensor) -> Tensor:
    """A triangle wave between -1 and 1 of period 1; 1 at 0."""
    return (phase - phase.floor() - 0.5).abs() * 4 - 1


def _texture(paint: Tensor, seen: Surface, camera: Camera) -> list[Tensor]:
    """The two colours of each pixel's material, mixed by its pattern."""
    first, second, wave, phase = paint[0:3], paint[3:6], paint[6:9], paint[9:12]
    sharp, wobble, strong, grain = paint[12], paint[13], paint[14], paint[15]
    x, y, z = seen.local
    cloud = _wave(x * 1.3 + z * 0.8 + 0.35 * _wave(y * 1.7 - z * 1.1)) * _wave(
        y * 1.2 + z * 0.9 - 0.4 * _wave(x * 1.9 + y * 0.7)
    )
    product = 1.0
    finest = 0.0
    for k, along in enumerate(seen.local):
        on = (wave[k] > 0).float()
        product = product * (_wave(along * wave[k] + phase[k] + wobble * cloud * on) * sharp).clamp(-1, 1)
        finest = finest + wave[k]
    pixel = seen.depth / (camera.focal * seen.depth.shape[1] ** 0.5)[:, None]
    fade = (1.5 - 2.0 * finest * pixel).clamp(0, 1)
    share = (0.5 - 0.5 * product * fade) * strong
    cloud = 1 + grain * cloud
    return [(first[k] + (second[k] - first[k]) * share) * cloud for k in range(3)]


def _light(dice: Dice, rooms: Rooms, solids: Solids, camera: Camera, seen: Surface) -> Triple:
    """Light that falls on each pixel, by channel: from all around, a lamp at the ceiling, and one at the side."""
    frames = len(camera.focal) // len(rooms.room)
    power = dice.uniform("power", *_powers(seen.depth.device), 3)
    static = (_lamps(rooms), power, _tints(dice), rooms.shell)
    lamps, power, tint, shell = (values.repeat_interleave(frames, 0)[..., None] for values in static)
    point, normal = _to_world(camera, seen)
    corner = _corners(shell, point, normal)
    sky = (0.75 - 0.25 * normal[1]) * corner * power[:, 0]
    first, second = (_shine(split(lamps[:, k], 1), point, normal) * (0.4 + 0.6 * corner) for k in range(2))
    first = first * power[:, 1] * _shadow(lamps[:, 0], solids, point, normal)
    second = second * power[:, 2]
    return triple(lambda k: sky * tint[:, 0, k] + first * tint[:, 1, k] + second * tint[:, 2, k])


def _shine(lamp: Triple, point: Triple, normal: Triple) -> Tensor:
    """What a lamp of power 1 gives to a surface: less from the side and from afar."""
    way = triple(lambda k: lamp[k] - point[k])
    square = dot(way, way)
    return (dot(way, normal) / square.sqrt() * 0.85 + 0.15).clamp(min=0) / (1 + 0.22 * square)


def _powers(device: torch.device) -> tuple[Tensor, Tensor]:
    """The least and the most of the light from all around and of both lamps."""
    return torch.tensor([0.14, 2.2, 0.0], device=device), torch.tensor([0.32, 4.2, 0.8], device=device)


def _lamps(rooms: Rooms) -> Float[Tensor, "B 2 3"]:
    """The places of both lamps, which shine whether or not their piece is there to be seen."""
    place, size = rooms.place[:, LIGHTS, :], rooms.size[:, LIGHTS, :]
    up = place[..., 1] + size[..., 1] * torch.tensor([0.2, 0.9], device=size.device)
    return torch.stack((place[..., 0], -up, place[..., 2]), -1)


def _tints(dice: Dice) -> Float[Tensor, "B 3 3"]:
    """From warm to cold, of the sky and both lamps."""
    warm = dice.uniform("warm", -0.22, 0.22, 3)
    green = dice.uniform("green", -0.05, 0.05, 3)
    return torch.stack((1 + warm, 1 + green, 1 - warm), -1)


def _to_world(camera: Camera, seen: Surface) -> tuple[Triple, Triple]:
    """Points and normals in world coordinates."""
    pose = camera.pose[..., None]
    way = triple(lambda k: dot(split(pose[:, k, :3], 1), seen.ray))
    point = triple(lambda k: pose[:, k, 3] + way[k] * seen.depth)
    return point, triple(lambda k: dot(split(pose[:, k, :3], 1), seen.normal))


def _corners(shell: Float[Tensor, "S 3 1"], point: Triple, normal: Triple) -> Tensor:
    """How much of the surroundings a point near walls, floor and ceiling still sees."""
    width, height, length = shell.unbind(1)
    x, y, z = point
    u, v, w = (part.abs() for part in normal)
    share = torch.ones_like(x)
    for gap, own in (
        (width / 2 - x.abs(), u),
        (length / 2 - (z - length / 2).abs(), w),
        (-y, v),
        (height + y, v),
    ):
        # A surface does not darken itself: its own distance counts as far.
        room = gap.clamp(min=0) + own * 2
        share = share * ((room + 0.06) / (room + 0.2))
    return share


def _shadow(
    lamp: Float[Tensor, "S 3 1"], solids: Solids, point: Triple, normal: Triple
) -> Float[Tensor, "S HW"]:
    """Share of the lamp's light that gets to each point: looked up, smoothly, in the lamp's view straight down."""
    pose = torch.eye(4, device=lamp.device).repeat(len(lamp), 1, 1)
    pose[:, :3, :3] = torch.tensor([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]], device=lamp.device)
    pose[:, :3, 3:] = lamp
    focal = torch.full_like(lamp[:, 0, 0], WIDE)
    casts = solids.shape.masked_fill(solids.segment == SEGMENTS.index("lamp"), -1)
    opaque = Solids(solids.centre, solids.half, solids.facing, casts, solids.segment, solids.material)
    view = distances(Camera(pose, focal), opaque, SHADOW)
    x, y, z = triple(lambda k: point[k] + LIFT * normal[k] - lamp[:, k])
    below = y.clamp(min=0.05)
    column = (x / below * (WIDE * SHADOW) + (SHADOW / 2 - 0.5)).clamp(0, SHADOW - 1.001)
    row = (-z / below * (WIDE * SHADOW) + (SHADOW / 2 - 0.5)).clamp(0, SHADOW - 1.001)
    return _smooth(view, row, column, below - 0.02)


def _smooth(view: Float[Tensor, "S M"], row: Tensor, column: Tensor, beyond: Tensor) -> Float[Tensor, "S HW"]:
    """The share of the four pixels around a place in the lamp's view that see as far as `beyond`, by nearness."""
    left, top = column.floor(), row.floor()
    right, bottom = column - left, row - top
    start = (top * SHADOW + left).long()
    corners = (
        (0, (1 - right) * (1 - bottom)),
        (1, right * (1 - bottom)),
        (SHADOW, (1 - right) * bottom),
        (SHADOW + 1, right * bottom),
    )
    lit = torch.zeros_like(row)
    for step, weight in corners:
        lit = lit + weight * (view.gather(1, start + step) > beyond).float()
    return lit
