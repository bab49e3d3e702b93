"""What a step costs by samples and devices: seconds and bytes of each device, from a few measured rates."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

INDEX, NUMBER = 8, 4  # bytes of a sample's number, and of a number that travels
STATE = 1  # byte a row, beside its numbers


@dataclass(frozen=True)
class Machine:
    """The rates of a device and of the way between devices."""

    name: str
    sweep_rate: float  # FLOP/s of the sweep over the keys
    sweep_start: float  # seconds that a sweep takes over no keys
    link_rate: float  # bytes/s that a device sends
    link_start: float  # seconds of a message between two devices
    row_number: int = 2  # bytes of a number in the bank
    cores: float = math.inf  # devices that compute at the same time; more take turns


@dataclass(frozen=True)
class Plan:
    """A training: N samples on P devices, each with its part of the batch."""

    samples: int
    devices: int = 1
    batch: int = 256  # anchors of a device
    dim: int = 128
    views: int = 2
    directions: int = 2
    sharded: bool = True
    drawn: int | None = None  # candidates of an anchor; None: every sample
    encoders: float = 0.0  # seconds of everything but the contrast
    parameters: int = 0  # whose gradients are averaged
    buffers: int = 0  # numbers that the first process tells the others

    @property
    def anchors(self) -> int:
        """Of all devices."""
        return self.batch * self.devices


@dataclass(frozen=True)
class Message:
    """What all processes tell each other at once: how, and the bytes of the whole."""

    kind: str  # "gather", "scatter" (summed and dealt out), "reduce" (summed, for all), "send" (from the first to all)
    size: int

    def sent(self, devices: int) -> float:
        """Bytes that pass through a device, in a ring."""
        share = {"gather": 1, "scatter": 1, "reduce": 2, "send": 1}[self.kind] * (devices - 1) / devices
        return share * self.size


def messages(plan: Plan) -> list[Message]:
    """Everything that travels in a step, as the code sends it."""
    if plan.devices == 1:
        return []
    anchors, dim = plan.anchors, plan.dim
    index, rows = Message("gather", INDEX * anchors), Message("gather", NUMBER * anchors * dim)
    fetched = Message("scatter", NUMBER * anchors * (dim + 1))
    ask = [index, fetched, rows, Message("reduce", NUMBER * anchors), fetched]
    remember = [index, *[rows] * plan.views]
    learn = [Message("reduce", NUMBER * plan.parameters)] if plan.parameters else []
    follow = [Message("send", NUMBER * plan.buffers)] if plan.buffers else []
    return [*(ask * plan.directions if plan.sharded else []), *learn, *remember, *follow]


def traffic(plan: Plan) -> float:
    """Bytes that a device sends in a step."""
    return sum(one.sent(plan.devices) for one in messages(plan))


def bank(plan: Plan, machine: Machine) -> float:
    """Bytes of memory of the bank on a device."""
    held = math.ceil(plan.samples / plan.devices) if plan.sharded else plan.samples
    return plan.views * held * (plan.dim * machine.row_number + STATE)


def sweep(plan: Plan, machine: Machine) -> float:
    """Seconds of all sweeps of a step: as many products whether all ask a part of the keys, or a part of them all."""
    keys = plan.samples if plan.drawn is None else min(plan.drawn, plan.samples)
    operations = 4 * plan.batch * keys * plan.dim
    turns = max(1.0, plan.devices / machine.cores)
    return plan.directions * turns * (machine.sweep_start + operations / machine.sweep_rate)


def talk(plan: Plan, machine: Machine) -> float:
    """Seconds on the way between devices, if nothing is done meanwhile."""
    hops = math.log2(plan.devices) if plan.devices > 1 else 0.0
    return len(messages(plan)) * hops * machine.link_start + traffic(plan) / machine.link_rate


def step(plan: Plan, machine: Machine) -> float:
    """Seconds of a step, one thing after the other."""
    return plan.encoders + sweep(plan, machine) + talk(plan, machine)


def reach(plan: Plan, machine: Machine, share: float) -> int:
    """Candidates over which the sweeps take that share of the encoders' time."""
    seconds = share * plan.encoders / plan.directions - machine.sweep_start
    return max(int(seconds * machine.sweep_rate / (4 * plan.batch * plan.dim)), 0)


def fit_line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Start and seconds per unit of seconds = start + slope * units, with the least relative error; none below 0."""
    weights = [1 / seconds**2 for _, seconds in points]
    mean = _weighted([units for units, _ in points], weights)
    level = _weighted([seconds for _, seconds in points], weights)
    above = _weighted([(units - mean) * (seconds - level) for units, seconds in points], weights)
    slope = above / _weighted([(units - mean) ** 2 for units, _ in points], weights)
    return max(level - slope * mean, 0.0), slope


def sweep_rates(
    rows: Iterable[dict[str, Any]], *, way: str, anchors: int = 256, dim: int = 128
) -> tuple[float, float]:
    """Start, and FLOP/s, of a sweep, from what `coview bench contrast` measured of growing banks."""
    grown = [
        row for row in rows if row["ratio"] is None and row["way"] == way and row["work"].startswith("all ")
    ]
    points = [(4.0 * anchors * dim * samples_of(row), row["milliseconds"] / 1000) for row in grown]
    start, slope = fit_line(points)
    return start, 1 / slope


def samples_of(row: dict[str, Any]) -> int:
    """The N of a row: "all 1,281,167"."""
    return int(row["work"].removeprefix("all ").replace(",", ""))


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
