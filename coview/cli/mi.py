"""`coview mi`: how much two views share, beside the curve of the training that found it."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from coview.files import write_text, write_whole
from coview.information import (
    INFONCE,
    MINE,
    NWJ,
    Estimate,
    Schedule,
    concatenated,
    estimate,
    interpolation,
    separable,
)
from coview.names import did_you_mean
from coview.recipes.material import Material, find_material
from coview.reports.information import estimate_curves
from coview.reports.tables import Table

CRITICS = {"separable": separable, "concatenated": concatenated}
BOUNDS = {"mine": MINE, "infonce": INFONCE, "nwj": NWJ, "interpolated": interpolation(0.5)}


@dataclass(frozen=True, kw_only=True)
class How:
    """How information is estimated, as the command line has it."""

    bound: str = "mine"
    critic: str = "separable"
    seeds: int = 3
    steps: int = Schedule.steps
    batch: int = Schedule.batch

    @classmethod
    def given(cls, **options: Any) -> "How":
        """With what was given, and the rest as it is by default."""
        return cls(**{name: value for name, value in options.items() if value is not None})

    def keywords(self) -> Mapping[str, Any]:
        """The same for `estimate`."""
        return {
            "bound": choice("--bound", self.bound, BOUNDS),
            "critic": choice("--critic", self.critic, CRITICS),
            "schedule": Schedule(steps=self.steps, batch=self.batch),
            "seeds": self.seeds,
        }


@dataclass(frozen=True, kw_only=True)
class Which:
    """Which samples and views are meant, as the command line has it."""

    name: str
    settings: tuple[str, ...] = ()
    part: str = "train"
    samples: int | None = None
    still: bool = False

    def material(self) -> Material:
        """The samples on the device, and their views."""
        return find_material(
            self.name, self.settings, part=self.part, samples=self.samples, augmented=not self.still
        )


def run_mi(which: Which, views: tuple[str, str], how: How, out: Path, console: Console) -> None:
    """Estimate, tell, and draw."""
    keywords = how.keywords()
    pairs = which.material().pairs(*views)
    first, second = views
    console.print(Text(f"{first} and {second}: {len(pairs):,} samples on {pairs.device} ...", style="dim"))
    found = estimate(pairs, **keywords)
    console.print(estimate_table(found, f"{which.name}: {first} and {second}").rich())
    for warning in found.warnings:
        console.print(Text(f"! {warning}", style="yellow"), soft_wrap=True)
    figure = estimate_curves(found, title=f"{which.name}: what {first} and {second} share")
    write_whole(out, lambda file: figure.savefig(file, format="png", dpi=144))
    write_text(out.with_suffix(".json"), json.dumps(record_of(found), indent=2) + "\n")
    console.print(Text(f"Written: {out} and {out.with_suffix('.json')}"), soft_wrap=True)


def record_of(found: Estimate) -> dict[str, Any]:
    """The estimate as plain values for JSON, which has no infinity."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in asdict(found).items()
    }


def estimate_table(found: Estimate, title: str) -> Table:
    """The estimate first, then other bounds by the same critics on the same pairs."""
    rows = [
        (found.bound, f"{found.nats:.3f} ± {found.spread:.3f}", f"{found.bits:.3f} ± {found.spread_bits:.3f}")
    ]
    rows += [(name, f"{nats:.3f}", f"{nats / math.log(2):.3f}") for name, nats in found.others.items()]
    note = (
        f"on {found.held_out:,} of {found.samples:,} samples, held out by each of {len(found.by_seed)} seeds"
    )
    known = f"{found.training:.2f} nats on as many that were learned from; ceiling {found.ceiling:.2f}"
    return Table(
        title, ("lower bound", "nats", "bits"), tuple(rows), f"{note}; {known}" if found.by_seed else ""
    )


def choice(option: str, name: str, known: Mapping[str, Any]) -> Any:
    """What a word of the command line stands for."""
    if name not in known:
        raise ValueError(f"{option} is one of {', '.join(known)}, got '{name}'{did_you_mean(name, known)}")
    return known[name]
