"""`coview bench`: rows as they are measured, then a table and, where wanted, a file of them."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from coview.bench import (
    Row,
    bench_contrast,
    bench_data,
    bench_flow,
    bench_probes,
    bench_step,
    describe_machine,
    table,
)
from coview.files import write_text
from coview.names import did_you_mean
from coview.recipes.measure import fastest_device

KINDS = ("contrast", "step", "data", "flow", "probes")
TITLES = {
    "contrast": "Exact softmax over all samples beside drawn negatives: 256 anchors, one direction, loss and gradient",
    "step": "A whole training step from pictures on the device",
    "data": "From JPEG files",
    "flow": "TV-L1 flow of rendered clips beside OpenCV's; the note is the mean endpoint error in pixels",
    "probes": "From features on the device to a probe's number",
}


def run_bench(
    what: str, file: Path | None, console: Console, *, only: Sequence[str] = (), ways: Sequence[str] = ()
) -> None:
    """Measure one kind of work, or all."""
    if what not in (*KINDS, "all"):
        raise ValueError(f"bench measures {', '.join(KINDS)} or all, got '{what}'{did_you_mean(what, KINDS)}")
    device = fastest_device()
    console.print(Text(f"Measuring on {device} ...", style="dim"))
    machine = describe_machine(device)
    measures: dict[str, Callable[[], Iterator[Row]]] = {
        "contrast": lambda: bench_contrast(device),
        "step": lambda: bench_step(device, only, ways),
        "data": lambda: bench_data(device),
        "flow": lambda: bench_flow(device),
        "probes": lambda: bench_probes(device),
    }
    found: dict[str, list[Row]] = {}
    for kind in KINDS if what == "all" else (what,):
        found[kind] = []
        for row in measures[kind]():
            found[kind].append(row)
            console.print(Text(_line(row), style="dim"), soft_wrap=True)
            if file is not None:  # what is measured is kept, whatever comes after
                write_text(file, json.dumps(_record(machine, found), indent=2) + "\n")
    if not any(found.values()):
        raise ValueError(f"no step has any of {list(only)} in its name and is one of the ways {list(ways)}")
    for kind, rows in found.items():
        console.print(table(rows, TITLES[kind], _words(machine)).rich())


def _record(machine: dict[str, Any], found: dict[str, list[Row]]) -> dict[str, Any]:
    return {"machine": machine, **{kind: [asdict(row) for row in rows] for kind, rows in found.items()}}


def _line(row: Row) -> str:
    rate = "" if row.images is None else f", {row.images:,.0f} images/s"
    return f"{row.work}, {row.way}: {row.milliseconds:.3g} ms{rate}"


def _words(machine: dict[str, Any]) -> str:
    return (
        f"{machine['device']}, {machine['cores']} cores, torch {machine['torch']}; "
        f"measured here: {machine['matrix_tflops']:.3g} TFLOP/s of matrix products, "
        f"{machine['bandwidth_gbs']:.3g} GB/s of copies"
    )
