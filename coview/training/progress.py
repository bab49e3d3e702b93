"""What a run says of itself: steps are noted on the device, looked at now and then, and logged as means."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coview import processes
from coview.data import Dataset
from coview.training.checkpoint import TrainingError, last_checkpoint
from coview.training.run import RunFolder
from coview.training.state import Training
from coview.types import Sample

Observer = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Seen:
    """What a step leaves on the device, to be looked at later: P directed pairs, V views, B samples."""

    pairs: tuple[str, ...]
    terms: Float[Tensor, "P"]
    bounded: tuple[str, ...]  # the pairs whose losses can prove no more information than a ceiling
    ceilings: Float[Tensor, "Q"]
    views: tuple[str, ...]
    bad: Bool[Tensor, "V B"]  # whether a view is not finite
    index: Int[Tensor, "B"]

    def kept(self) -> "Seen":
        """A copy that the next step does not write over."""
        values = {name: getattr(self, name).clone() for name in ("terms", "ceilings", "bad", "index")}
        return replace(self, **values)


def note(training: Training, sample: Sample, terms: dict[str, Tensor], bad: Bool[Tensor, "V B"]) -> Seen:
    """What was seen in a step; what is missing anyway cannot be bad."""
    views, present = tuple(training.recipe.views), sample.present
    if present is not None:
        bad = torch.stack([row & present.get(name, row) for name, row in zip(views, bad, strict=True)])
    losses = torch.stack(list(terms.values()))
    found = training.objective.ceilings
    ceilings = [one if isinstance(one, Tensor) else losses.new_full((), one) for one in found.values()]
    high = torch.stack(ceilings) if ceilings else losses.new_zeros(0)
    return Seen(tuple(terms), losses, tuple(found), high, views, bad, sample.index)


class Watch:
    """Notes steps without waiting for them; a report looks at them all, stops the run or logs their mean."""

    def __init__(self, training: Training, data: Dataset, run: RunFolder, observe: Observer | None) -> None:
        self.training, self.data, self.run, self.observe = training, data, run, observe
        self.notes: list[dict[str, Any]] = []
        self.clock = time.perf_counter()

    def note(self, seen: Seen, rate: float, epoch: float) -> None:
        self.notes.append({"step": self.training.step, "epoch": epoch, "learning_rate": rate, "seen": seen})

    def report(self, last: int) -> None:
        notes, self.notes = [_read(note) for note in self.notes], []
        for note in notes:
            self._check_finite(note)
            note["bounds"] = self.training.objective.bounds(note["terms"], note["ceilings"])
        now = time.perf_counter()
        samples = sum(len(note["seen"].index) for note in notes) * self.training.fabric.world_size
        row: dict[str, Any] = {name: notes[-1][name] for name in ("step", "epoch", "learning_rate")}
        for group in ("terms", "bounds", "ceilings"):
            row[group] = _mean_by_name([note[group] for note in notes])
        row |= {"loss": sum(row["terms"].values()), "rate": samples / (now - self.clock)}
        self.run.log(row)
        if self.observe is not None and self.run.write:
            self.observe({**row, "steps": last})
        self.clock = time.perf_counter()

    def _check_finite(self, note: dict[str, Any]) -> None:
        seen = note["seen"]
        for name, rows in zip(seen.views, seen.bad, strict=True):
            if note["bad"][name]:
                raise TrainingError(
                    f"view '{name}' of dataset '{self.data.name}' is not finite (NaN or infinite) at sample "
                    f"{int(seen.index[rows][0])}, met in step {note['step']}: mend the sample, or mark it as "
                    "missing in `present`"
                )
        for name, term in note["terms"].items():
            if not math.isfinite(term):
                raise TrainingError(
                    f"the loss '{name}' is {term} at step {note['step']}: training stops; last good checkpoint: "
                    f"{last_checkpoint(self.run.checkpoints) or 'none'}; try a lower learning_rate, clip=1.0, a warmup"
                )


def _read(note: dict[str, Any]) -> dict[str, Any]:
    """A note with its numbers by name, of all processes, fetched from the device."""
    seen = note["seen"]
    terms, ceilings = (processes.mean(values).tolist() for values in (seen.terms, seen.ceilings))
    bad = seen.bad.any(1).tolist()
    by_pair = {
        "terms": dict(zip(seen.pairs, terms, strict=True)),
        "ceilings": dict(zip(seen.bounded, ceilings, strict=True)),
    }
    return {**note, **by_pair, "bad": dict(zip(seen.views, bad, strict=True))}


def _mean_by_name(rows: list[dict[str, Any]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row)
    values = {name: [float(row[name]) for row in rows if name in row] for name in names}
    return {name: sum(found) / len(found) for name, found in values.items()}
