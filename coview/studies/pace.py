"""How fast the runs of a study went so far, and from that how long the others may take: an estimate."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from coview.studies.job import Job, spell
from coview.training import describe

SAME_STEP = ("encoders", "views", "augment", "batch_size", "precision", "channels_last", "compile", "capture")


@dataclass(frozen=True)
class Pace:
    """What run folders say of speed."""

    jobs: tuple[Job, ...]
    steps: Mapping[Path, int]  # that were taken, by run folder
    rates: Mapping[Path, float]  # samples a second
    measures: Mapping[str, float]  # seconds of a measure

    def seconds_left(self, job: Job) -> float | None:
        """About how long a run still takes; None where no run like it has measured anything."""
        left = 0 if job.trained else (job.steps - self.steps.get(job.folder, 0)) * job.batch
        rate = self._rate(job) if left > 0 else 1.0
        wanted = [spell(one) for one in job.unmeasured().values()]
        known = [self.measures[one] for one in wanted if one in self.measures]
        if rate is None or (wanted and not known and left <= 0):
            return None
        return left / rate + sum(known)

    def _rate(self, job: Job) -> float | None:
        """Samples a second of the run itself, of other seeds of its row, or of runs with the same step."""
        same_row = [one for one in self.jobs if one.row is job.row]
        same_step = [one for one in self.jobs if one.row.way is job.row.way and shape(one) == shape(job)]
        for kin in ([job], same_row, same_step):
            if rates := [self.rates[one.folder] for one in kin if one.folder in self.rates]:
                return fmean(rates)
        return None


def read_pace(jobs: Sequence[Job]) -> Pace:
    """What the run folders of a study say by now."""
    histories = {job.folder: job.history() for job in jobs}
    steps = {folder: rows[-1]["step"] for folder, rows in histories.items() if rows}
    rates = {job.folder: rate for job in jobs if (rate := _measured(job, histories[job.folder])) is not None}
    took: dict[str, list[float]] = {}
    for job in jobs:
        result = job.result()
        for name, how in result.get("how", {}).items():
            took.setdefault(how, []).append(result["seconds"][name])
    return Pace(tuple(jobs), steps, rates, {how: fmean(found) for how, found in took.items()})


def _measured(job: Job, history: Sequence[Mapping[str, float]]) -> float | None:
    """Samples a second by the log of a run, or by the time of the whole, where it keeps no log."""
    if history:
        return usual_rate(history)
    seconds = job.result().get("trained", {}).get("seconds")
    return job.steps * job.batch / seconds if seconds else None


def usual_rate(history: Sequence[Mapping[str, float]]) -> float:
    """The median of what was logged, without the first row: the first steps are slow."""
    rates = [row["rate"] for row in history]
    return median(rates[1:] or rates)


def training_seconds(history: Sequence[Mapping[str, float]], batch_size: int) -> float:
    """The time that the logged steps took, over all the times that the run was taken up."""
    before = [0, *(row["step"] for row in history)]
    return sum(
        (row["step"] - last) * batch_size / row["rate"] for row, last in zip(history, before, strict=False)
    )


def shape(job: Job) -> str:
    """What decides the time of a step, and what is compiled."""
    return json.dumps([describe(getattr(job.recipe, name)) for name in SAME_STEP])
