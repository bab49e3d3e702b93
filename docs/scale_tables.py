"""Tables of scale.md and reliability.md, from what was measured: `python docs/refresh.py scale`."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from coview.bench.scale import (
    Machine,
    Plan,
    bank,
    messages,
    reach,
    samples_of,
    step,
    sweep,
    sweep_rates,
    talk,
    traffic,
)
from coview.encoders import imagenet_half
from coview.reports.tables import Table

RESULTS = Path(__file__).parents[1] / "results"
LINK_RATE, LINK_START = 50e9, 10e-6  # assumed: 400 Gbit/s for each GPU, and 10 microseconds a hop
MEMORY = 141e9  # bytes of an H200
SAMPLES, DEVICES = (10**6, 10**7, 10**8, 10**9, 10**10), (1, 8, 64, 1_024)
GB, MB = 1e9, 1e6


def read(name: str) -> Any:
    path = RESULTS / name
    return json.loads(path.read_text())


@cache
def h200() -> Machine:
    start, rate = sweep_rates(read("performance/h200-contrast.json")["contrast"], way="cudnn, captured")
    return Machine("H200", rate, start, LINK_RATE, LINK_START)


@cache
def plan() -> Plan:
    """Half-AlexNets at 224, as `coview bench step` measured them, without the sweeps that are in that time."""
    rows = read("performance/h200-step.json")["step"]
    took = next(
        row for row in rows if row["work"] == "half-AlexNets at 224" and row["way"] == "compiled, captured"
    )
    halves = [imagenet_half(channels, dim=128) for channels in (1, 2)]
    parameters = sum(one.numel() for half in halves for one in half.parameters())
    buffers = sum(one.numel() for half in halves for one in half.buffers())
    contrast = sweep(Plan(1_281_167), h200())
    return Plan(0, encoders=took["milliseconds"] / 1000 - contrast, parameters=parameters, buffers=buffers)


def of(samples: int, devices: int, **more: Any) -> Plan:
    return replace(plan(), samples=samples, devices=devices, **more)


def rates() -> Table:
    """What the model is told."""
    machine, about = h200(), read("scale/gloo.json")["rates"]
    cells = (
        ("sweep, TFLOP/s", machine.sweep_rate / 1e12, about["sweep_rate"] / 1e12),
        ("a sweep over nothing, ms", machine.sweep_start * 1e3, about["sweep_start"] * 1e3),
        ("link, GB/s", "50 (assumed)", about["link_rate"] / GB),
        ("a message, ms a hop", "0.01 (assumed)", about["link_start"] * 1e3),
        ("everything but the contrast, ms", plan().encoders * 1e3, "0"),
        ("numbers of the encoders, million", plan().parameters / 1e6, "0"),
    )
    return Table("", ("rate", "H200", "two CPU cores, gloo"), tuple((a, _n(b), _n(c)) for a, b, c in cells))


def one_device() -> Table:
    """The sweep of one direction on one H200; the last row is not among those that the rates were fitted to."""
    rows = read("performance/h200-contrast.json")["contrast"]
    grown = [row for row in rows if row["ratio"] is None and row["way"] == "cudnn, captured"]
    grown = [row for row in grown if row["work"].startswith("all ")]
    other = next(
        row for row in rows if row["work"] == "all 1,281,167" and row["way"] == "cudnn, float16, captured"
    )
    cells = []
    for row in [*grown, other]:
        said = 1e3 * sweep(Plan(samples_of(row), directions=1), h200())
        cells.append(
            (
                row["work"].removeprefix("all "),
                _n(row["milliseconds"]),
                _n(said),
                _percent(said, row["milliseconds"]),
            )
        )
    return Table("", ("N", "measured, ms", "model, ms", "off by"), tuple(cells))


def several() -> Table:
    """Steps of 1, 2 and 4 processes here."""
    cells = tuple(
        (
            row["processes"],
            f"{row['samples']:,}",
            row["bank"],
            _n(row["seconds"] * 1e3),
            _n(row["model"] * 1e3),
            _n(row["busy"] * 1e3),
            _n(row["model_busy"] * 1e3),
            f"{row['sent']:,} / {row['model_sent']:,}",
            f"{row['held'] / MB:.1f} / {row['model_held'] / MB:.1f}",
        )
        for row in read("scale/gloo.json")["steps"]
    )
    names = (
        "processes",
        "N",
        "bank",
        "step, ms",
        "model",
        "busy, ms",
        "model, ms",
        "bytes sent: counted / model",
        "bank, MB: held / model",
    )
    return Table("", names, cells)


def grown() -> Table:
    """Everything as candidates, from a million samples to ten thousand million."""
    cells = []
    for samples in SAMPLES:
        for devices in DEVICES:
            one = of(samples, devices)
            if samples < 100 * one.anchors:  # an epoch of a few steps
                continue
            held = bank(one, h200())
            fits = held < 0.8 * MEMORY
            cells.append(
                (
                    _power(samples),
                    f"{devices:,}",
                    f"{held / GB:,.2f}",
                    _n(1e3 * sweep(one, h200())) if fits else "does not fit",
                    _n(1e3 * talk(one, h200())),
                    _n(traffic(one) / MB),
                    _n(1e3 * step(one, h200())) if fits else "–",
                    _time(step(one, h200()) * samples / one.anchors) if fits else "–",
                )
            )
    names = (
        "N",
        "devices",
        "bank, GB a device",
        "sweeps, ms",
        "on the way, ms",
        "sent, MB",
        "step, ms",
        "epoch",
    )
    return Table("", names, tuple(cells))


def drawn() -> Table:
    """At most so many candidates that the sweeps take a tenth of the encoders' time."""
    most = reach(plan(), h200(), 0.1)
    cells = []
    for samples in SAMPLES[2:]:
        for devices in DEVICES[1:]:
            one = of(samples, devices, drawn=most)
            held = bank(one, h200())
            seconds = step(one, h200())
            cells.append(
                (
                    _power(samples),
                    f"{devices:,}",
                    f"{held / GB:,.2f}" if held < 0.8 * MEMORY else f"{held / GB:,.2f}: does not fit",
                    _n(1e3 * seconds),
                    f"{one.anchors / seconds:,.0f}",
                    _time(seconds * samples / one.anchors),
                )
            )
    return Table("", ("N", "devices", "bank, GB a device", "step, ms", "samples/s", "epoch"), tuple(cells))


def bends() -> Table:
    """How many candidates cost a tenth of the encoders, and as much as they do."""
    steps = read("performance/h200-step.json")["step"] + read("performance/h200-step-resnet50.json")["step"]
    cells = []
    for row in steps:
        if row["way"] == "compiled, captured" and "batch" not in row["work"]:
            one = Plan(0, encoders=row["milliseconds"] / 1e3)
            cells.append(
                (
                    row["work"],
                    _n(row["milliseconds"]),
                    *(f"{reach(one, h200(), share):,}" for share in (0.1, 1.0)),
                )
            )
    return Table("", ("step", "ms", "candidates for a tenth of it", "for as much again"), tuple(cells))


def parts() -> Table:
    """What travels in a step of eight devices, message by message."""
    one = of(10**9, 8)
    kinds: dict[str, tuple[int, float]] = {}
    for message in messages(one):
        count, sent = kinds.get(message.kind, (0, 0.0))
        kinds[message.kind] = count + 1, sent + message.sent(one.devices)
    words = {"gather": "all-gather", "scatter": "reduce-scatter", "reduce": "all-reduce", "send": "broadcast"}
    cells = tuple((words[kind], count, _n(sent / MB)) for kind, (count, sent) in kinds.items())
    return Table("", ("message", "in a step", "MB a device"), cells)


def fuzzed() -> Table:
    """Files by reader and engine, and what broke it at first."""
    runs = {
        name: {row["reader"]: row for row in read(f"fuzz/{name}.json")["readers"]}
        for name in ("edits", "atheris")
    }
    again = {
        name: {row["reader"]: row for row in read(f"fuzz/{name}-again.json")["readers"]} for name in runs
    }
    cells = []
    for reader in runs["edits"]:
        files = [_fuzzed(runs[name][reader], again[name].get(reader)) for name in runs]
        slowest = max(row[reader]["slowest"] for row in (*runs.values(), *again.values()) if reader in row)
        cells.append((reader, *files, f"{slowest:.1f}"))
    sums = [sum(row["files"] for row in (*runs[name].values(), *again[name].values())) for name in runs]
    return Table(
        "",
        ("reader", "files by edits", "files by atheris", "slowest, s"),
        (*cells, ("all", *(f"{one:,}" for one in sums), "")),
    )


def _fuzzed(first: dict[str, Any], again: dict[str, Any] | None) -> str:
    if first["fault"] is None and again is None:
        return f"{first['files']:,}"
    assert again is not None
    assert again["fault"] is None
    if first["fault"] is None:
        return f"{first['files'] + again['files']:,}"
    return f"a fault; mended, then {again['files']:,}"


def _n(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _percent(said: float, right: float) -> str:
    return f"{100 * (said / right - 1):+.0f} %"


def _power(samples: int) -> str:
    return f"10^{len(str(samples)) - 1}"


def _time(seconds: float) -> str:
    for size, unit in ((86_400 * 365, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} seconds"


TABLES: dict[str, dict[str, Callable[[], Table]]] = {
    "scale.md": {
        "rates": rates,
        "one device": one_device,
        "several": several,
        "grown": grown,
        "bends": bends,
        "drawn": drawn,
        "parts": parts,
    },
    "reliability.md": {"fuzzed": fuzzed},
}
