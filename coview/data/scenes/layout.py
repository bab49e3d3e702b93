"""From numbers of scenes to furnished rooms: what stands where, at which size."""

from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coview.data.scenes.dice import Dice, cosine_sine
from coview.data.scenes.furniture import PIECES
from coview.data.scenes.pieces import SEGMENTS, SHAPES
from coview.data.scenes.rooms import EVERYWHERE, FURNISHED, ROOMS, TOY, Slot

SIDES = {"back": (1.0, 0.0), "left": (0.0, -1.0), "right": (0.0, 1.0), "front": (-1.0, 0.0)}  # cosine, sine
SLOTS = max(len(EVERYWHERE) + len(slots) for slots in FURNISHED.values())
PARTS = max(len(piece.parts) for piece in PIECES.values())
SOLIDS = SLOTS * PARTS
NAMES = tuple(PIECES)
ROUNDS = 3  # a lamp on a nightstand beside a bed
CLEAR = 0.85  # pieces may come this near to each other, as a share of their size

Columns = dict[str, Tensor]


@dataclass(frozen=True)
class Rooms:
    """Furnished rooms. The world's x runs right, y down (floor 0, ceiling -height), z away from the camera's wall."""

    room: Int[Tensor, "B"]
    shell: Float[Tensor, "B 3"]  # width, height and length
    piece: Int[Tensor, "B S"]
    present: Bool[Tensor, "B S"]
    size: Float[Tensor, "B S 3"]
    place: Float[Tensor, "B S 3"]  # x, height of the foot over the floor, z
    facing: Float[Tensor, "B S 2"]  # cosine and sine of the turn about the vertical


@dataclass(frozen=True)
class Solids:
    """The parts of all pieces: unit boxes, cylinders and balls that were scaled, turned about y and moved."""

    centre: Float[Tensor, "B P 3"]
    half: Float[Tensor, "B P 3"]
    facing: Float[Tensor, "B P 2"]
    shape: Int[Tensor, "B P"]  # -1: not there
    segment: Int[Tensor, "B P"]
    material: Int[Tensor, "B P"]


def furnish(dice: Dice, *, toy: bool) -> Rooms:
    """Draw rooms; `toy` puts the toy that clips move into every one."""
    device = dice.key.device
    room = dice.pick("room", len(ROOMS))
    slots = {name: column[room] for name, column in _slots(device).items()}
    span = _pieces(device)[slots["piece"]]
    size = dice.uniform("size", span[..., 0], span[..., 1], SLOTS, 3)
    low, high = torch.tensor([[3.2, 2.3, 4.3], [4.5, 2.8, 5.3]], device=device)
    shell = dice.uniform("shell", low, high, 3)
    present = dice.chance("present", slots["chance"], SLOTS)
    present &= (slots["plan"] < 0) | (slots["plan"] == dice.pick("plan", 2)[:, None])
    present[:, TOY] |= toy
    place, facing = _arrange(dice, slots, size, shell)
    rooms = Rooms(room, shell, slots["piece"], present, size, place, facing)
    return _mirror(_thin_out(rooms, slots["parent"]), dice.chance("mirror", 0.5))


def solids(rooms: Rooms) -> Solids:
    """The parts that the pieces are made of."""
    parts = {name: column[rooms.piece] for name, column in _parts(rooms.room.device).items()}
    unit = rooms.size[:, :, None] * torch.tensor([0.5, 1.0, 0.5], device=rooms.size.device)
    half, local = parts["half"] * unit, parts["centre"] * unit
    cosine, sine = rooms.facing[:, :, None, 0], rooms.facing[:, :, None, 1]
    x = rooms.place[:, :, None, 0] + cosine * local[..., 0] + sine * local[..., 2]
    y = -(rooms.place[:, :, None, 1] + local[..., 1])
    z = rooms.place[:, :, None, 2] - sine * local[..., 0] + cosine * local[..., 2]
    facing = rooms.facing[:, :, None].expand(-1, -1, PARTS, -1)
    shape = parts["shape"].masked_fill(~rooms.present[:, :, None], -1)
    columns = (torch.stack((x, y, z), -1), half, facing, shape, parts["segment"], parts["material"])
    return Solids(*(column.flatten(1, 2) for column in columns))


def _arrange(dice: Dice, slots: Columns, size: Tensor, shell: Tensor) -> tuple[Tensor, Tensor]:
    """Place and facing of every piece, in rounds: what stands on or beside a piece comes after it."""
    drawn = {
        name: dice.uniform(name, slots[name][..., 0], slots[name][..., 1], SLOTS)
        for name in ("along", "gap", "lift", "turn")
    }
    place = torch.stack((torch.zeros_like(shell[:, 0]), torch.zeros_like(shell[:, 0]), shell[:, 2] / 2), -1)
    place = place[:, None].expand(-1, SLOTS, -1)
    facing = torch.tensor([1.0, 0.0], device=shell.device).expand(len(shell), SLOTS, 2)
    parent, child = slots["parent"].clamp(min=0), slots["parent"] >= 0
    extent = torch.where(child[..., None], _take(size, parent), shell[:, None])
    start, heading = place, facing
    for _ in range(ROUNDS):
        origin = torch.where(child[..., None], _take(place, parent), start)
        axes = torch.where(child[..., None], _take(facing, parent), heading)
        place, facing = _stand(slots, drawn, size, extent, origin, axes, shell[:, 1:2])
    return place, facing


def _stand(slots, drawn, size, extent, origin, axes, height) -> tuple[Tensor, Tensor]:
    """Put every piece at its side of what it refers to: `extent`, `origin` and `axes` of the room or of a piece."""
    cosine, sine = slots["side"].unbind(-1)
    half = (extent * 0.5).unbind(-1)
    reach = cosine.abs() * half[2] + sine.abs() * half[0]
    slack = cosine.abs() * half[0] + sine.abs() * half[2]
    outside = slots["outside"]
    distance = reach + outside * (drawn["gap"] + size[..., 2] / 2)
    slack = (slack - (outside < 0) * size[..., 0] / 2).clamp(min=0)
    across = drawn["along"] * slack
    x = sine * distance + cosine.abs() * across
    z = cosine * distance + sine.abs() * across
    turned_x = axes[..., 0] * x + axes[..., 1] * z
    turned_z = axes[..., 0] * z - axes[..., 1] * x
    foot = drawn["lift"] + slots["on"] * (origin[..., 1] + extent[..., 1])
    foot = foot + slots["hangs"] * (height - size[..., 1])
    place = torch.stack((origin[..., 0] + turned_x, foot, origin[..., 2] + turned_z), -1)
    return place, _turn(_turn(axes, slots["side"]), torch.stack(cosine_sine(drawn["turn"]), -1))


def _turn(first: Float[Tensor, "*S 2"], second: Float[Tensor, "*S 2"]) -> Float[Tensor, "*S 2"]:
    """The cosine and sine of the sum of two angles."""
    cosine = first[..., 0] * second[..., 0] - first[..., 1] * second[..., 1]
    sine = first[..., 1] * second[..., 0] + first[..., 0] * second[..., 1]
    return torch.stack((cosine, sine), -1)


def _thin_out(rooms: Rooms, parent: Int[Tensor, "B S"]) -> Rooms:
    """Take away what runs into a piece that matters more, and what stood on or beside what was taken away."""
    slot = torch.arange(SLOTS, device=parent.device)
    rank = torch.where(slot < len(EVERYWHERE), slot + SLOTS, slot)  # what any room may have yields
    rank[TOY] = -1
    meet = _meet(rooms) & (rank[None, :] < rank[:, None]) & (parent[:, :, None] != slot)
    present = rooms.present & ~(meet & rooms.present[:, None]).any(-1)
    for _ in range(ROUNDS):
        present = present & ((parent < 0) | present.gather(1, parent.clamp(min=0)))
    return replace(rooms, present=present)


def _meet(rooms: Rooms) -> Bool[Tensor, "B S S"]:
    """Which pieces run into each other, by the upright boxes around them."""
    cosine, sine = rooms.facing.abs().unbind(-1)
    width, height, depth = rooms.size.unbind(-1)
    x = (cosine * width + sine * depth) * (CLEAR / 2)
    z = (sine * width + cosine * depth) * (CLEAR / 2)
    low = rooms.place + torch.stack((-x, torch.full_like(x, 0.03), -z), -1)
    high = rooms.place + torch.stack((x, height - 0.03, z), -1)
    return ((low[:, :, None] < high[:, None]) & (low[:, None] < high[:, :, None])).all(-1)


def _mirror(rooms: Rooms, swap: Bool[Tensor, "B"]) -> Rooms:
    """Exchange left and right in some of the rooms."""
    sign = 1.0 - 2.0 * swap.float()[:, None]
    place, facing = rooms.place.clone(), rooms.facing.clone()
    place[..., 0] *= sign
    facing[..., 1] *= sign
    return replace(rooms, place=place, facing=facing)


def _take(values: Float[Tensor, "B S C"], slot: Int[Tensor, "B S"]) -> Float[Tensor, "B S C"]:
    return values.gather(1, slot[..., None].expand(-1, -1, values.shape[-1]))


@lru_cache
def _pieces(device: torch.device) -> Float[Tensor, "N 3 2"]:
    """The span of width, height and depth of every kind of piece."""
    return torch.tensor([piece.size for piece in PIECES.values()], device=device)


@lru_cache
def _parts(device: torch.device) -> Columns:
    """The parts of every kind of piece, [N PARTS ...], by column."""
    columns = {
        "centre": torch.zeros(len(PIECES), PARTS, 3),
        "half": torch.ones(len(PIECES), PARTS, 3),
        "shape": torch.full((len(PIECES), PARTS), -1),
        "segment": torch.zeros(len(PIECES), PARTS, dtype=torch.long),
        "material": torch.zeros(len(PIECES), PARTS, dtype=torch.long),
    }
    for row, piece in enumerate(PIECES.values()):
        for column, part in enumerate(piece.parts):
            spans = torch.tensor((part.x, part.y, part.z))
            columns["centre"][row, column] = spans.sum(1) / 2
            columns["half"][row, column] = (spans[:, 1] - spans[:, 0]) / 2
            columns["shape"][row, column] = SHAPES.index(part.shape)
            columns["segment"][row, column] = SEGMENTS.index(part.segment or piece.segment)
            columns["material"][row, column] = part.material
    return {name: column.to(device) for name, column in columns.items()}


@lru_cache
def _slots(device: torch.device) -> Columns:
    """The slots of every room, [ROOMS SLOTS ...], by column; empty ones have chance 0."""
    rows = [(*EVERYWHERE, *slots) for slots in FURNISHED.values()]
    rows = [(*row, *[Slot("rug", chance=0.0)] * (SLOTS - len(row))) for row in rows]

    def column(read) -> Tensor:
        return torch.tensor([[read(slot) for slot in row] for row in rows], device=device)

    return {
        "piece": column(lambda slot: NAMES.index(slot.piece)),
        "side": column(lambda slot: SIDES[slot.side]),
        "along": column(lambda slot: slot.along),
        "gap": column(lambda slot: slot.gap),
        "lift": column(lambda slot: slot.lift),
        "turn": column(lambda slot: slot.turn),
        "chance": column(lambda slot: slot.chance),
        "plan": column(lambda slot: -1 if slot.plan is None else slot.plan),
        "hangs": column(lambda slot: float(slot.hangs)),
        "on": column(lambda slot: float(slot.on is not None)),
        "outside": column(lambda slot: -1.0 if slot.beside is None else 1.0),
        "parent": column(lambda slot: next((p for p in (slot.on, slot.beside) if p is not None), -1)),
    }
