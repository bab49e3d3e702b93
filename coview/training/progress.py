"""What a run says of itself: steps are noted on the device, looked at now and then, and logged as means."""

import math
import time
from collections.abc import Callable
from typing import Any

from torch import Tensor

from coview.data import Dataset
from coview.training.checkpoint import TrainingError, last_checkpoint
from coview.training.run import RunFolder
from coview.training.state import Training
from coview.types import Batch

Observer = Callable[[dict[str, Any]], None]


class Watch:
    """Notes steps without waiting for them; a report looks at them all, stops the run or logs their mean."""

    def __init__(self, training: Training, data: Dataset, run: RunFolder, observe: Observer | None) -> None:
        self.training, self.data, self.run, self.observe = training, data, run, observe
        self.notes: list[dict[str, Any]] = []
        self.clock = time.perf_counter()

    def note(self, batch: Batch, terms: dict[str, Tensor], rate: float, epoch: float) -> None:
        objective, present = self.training.objective, batch.present or {}
        self.notes.append(
            {
                "step": self.training.step,
                "epoch": epoch,
                "learning_rate": rate,
                "index": batch.index,
                "terms": terms,
                "bounds": objective.bounds(terms),
                "ceilings": dict(objective.ceilings),
                "bad": {name: _not_finite(view, present.get(name)) for name, view in batch.views.items()},
            }
        )

    def report(self, last: int) -> None:
        notes, self.notes = self.notes, []
        for note in notes:
            self._check_finite(note)
        now = time.perf_counter()
        samples = sum(len(note["index"]) for note in notes) * self.training.fabric.world_size
        row: dict[str, Any] = {name: notes[-1][name] for name in ("step", "epoch", "learning_rate")}
        for group in ("terms", "bounds", "ceilings"):
            row[group] = _mean_by_name([note[group] for note in notes])
        row |= {"loss": sum(row["terms"].values()), "rate": samples / (now - self.clock)}
        self.run.log(row)
        if self.observe is not None and self.run.write:
            self.observe({**row, "steps": last})
        self.clock = time.perf_counter()

    def _check_finite(self, note: dict[str, Any]) -> None:
        for name, bad in note["bad"].items():
            if bad.any():
                raise TrainingError(
                    f"view '{name}' of dataset '{self.data.name}' is not finite (NaN or infinite) at sample "
                    f"{int(note['index'][bad][0])}, met in step {note['step']}: mend the sample, or mark it as "
                    "missing in `present`"
                )
        for name, term in note["terms"].items():
            if not math.isfinite(float(term)):
                raise TrainingError(
                    f"the loss '{name}' is {float(term)} at step {note['step']}: training stops; last good checkpoint: "
                    f"{last_checkpoint(self.run.checkpoints) or 'none'}; try a lower learning_rate, clip=1.0, a warmup"
                )


def _not_finite(view: Tensor, have: Tensor | None) -> Tensor:
    """Which samples have a value that is no number; what is missing anyway does not count."""
    bad = ~view.isfinite().flatten(1).all(1)
    return bad if have is None else bad & have


def _mean_by_name(rows: list[dict[str, Any]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row)
    values = {name: [float(row[name]) for row in rows if name in row] for name in names}
    return {name: sum(found) / len(found) for name, found in values.items()}
