"""`coview report`: runs on one page, with samples to look at and what a probe takes for what."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from rich.console import Console
from rich.text import Text

from coview.cli.learned import hindrance
from coview.recipes.measure import features, open_run
from coview.recipes.segmenting import Reading, read_segments
from coview.reports.page import Part, Picture, Section, write_page
from coview.reports.runs import Run, compare, read_run, report_page
from coview.reports.segments import segment_sheet
from coview.reports.widgets import Confusion
from coview.trained.confusion import confusion
from coview.trained.look import look

CLASSES = 40  # more make no table that can be read
FRAMES = 6  # that segments are shown in


def write_report(
    runs: Sequence[Path], out: Path, console: Console, *, samples: int = 200, epochs: int = 0
) -> None:
    """Read the runs, look at what their encoders say, and write the page; `epochs`: of decoders of segments."""
    found = [read_run(run) for run in runs]
    looks: dict[Path, Sequence[Part]] = {}
    for run in found if samples or epochs else ():
        with console.status(f"Looking at {run.folder}"):
            looks[run.folder] = _looks(run, samples, epochs)
    write_page(out, report_page(found, looks))
    console.print(compare(found).rich())
    console.print(Text(f"Written: {out}"), soft_wrap=True)


def _looks(run: Run, samples: int, epochs: int) -> list[Part]:
    """Samples, confusion and segments of a run; in place of what cannot be had, a line that says why."""
    parts: list[Part] = []
    if samples:
        parts += _or_why(f"Samples of {run.name}", lambda: [*_samples(run, samples), *_confusion(run)])
    if epochs:
        parts += _or_why(f"Segments of {run.name}", lambda: _segments(run, epochs))
    return parts


def _or_why(heading: str, make: Callable[[], list[Part]]) -> list[Part]:
    try:
        return make()
    except (ValueError, OSError, ImportError) as error:
        return [Section(heading, f"There is nothing to look at: {error}")]


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


def _segments(run: Run, epochs: int) -> list[Part]:
    """What is where in some frames, as a decoder on each view's frozen encoder says."""
    opened = open_run(run.folder)
    splits = {split: opened.recipe.data(split) for split in ("train", "test")}
    parts: list[Part] = [
        Section(f"Segments of {run.name}", f"Decoders of {epochs:,} epochs on frozen encoders.")
    ]
    for view, encoder in opened.encoders.items():
        read = read_segments(opened.recipe, encoder, view, splits, epochs=epochs)
        parts.append(Picture(_sheet(read), f"Segments read from {view}"))
    return parts


def _sheet(read: Reading) -> Figure:
    """Frames spread over those to test on."""
    rows = torch.linspace(0, len(read.test) - 1, min(FRAMES, len(read.test))).long()
    title = f"{read.view}: mean IoU {read.scored.mean_iou:.1f}, {read.scored.pixel_accuracy:.1f} % of pixels right"
    return segment_sheet(*read.shown(rows), names=read.test.segments, title=title)
