"""How rooms are furnished: for each room the slots that its furniture stands in."""

from dataclasses import dataclass
from typing import Literal

from coview.data.scenes.pieces import Span

Side = Literal["back", "left", "right", "front"]
HERE: Span = (0.0, 0.0)


@dataclass(frozen=True)
class Slot:
    """A place for a piece: at a side of the room (from the inside) or of an earlier slot's piece (outside, or on it).

    `along` runs from -1 to 1 on that side, towards the right and the far end; `gap` is in metres off the side.
    """

    piece: str
    side: Side = "back"
    along: Span = HERE
    gap: Span = HERE
    chance: float = 1.0
    turn: Span = (-0.04, 0.04)
    lift: Span = HERE
    beside: int | None = None  # the slot of this room that it stands beside
    on: int | None = None  # the slot of this room that it stands on
    hangs: bool = False  # `lift` counts down from the ceiling
    plan: int | None = None  # rooms are arranged to plan 0 or 1; None: in both


EVERYWHERE = (
    Slot("pendant", gap=(0.9, 2.6), along=(-0.75, 0.75), chance=0.6, hangs=True),
    Slot("floor lamp", "left", along=(0.2, 0.95), gap=(0.05, 0.3), chance=0.35),
    Slot("toy", gap=(1.9, 2.6), along=(-0.35, 0.35), chance=0.2, turn=(-3.0, 3.0)),
    Slot("rug", gap=(0.7, 1.8), along=(-0.3, 0.3), chance=0.45, turn=(-0.2, 0.2)),
    Slot("picture", "right", along=(0.0, 0.9), lift=(1.3, 1.7), chance=0.6),
    Slot("picture", along=(-0.9, 0.9), lift=(1.45, 1.8), chance=0.4),
    Slot("plant", "right", along=(0.85, 1.0), gap=(0.0, 0.1), chance=0.3),
    Slot("chair", "left", along=(-0.1, 0.6), gap=(0.05, 0.2), chance=0.2, turn=(-0.6, 0.6)),
    Slot("crate", "right", along=(0.1, 0.5), gap=(0.0, 0.2), chance=0.12, turn=(-0.4, 0.4)),
)
"""What any room may have, whatever it is for: none of it tells the class. Slots of a room count on from here."""

FIRST = len(EVERYWHERE)
LIGHTS = (0, 1)
TOY = 2


def _chairs(table: int, *places: tuple[Side, float]) -> tuple[Slot, ...]:
    """Chairs that face a table, most of them there."""
    loose = {"gap": (-0.2, 0.1), "turn": (-0.25, 0.25), "chance": 0.9}
    return tuple(Slot("chair", side, beside=table, along=(x - 0.1, x + 0.1), **loose) for side, x in places)


FURNISHED = {
    "bathroom": (
        Slot("bath", along=(-0.9, 0.2), plan=0),
        Slot("bath", "left", along=(0.3, 0.9), plan=1),
        Slot("sink", along=(0.5, 0.95)),
        Slot("toilet", "right", along=(0.2, 0.75), gap=(0.0, 0.05)),
        Slot("nightstand", "left", along=(0.0, 0.3), chance=0.3),
        Slot("wardrobe", "right", along=(-0.2, 0.1), chance=0.15),
    ),
    "bedroom": (
        Slot("bed", along=(-0.6, 0.4), plan=0),
        Slot("bed", "left", along=(0.1, 0.8), plan=1),
        Slot(
            "nightstand",
            "right",
            beside=FIRST,
            along=(0.75, 0.85),
            gap=(0.03, 0.12),
            turn=(-1.6, -1.5),
            chance=0.8,
        ),
        Slot("table lamp", on=FIRST + 2, gap=(0.05, 0.1), chance=0.6),
        Slot("wardrobe", "right", along=(0.1, 0.9), chance=0.6),
        Slot("desk", along=(0.5, 0.9), chance=0.3, plan=1),
    ),
    "classroom": (
        Slot("board", along=(-0.4, 0.4), lift=(0.85, 1.05)),
        *(
            Slot(
                "school desk",
                along=(x - 0.04, x + 0.04),
                gap=(gap, gap + 0.2),
                turn=(-0.12, 0.12),
                chance=0.85,
            )
            for gap in (0.8, 2.1)
            for x in (-0.85, 0.0, 0.85)
        ),
        Slot("bookcase", "left", along=(0.5, 0.9), chance=0.3),
    ),
    "conservatory": (
        Slot("planter", along=(-0.9, 0.1)),
        Slot("palm", along=(0.4, 0.9), gap=(0.1, 0.6), turn=(-0.7, 0.7)),
        Slot("plant", "left", along=(0.2, 0.5), turn=(-1.0, 1.0)),
        Slot("planter", "right", along=(0.0, 0.5), chance=0.8),
        Slot("armchair", along=(-0.3, 0.3), gap=(0.8, 1.6), turn=(-0.8, 0.8), chance=0.6, plan=0),
        Slot("round table", along=(-0.3, 0.3), gap=(0.9, 1.6), chance=0.6, plan=1),
    ),
    "dining room": (
        Slot("table", along=(-0.4, 0.4), gap=(1.0, 1.5), plan=0, turn=(-0.2, 0.2)),
        Slot("round table", along=(-0.4, 0.4), gap=(1.0, 1.5), plan=1),
        *_chairs(
            FIRST, ("front", -0.5), ("front", 0.5), ("back", -0.5), ("back", 0.5), ("left", 0), ("right", 0)
        ),
        *_chairs(FIRST + 1, ("front", 0), ("back", 0), ("left", 0), ("right", 0)),
        Slot("sideboard", along=(-0.6, 0.6), chance=0.5),
    ),
    "kitchen": (
        Slot("counter", along=(-0.8, 0.3), plan=0),
        Slot("counter", "left", along=(0.2, 0.8), plan=1),
        Slot("cupboard", along=(-0.8, 0.3), lift=(1.4, 1.5), plan=0, chance=0.85),
        Slot("cupboard", "left", along=(0.2, 0.8), lift=(1.4, 1.5), plan=1, chance=0.85),
        Slot("fridge", along=(0.75, 1.0)),
        Slot("round table", "right", along=(-0.1, 0.4), gap=(0.1, 0.5), chance=0.4),
        Slot("stool", beside=FIRST, side="front", along=(-0.6, 0.6), gap=(0.3, 0.7), chance=0.4),
    ),
    "library": (
        Slot("bookcase", along=(-1.0, -0.8)),
        Slot("bookcase", along=(-0.1, 0.1), chance=0.8),
        Slot("bookcase", along=(0.8, 1.0)),
        Slot("bookcase", "left", along=(0.1, 0.6), chance=0.6),
        Slot("armchair", along=(-0.6, 0.0), gap=(0.9, 1.6), turn=(-0.9, 0.9), chance=0.6),
        Slot("desk", along=(0.0, 0.6), gap=(1.0, 1.6), turn=(-0.3, 0.3), chance=0.4),
    ),
    "living room": (
        Slot("sofa", along=(-0.6, 0.6), plan=0),
        Slot("sofa", "left", along=(0.1, 0.8), plan=1),
        Slot("coffee table", "front", beside=FIRST, along=(-0.3, 0.3), gap=(0.3, 0.6)),
        Slot("sideboard", along=(0.2, 0.8), plan=1),
        Slot("television", on=FIRST + 3, gap=(0.1, 0.15), plan=1),
        Slot("armchair", "right", along=(0.2, 0.7), gap=(0.1, 0.5), turn=(-0.6, 0.6), chance=0.6),
        Slot("bookcase", along=(-1.0, -0.9), chance=0.25, plan=1),
    ),
    "office": (
        Slot("desk", along=(-0.8, 0.1), plan=0),
        Slot("desk", "left", along=(0.1, 0.7), plan=1),
        Slot("monitor", on=FIRST, along=(-0.5, 0.2), gap=(0.05, 0.15)),
        Slot("monitor", on=FIRST + 1, along=(-0.3, 0.4), gap=(0.05, 0.15)),
        Slot("office chair", "front", beside=FIRST, along=(-0.4, 0.1), gap=(-0.15, 0.3), turn=(-0.7, 0.7)),
        Slot(
            "office chair", "front", beside=FIRST + 1, along=(-0.4, 0.1), gap=(-0.15, 0.3), turn=(-0.7, 0.7)
        ),
        Slot("bookcase", along=(0.6, 1.0), chance=0.5),
        Slot("sideboard", "right", along=(0.0, 0.7), chance=0.4),
        Slot("table lamp", on=FIRST, along=(0.7, 0.9), gap=(0.1, 0.2), chance=0.5),
    ),
    "storeroom": (
        Slot("rack", along=(-0.9, -0.3)),
        Slot("rack", "left", along=(0.1, 0.7), chance=0.5),
        Slot("crate", along=(0.2, 0.5), gap=(0.0, 0.2), turn=(-0.3, 0.3)),
        Slot("crate", on=FIRST + 2, gap=(0.0, 0.1), turn=(-0.4, 0.4), chance=0.7),
        Slot("barrel", along=(0.75, 1.0), gap=(0.0, 0.3)),
        Slot("crate", "right", along=(0.0, 0.5), gap=(0.0, 0.3), turn=(-0.3, 0.3), chance=0.8),
        Slot("barrel", along=(-0.2, 0.4), gap=(0.9, 1.5), chance=0.5),
    ),
}

ROOMS = tuple(FURNISHED)
