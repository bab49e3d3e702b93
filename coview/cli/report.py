"""`coview report`: runs on one page, with samples to look at and what a probe takes for what."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from coview.cli.learned import hindrance
from coview.recipes.measure import features, open_run
from coview.reports.page import Part, Section, write_page
from coview.reports.runs import Run, compare, read_run, report_page
from coview.reports.widgets import Confusion
from coview.trained.confusion import confusion
from coview.trained.look import look

CLASSES = 40  # more make no table that can be read


def write_report(runs: Sequence[Path], out: Path, samples: int, console: Console) -> None:
    """Read the runs, look at what their encoders say, and write the page."""
    found = [read_run(run) for run in runs]
    looks: dict[Path, Sequence[Part]] = {}
    for run in found if samples else ():
        with console.status(f"Looking at {run.folder}"):
            looks[run.folder] = _looks(run, samples)
    write_page(out, report_page(found, looks))
    console.print(compare(found).rich())
    console.print(Text(f"Written: {out}"), soft_wrap=True)


def _looks(run: Run, samples: int) -> list[Part]:
    """Samples and confusion of a run; where it cannot be opened, a line that says why."""
    try:
        return [*_samples(run, samples), *_confusion(run)]
    except (ValueError, OSError, ImportError) as error:
        return [Section(f"Samples of {run.name}", f"There is nothing to look at: {error}")]


def _samples(run: Run, samples: int) -> list[Part]:
    found = look(run.folder, samples)
    words = (
        f"{len(found.names):,} samples to test on. Every dot is a sample in one view; click one to see whom it finds "
        "in the other views, among these."
    )
    return [Section(f"Samples of {run.name}", words), found]


def _confusion(run: Run) -> list[Part]:
    opened = open_run(run.folder)
    splits = {split: opened.recipe.data(split) for split in ("train", "test")}
    classes = splits["train"].classes
    if hindrance(splits) is not None or not 2 <= len(classes) <= CLASSES:
        return []
    found = features(opened.encoders, opened.recipe, splits, opened.recipe.probe_layer)
    counts = confusion(
        found["train"], found["test"], list(found["train"].values), len(classes), seed=opened.recipe.seed
    )
    right = 100 * np.trace(counts) / max(counts.sum(), 1)
    words = "A linear classifier on the frozen features of all views side by side, on samples to test on."
    table = Confusion(tuple(classes), tuple(tuple(map(int, row)) for row in counts), f"{right:.1f} % right")
    return [Section(f"Classes of {run.name}", words), table]
