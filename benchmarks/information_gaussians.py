"""Estimates of information beside the truth, for Gaussians: `python benchmarks/information_gaussians.py`, minutes.

Written to results/information-gaussians; what is not within 10 % is in the table too.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from coview.files import write_text, write_whole
from coview.information import (
    Estimate,
    Schedule,
    TensorPairs,
    concatenated,
    estimate,
    gaussian_pairs,
    separable,
)
from coview.reports.look import FAINT, PALETTE, QUIET, blank_figure, house_look
from coview.reports.tables import Table

SAMPLES, SEEDS = 20_000, 2
SHORT = Schedule(steps=200, looks=5)
LONG = Schedule(steps=1500, looks=10)
BOUNDS = ("MINE", "InfoNCE", "NWJ", "interpolated 0.5")
STYLES: tuple[dict[str, Any], ...] = (
    {"color": PALETTE[0], "lw": 2.4, "alpha": 0.5},
    {"color": PALETTE[1], "lw": 1.2, "marker": "o", "ms": 3},
    {"color": PALETTE[2], "lw": 1.2, "ls": "--"},
    {"color": PALETTE[3], "lw": 1.2, "marker": "s", "ms": 2.5},
)


@dataclass(frozen=True)
class Case:
    """Gaussians, what is done to the second view, and how it is estimated."""

    group: str
    nats: float
    dimensions: int
    samples: int = SAMPLES
    schedule: Schedule = SHORT
    critic: Callable[..., Any] = separable
    keep: Callable[[Tensor], Tensor] = lambda view: view

    def run(self) -> Estimate:
        draw = torch.Generator().manual_seed(7)
        first, second = gaussian_pairs(self.nats, self.dimensions, self.samples, generator=draw)
        pairs = TensorPairs(first, self.keep(second))
        return estimate(pairs, critic=self.critic, schedule=self.schedule, seeds=SEEDS)


def turned(view: Tensor) -> Tensor:
    """An invertible linear map."""
    matrix = torch.randn(view.shape[1], view.shape[1], generator=torch.Generator().manual_seed(2))
    return view @ matrix * 40 - 3


def curved(view: Tensor) -> Tensor:
    """Each component is moved by the square of the one before it, which can be taken off again."""
    return torch.cat([view[:, :1], view[:, 1:] + view[:, :-1] ** 2], 1)


def cases() -> Iterator[Case]:
    for dimensions in (2, 5, 20):
        for nats in (0.5, 1.0, 2.0, 4.0, 6.0, 8.0):
            yield Case("grid", nats, dimensions)
    for dimensions in (2, 20):
        yield Case("independent", 0.0, dimensions)
    for name, keep in {"linear": turned, "exp": torch.exp, "cube": lambda view: view**3}.items():
        yield Case(f"second view through {name}", 2.0, 3, keep=keep)
    yield Case("second view curved", 2.0, 3, keep=curved, schedule=LONG)
    for samples in (1_000, 4_000, 16_000):
        yield Case("few samples", 8.0, 5, samples=samples, schedule=replace(SHORT, batch=256))
    plain = partial(separable, gaussian=False)
    for nats, dimensions in ((0.5, 2), (2.0, 2), (4.0, 2), (2.0, 5), (4.0, 5), (2.0, 20)):
        yield Case("networks alone", nats, dimensions, critic=plain, schedule=LONG)
    joint = partial(concatenated, gaussian=False, width=64)
    yield Case("networks alone, concatenated", 2.0, 2, critic=joint, schedule=replace(LONG, batch=128))


def row(case: Case, found: Estimate) -> tuple[Any, ...]:
    values = {found.bound: found.nats, **found.others}
    off = f"{100 * (found.nats / case.nats - 1):+.1f} %" if case.nats else None
    remark = "; ".join(warning.partition(":")[0] for warning in found.warnings) or None
    numbers = (f"{values[name]:.3f}" for name in BOUNDS)
    spread = f"{found.spread:.3f}"
    return case.group, f"{case.nats:g}", case.dimensions, found.held_out, *numbers, spread, off, remark


def table(done: list[tuple[Case, Estimate]], seconds: float) -> Table:
    titles = (
        "case",
        "truth",
        "dimensions",
        "held out",
        *BOUNDS,
        "spread of MINE",
        "MINE is off by",
        "remark",
    )
    note = (
        f"nats on held-out pairs, mean of {SEEDS} seeds, of which each holds out a quarter of the samples; "
        f"torch {torch.__version__}, {seconds / 60:.1f} minutes in all on one CPU core shared with others"
    )
    return Table(
        "Estimates for Gaussians of known information", titles, tuple(row(*one) for one in done), note
    )


@house_look
def figure(found: Table) -> Figure:
    """What each bound says against the truth; InfoNCE bends towards the log of what there is to choose from."""
    picture = blank_figure(9.6, 3.7)
    panels = picture.subplots(1, 3, sharey=True)
    picture.subplots_adjust(left=0.06, right=0.99, bottom=0.14, top=0.82, wspace=0.08)
    rows = [dict(zip(found.columns, one, strict=True)) for one in found.rows if one[0] == "grid"]
    for panel, dimensions in zip(panels, (2, 5, 20), strict=True):
        there = [one for one in rows if one["dimensions"] == dimensions]
        truth = [float(one["truth"]) for one in there]
        band = [0.9 * nats for nats in truth], [1.05 * nats for nats in truth]
        panel.fill_between(truth, *band, color=FAINT, lw=0, label="-10 % to +5 %")
        for name, style in zip(BOUNDS, STYLES, strict=True):
            panel.plot(truth, [float(one[name]) for one in there], label=name, **style)
        panel.axhline(
            math.log(there[0]["held out"] - 1), color=QUIET, ls=":", lw=1, label="log of the choices"
        )
        panel.set_title(f"{dimensions} dimensions", loc="left")
        panel.set_xlabel("true nats")
    panels[0].set_ylabel("nats on held-out pairs")
    lines, names = panels[0].get_legend_handles_labels()
    picture.legend(lines, names, ncols=6, loc="upper left", bbox_to_anchor=(0.05, 1.0), columnspacing=1.2)
    return picture


def main(out: Path) -> None:
    began, done = time.perf_counter(), []
    for case in cases():
        found = case.run()
        done.append((case, found))
        print(*row(case, found), flush=True)
        seconds = time.perf_counter() - began
        write_text(out / "table.md", table(done, seconds).markdown())
        record = [
            {"case": one.group, "truth": one.nats, "by_seed": e.by_seed, **_plain(e)} for one, e in done
        ]
        write_text(
            out / "result.json",
            json.dumps({"table": table(done, seconds).record(), "cases": record}, indent=1),
        )
    drawn = figure(table(done, seconds))
    write_whole(out / "figure.png", lambda file: drawn.savefig(file, format="png", dpi=144))


def _plain(found: Estimate) -> dict[str, Any]:
    return {
        "nats": found.nats,
        "others": dict(found.others),
        "training": found.training,
        "ceiling": found.ceiling,
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results/information-gaussians"))
