"""`coview reproduce`: a study planned, run or resumed, and written as table, figure and record."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from coview.cli.live import LiveTraining
from coview.studies.at_once import serve, share_out
from coview.studies.carry_out import carry_out
from coview.studies.find import find_study, shipped_studies
from coview.studies.job import Job
from coview.studies.pace import Pace, read_pace
from coview.studies.plan import Plan, make_plan, slug
from coview.studies.study import Place
from coview.studies.table import failures_of, short_table, verdicts_of
from coview.studies.write import write_results
from coview.training import Stopped
from coview.training.machine import machine_name
from coview.training.progress import Observer


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the command line asks for."""

    study: str
    data: str | None = None
    root: Path | None = None
    seeds: str = ""
    rows: str | None = None
    protocol: str | None = None
    out: Path | None = None
    runs: Path = Path("runs")
    settings: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """The words of the command that asks for it."""
        given = {"--data-name": self.data, "--root": self.root, "--seeds": self.seeds, "--rows": self.rows}
        given |= {
            "--protocol": self.protocol,
            "--out": self.out,
            "--runs": self.runs if self.runs != Path("runs") else None,
        }
        words = [word for name, value in given.items() if value for word in (name, str(value))]
        words += [word for setting in self.settings for word in ("--set", setting)]
        return ["coview", "reproduce", self.study, *words]


def list_studies(console: Console) -> None:
    """Name the studies that ship, each with what it is to show."""
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, study in shipped_studies().items():
        grid.add_row(Text(name, style="bold"), Text(f"{study.claim} ({study.paper}; {study.data})"))
    console.print(grid)


def reproduce(
    wanted: Wanted, console: Console, *, only_plan: bool = False, at_once: int = 1, serving: bool = False
) -> int:
    """Say what will run, run what is left, and write what came out; 1 if a run failed, 130 or 75 if it was stopped."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ValueError("a study starts its own processes: leave torchrun out, and say --at-once 8")
    study = find_study(wanted.study)
    place = Place(
        data=wanted.data or study.data,
        root=wanted.root and str(wanted.root),
        runs=wanted.runs,
        protocol=wanted.protocol,
    )
    plan = make_plan(
        study, place, seeds=read_seeds(wanted.seeds), pattern=wanted.rows, settings=wanted.settings
    )
    if serving:
        serve(plan.jobs)
        return 0
    out = wanted.out or Path("results") / f"{slug(study.name)}-{slug(place.data)}"
    show_plan(plan, console)
    if only_plan:
        return 0
    return _run(plan, out, wanted, console, at_once)


def _run(plan: Plan, out: Path, wanted: Wanted, console: Console, at_once: int) -> int:
    command = shlex.join(wanted.command())

    def tell(text: str) -> None:
        console.print(Text(text), soft_wrap=True)

    def after() -> None:
        write_results(plan, out, command, figure=False)
        if plan.todo:
            pace = read_pace(plan.jobs)
            tell(f"{len(plan.todo)} to go, time {_about([pace.seconds_left(job) for job in plan.todo])}")

    stopped = None
    try:
        if at_once > 1:
            process = [sys.executable, "-m", *wanted.command(), "--serve"]
            share_out(plan.todo, process, min(at_once, len(plan.todo)), tell, after)
        else:
            carry_out(_numbered(plan.todo, tell), tell, lambda title: _watching(console, title), after)
    except KeyboardInterrupt:
        stopped = 130
    except Stopped as error:
        stopped = error.exit_code
        tell(str(error).replace("with --resume", "with the same command"))
    lines = write_results(plan, out, command)
    console.print(short_table(plan, lines).rich())
    for words, verdict in verdicts_of(plan, lines):
        tell(f"{words}: {verdict}")
    tell(f"Written: {out}/table.md, figure.png and result.json")
    if stopped is not None:
        return stopped
    return 1 if any(job.row.name in plan.chosen for job, _ in failures_of(plan)) else 0


def show_plan(plan: Plan, console: Console) -> None:
    """Every row with what will run for it, and how long that may take."""
    study, pace = plan.study, read_pace(plan.jobs)
    console.print(Text(f"{study.name}: {study.claim} ({study.paper})", style="bold"), soft_wrap=True)
    counts = study.samples(plan.place.data, plan.place.root)
    listing = ", ".join(f"{count:,} {split}" for split, count in counts.items())
    where = f" in {plan.place.root}" if plan.place.root else ""
    console.print(Text(f"Data: {plan.place.data}{where} ({listing})"), soft_wrap=True)
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    for title in ("row", "recipe", "epochs", "steps", "samples", "runs", "time left"):
        number = title in ("epochs", "steps", "samples")
        grid.add_column(title, justify="right" if number else "left", no_wrap=number)
    for row in plan.rows:
        jobs = [job for job in plan.jobs if job.row is row]
        if jobs:
            grid.add_row(*map(Text, _plan_row(jobs, pace, chosen=row.name in plan.chosen)))
    console.print(grid)
    console.print(Text(_time_left(plan.todo, pace)), soft_wrap=True)


def _plan_row(jobs: Sequence[Job], pace: Pace, *, chosen: bool) -> tuple[str, ...]:
    first, done = jobs[0], sum(job.done for job in jobs)
    epochs = str(first.recipe.epochs) if first.steps else "–"
    size = (f"{first.steps:,}", f"{first.steps * first.batch:,}") if first.steps else ("–", "–")
    seconds = [pace.seconds_left(job) for job in jobs if not job.done]
    left = "–" if not chosen else _about(seconds)
    name = first.origin["recipe"].partition("@")[0].rpartition("/")[2]
    name += "" if first.row.way.name == "contrast" else f", {first.row.way.name}"
    return first.row.name, name, epochs, *size, _state(jobs, done), left


def _state(jobs: Sequence[Job], done: int) -> str:
    """How many of a row's runs are done, begun and failed."""
    begun = sum(not job.done and job.folder.exists() for job in jobs)
    failed = sum("failed" in job.result() for job in jobs)
    parts = [f"{done} of {len(jobs)} done"] + ([f"{begun} begun"] if begun else [])
    return ", ".join(parts + ([f"{failed} failed"] if failed else []))


def _about(seconds: Sequence[float | None]) -> str:
    """A sum of times, of which some may not be known."""
    known = [one for one in seconds if one is not None]
    if not seconds:
        return "nothing"
    if not known:
        return "not known"
    return f"about {_duration(sum(known))}{' and more' if len(known) < len(seconds) else ''}"


def _time_left(todo: Sequence[Job], pace: Pace) -> str:
    if not todo:
        return "Nothing is left to run."
    seconds = [pace.seconds_left(job) for job in todo]
    basis = "an estimate by what was measured so far, without the first compilation"
    if all(one is None for one in seconds):
        basis = "no run like these has been measured on this machine: the first one will tell"
    runs = "1 run" if len(todo) == 1 else f"{len(todo)} runs"
    return f"{runs} to go on {machine_name()}, time {_about(seconds)} ({basis})."


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return (
        f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{timedelta(seconds=round(seconds, -2)) / timedelta(hours=1):.1f} h"
    )


def read_seeds(text: str) -> list[int]:
    """Seeds as they are given: 0,1,2."""
    try:
        return list(dict.fromkeys(int(one) for one in text.split(",") if one.strip()))
    except ValueError as error:
        raise ValueError(
            f"--seeds wants whole numbers with commas between them, as 0,1,2; got '{text}'"
        ) from error


def _numbered(jobs: Sequence[Job], tell: Callable[[str], None]) -> Iterator[Job]:
    for number, job in enumerate(jobs, start=1):
        tell(f"[{number}/{len(jobs)}] {job.name}, in {job.folder}")
        yield job


@contextmanager
def _watching(console: Console, title: str) -> Iterator[Observer]:
    with LiveTraining(console, title) as live:
        yield live.observe
