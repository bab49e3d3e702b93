"""Figures of a study: rows as bars, or as a curve with error bars, and the paper's numbers as marks of their own."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from coview.reports.look import (
    BLUE,
    FAINT,
    INK,
    PALETTE,
    QUIET,
    VERMILLION,
    blank_figure,
    house_look,
    shorten,
)
from coview.reports.outcome import Line, columns_of

ROW, GAP, TOP, FOOT, NAMES = (
    0.26,
    0.62,
    0.55,
    0.45,
    1.9,
)  # inches: a bar, between panels, around, names at the left
ACROSS = 3  # panels beside each other
COLOURS = tuple(colour for colour in PALETTE if colour != VERMILLION)
SPREAD: dict[str, Any] = {"ecolor": INK, "elinewidth": 0.9, "capsize": 2.2}
PAPER: dict[str, Any] = {"color": VERMILLION, "marker": "D", "ms": 4.5, "linestyle": "none"}
PAPER_ON_CURVE: dict[str, Any] = {
    "color": QUIET,
    "marker": "D",
    "ms": 4.5,
    "lw": 1.0,
    "linestyle": (0, (2.5, 1.6)),
    "markerfacecolor": "none",
}


@house_look
def bars(lines: Sequence[Line], paper: str) -> Figure:
    """A panel a column, a bar a row; a whisker is the sample deviation, a diamond the paper's number."""
    columns = columns_of(lines)
    if not columns:
        return _nothing_yet()
    across = min(len(columns), ACROSS)
    down = -(-len(columns) // across)
    figure, panels = _panels(across, down, height=ROW * len(lines))
    for panel, column in zip(panels, columns, strict=False):
        _draw_bars(panel, lines, column)
    for number, panel in enumerate(panels):
        panel.set_visible(number < len(columns))
        if number % across:
            panel.tick_params(labelleft=False)
    _draw_legend(figure, lines, paper, Patch(color=BLUE, label="here, mean over seeds ± deviation"))
    return figure


@house_look
def curve(
    lines: Sequence[Line], paper: str, *, axis: str, logarithmic: bool = False, apart: bool = False
) -> Figure:
    """A curve a column over the rows that have a place on the axis; the others are level lines beside it.

    Columns whose numbers are of different kinds are drawn `apart`, in a panel each.
    """
    columns = columns_of(lines)
    on_axis = [line for line in lines if line.at is not None]
    if not columns or not on_axis:
        return _nothing_yet()
    colours = dict(zip(columns, cycle(COLOURS), strict=False))
    groups = [{name: colour} for name, colour in colours.items()] if apart else [colours]
    figure = blank_figure(8.0 if len(groups) == 1 else 5.6 * len(groups), 4.2)
    share = 1 / len(groups)
    for number, group in enumerate(groups):
        panel = figure.add_axes(((number + 0.085) * share, 0.12, 0.76 * share, 0.74))
        panel.set_xscale("log" if logarithmic else "linear")
        panel.set_title(next(iter(group)) if apart else "", loc="left", pad=4, parse_math=False)
        for column, colour in group.items():
            _draw_curve(panel, on_axis, column, colour)
        _draw_levels(panel, [line for line in lines if line.at is None], group)
        _place_ticks(panel, on_axis, axis)
    entries = [Line2D([], [], color=colour, marker="o", ms=4, label=name) for name, colour in colours.items()]
    _draw_legend(figure, lines, paper, *entries, **PAPER_ON_CURVE)
    return figure


@house_look
def scatter(lines: Sequence[Line], paper: str, *, across: str, up: str) -> Figure:
    """One column against another, a named point a row, with both sample deviations."""
    columns, there = (across, up), [line for line in lines if across in line.numbers and up in line.numbers]
    if not there:
        return _nothing_yet()
    figure = blank_figure(6.4, 4.6)
    panel = figure.add_axes((0.11, 0.12, 0.85, 0.8))
    panel.grid(color=FAINT, linewidth=0.5)
    for line in there:
        x, y = (line.numbers[name] for name in columns)
        panel.errorbar(x.mean, y.mean, y.deviation, x.deviation, color=BLUE, marker="o", ms=4, elinewidth=0.9)
        panel.annotate(
            shorten(line.name, 24), (x.mean, y.mean), (4, 4), textcoords="offset points", size=8, color=QUIET
        )
    told = [line for line in lines if across in line.paper and up in line.paper]
    for line in told:
        panel.plot(line.paper[across], line.paper[up], **PAPER)
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    if told:
        _draw_legend(figure, told, paper)
    return figure


def _nothing_yet() -> Figure:
    figure = blank_figure(6, 1)
    figure.text(0.5, 0.5, "no run has come to a number yet", ha="center", va="center", color=QUIET)
    return figure


def _panels(across: int, down: int, *, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of panels that share their rows, with room for the rows' names at the left."""
    width, tall = NAMES + 2.6 * across + 0.2, TOP + down * (height + GAP) - GAP + FOOT
    figure = blank_figure(width, tall)
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    sides = {"left": NAMES / width, "right": 1 - 0.2 / width, "top": 1 - TOP / tall, "bottom": FOOT / tall}
    figure.subplots_adjust(hspace=GAP / height, wspace=0.08, **sides)
    return figure, list(grid.flat)


def _draw_bars(panel: Axes, lines: Sequence[Line], column: str) -> None:
    panel.set_title(shorten(column, 34), loc="left", pad=4, parse_math=False)
    panel.grid(axis="x", color=FAINT, linewidth=0.5)
    panel.set_axisbelow(True)
    for place, line in enumerate(lines):
        if column in line.numbers:
            found = line.numbers[column]
            panel.barh(place, found.mean, height=0.62, color=BLUE, alpha=0.85, linewidth=0)
            panel.errorbar(found.mean, place, xerr=found.deviation, fmt="none", **SPREAD)
        if column in line.paper:
            panel.plot(line.paper[column], place, **PAPER)
    panel.set_yticks(range(len(lines)), [shorten(line.name, 30) for line in lines])
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.set_ylim(len(lines) - 0.4, -0.6)
    panel.set_xlim(left=min(0.0, *_values(lines, column)))


def _draw_curve(panel: Axes, lines: Sequence[Line], column: str, colour: str) -> None:
    ours = [(line.at, line.numbers[column]) for line in lines if column in line.numbers]
    if ours:
        places, found = zip(*ours, strict=True)
        spread = [one.deviation or 0.0 for one in found]
        style = {**SPREAD, "ecolor": colour}
        panel.errorbar(
            places, [one.mean for one in found], spread, color=colour, marker="o", ms=4, lw=1.4, **style
        )
    theirs = [(line.at, line.paper[column]) for line in lines if column in line.paper]
    if theirs:
        panel.plot(*zip(*theirs, strict=True), **{**PAPER_ON_CURVE, "color": colour})


def _draw_levels(panel: Axes, lines: Sequence[Line], colours: Mapping[str, str]) -> None:
    """Rows without a place, as lines across with their names at the right, clear of each other."""
    levels = [
        (line.numbers[column].mean, line.name, colour)
        for line in lines
        for column, colour in colours.items()
        if column in line.numbers
    ]
    for level, _, colour in levels:
        panel.axhline(level, color=colour, linewidth=0.9, linestyle=":")
    low, high = panel.get_ylim()
    lowest = 0.0
    for level, name, colour in sorted(levels):
        height = max((level - low) / (high - low), lowest)
        lowest = height + 0.045
        text = shorten(f"{name} {level:.1f}", 22)
        panel.text(1.01, height, text, color=colour, size=8, va="center", transform=panel.transAxes)


def _place_ticks(panel: Axes, lines: Sequence[Line], axis: str) -> None:
    """A tick for every row, by its name."""
    panel.set_xticks([line.at or 0.0 for line in lines], [line.name for line in lines])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel(axis)
    panel.grid(axis="y", color=FAINT, linewidth=0.5)


def _draw_legend(figure: Figure, lines: Sequence[Line], paper: str, *entries: Any, **style: Any) -> None:
    marks = list(entries)
    if any(line.paper for line in lines):
        marks.append(Line2D([], [], label=paper, **(style or PAPER)))
    place = {"loc": "upper right", "bbox_to_anchor": (0.99, 1.0), "borderaxespad": 0.3}
    figure.legend(handles=marks, ncols=len(marks), columnspacing=1.6, handlelength=1.6, **place)


def _values(lines: Sequence[Line], column: str) -> list[float]:
    """All that is drawn in a column."""
    ours = [line.numbers[column].mean for line in lines if column in line.numbers]
    return [0.0, *ours, *(line.paper[column] for line in lines if column in line.paper)]


Draw = Callable[[Sequence[Line], str], Figure]
"""A figure of a study's lines, and of what its paper's numbers are called."""
