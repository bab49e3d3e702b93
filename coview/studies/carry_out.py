"""Runs or resumes what a study has left to do; a run that fails is written down, and the others go on."""

import gc
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch

from coview.recipes.measure import open_run
from coview.studies.job import Job, spell
from coview.studies.pace import shape, training_seconds, usual_rate
from coview.studies.subject import Subject
from coview.training import Stopped
from coview.training.checkpoint import checkpoints
from coview.training.progress import Observer
from coview.training.state import build_encoders

Tell = Callable[[str], None]
Watch = Callable[[str], AbstractContextManager[Observer | None]]
"""Opens a display under a title, and gives what training is to tell it."""


def carry_out(jobs: Iterable[Job], tell: Tell, watch: Watch, after: Callable[[], None]) -> None:
    """Every run in turn; `after` is called when one is over, whichever way it ended."""
    before = None
    for job in jobs:
        if job.recipe.compile and before is not None and shape(job) != before:
            torch._dynamo.reset()  # it keeps few variants of a function, and then compiles none
        before = shape(job)
        try:
            if "failed" in job.result():
                job.note(failed=None)
            train(job, watch)
            measure(job, tell)
        except Stopped:  # whoever asked means all of them
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            job.folder.mkdir(parents=True, exist_ok=True)
            job.note(failed=reason)
            tell(f"{job.name} failed, the others go on: {reason}")
        free()
        after()


def train(job: Job, watch: Watch) -> None:
    """Fill the run folder, unless it is full."""
    if job.trained:
        return
    began = time.perf_counter()
    with watch(job.name) as observe:
        job.row.way.make(job.recipe, job.folder, job.origin, observe)
    took = time.perf_counter() - began
    for old in checkpoints(job.folder / "checkpoints")[:-1]:
        old.unlink()  # it was kept in case that the last one breaks off
    job.note(trained=account(job, took))


def account(job: Job, took: float) -> dict[str, Any]:
    """What a finished training took: by its log, which knows of the times before an interruption."""
    history, encoders = job.history(), build_encoders(job.recipe)
    found: dict[str, Any] = {"parameters": sum(one.numel() for one in encoders.parameters())}
    if job.steps:
        found |= {"steps": job.steps, "epochs": job.recipe.epochs, "seconds": took}
    if history:
        seconds = training_seconds(history, job.batch)
        found |= {"seconds": seconds, "rate": usual_rate(history)}
    return found


def measure(job: Job, tell: Tell) -> None:
    """Take every measure that is not taken yet, and keep each as soon as it is there."""
    missing = job.unmeasured()
    if not missing:
        return
    subject = Subject(open_run(job.folder, job.recipe), job.folder)
    for name, one in missing.items():
        began = time.perf_counter()
        value = one(subject)
        result = job.result()
        news = {"measured": value, "how": spell(one), "seconds": time.perf_counter() - began}
        job.note(**{group: {**result.get(group, {}), name: new} for group, new in news.items()})
        tell(f"{job.name}: {name} {_show(value)}")


def free() -> None:
    """Give back what the last run held on the device."""
    if torch.cuda.is_available():
        gc.collect()
        torch.cuda.empty_cache()


def _show(value: Any) -> str:
    if isinstance(value, int | float):
        return f"{value:.2f}"
    return ", ".join(f"{name} {number:.2f}" for name, number in value.items())
