"""Estimates of information as pictures: how one came about, and what every pair of some views shares."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from coview.information import Estimate
from coview.reports.look import (
    BLUE,
    FAINT,
    INK,
    QUIET,
    VERMILLION,
    bare_axes,
    blank_figure,
    house_look,
    shorten,
    write,
)

LEFT, RIGHT, TOP, FOOT = 0.6, 1.5, 0.72, 0.5  # inches around the panel
NEAR_CEILING = 0.5  # share of the ceiling from which it is drawn


@house_look
def estimate_curves(found: Estimate, *, title: str = "") -> Figure:
    """The bound over the steps, a line a seed; at the right what held-out pairs say of it, and other bounds."""
    width, height = 7.4, 3.6
    figure = blank_figure(width, height)
    write(figure, title, LEFT, 0.12, va="top", weight="bold", size=10.5)
    if not found.curves:
        write(figure, "\n".join(found.warnings), LEFT, height / 2, va="center", color=QUIET)
        return figure
    sides = (LEFT / width, FOOT / height, 1 - (LEFT + RIGHT) / width, 1 - (TOP + FOOT) / height)
    panel = figure.add_axes(sides)
    _draw_curves(panel, found)
    _draw_estimate(panel, found)
    _draw_legend(figure, found)
    return figure


def _draw_curves(panel: Axes, found: Estimate) -> None:
    for curve in found.curves:
        steps = [look.step for look in curve]
        panel.plot(steps, [look.training for look in curve], color=VERMILLION, lw=1.0, alpha=0.7)
        panel.plot(steps, [look.selection for look in curve], color=BLUE, lw=1.3)
    last = found.curves[0][-1].step
    seen = [value for curve in found.curves for look in curve for value in (look.training, look.selection)]
    highest = max(*seen, found.nats, *found.others.values(), 0.0)
    panel.set_xlim(0, last)
    panel.set_ylim(
        min(0.0, found.nats) - 0.03 * highest, 1.08 * highest + 0.02
    )  # what blew up may leave the panel
    if found.ceiling * NEAR_CEILING < highest:
        panel.axhline(found.ceiling, color=QUIET, linestyle=":", lw=1.0)
        panel.set_ylim(top=max(1.05 * found.ceiling, panel.get_ylim()[1]))
    panel.grid(axis="y", color=FAINT, linewidth=0.5)
    panel.set_xlabel("step")
    panel.set_ylabel("nats")


def _draw_estimate(panel: Axes, found: Estimate) -> None:
    """The estimate as a band, and the values of the bounds in order at the right, clear of each other."""
    panel.axhspan(found.nats - found.spread, found.nats + found.spread, color=BLUE, alpha=0.15, lw=0)
    panel.axhline(found.nats, color=BLUE, lw=0.8)
    low, high = panel.get_ylim()
    values = [(found.nats, found.bound), *((value, name) for name, value in found.others.items())]
    lowest = -1.0
    for value, name in sorted(values):
        place = max((min(max(value, low), high) - low) / (high - low), lowest)
        lowest = place + 0.058
        own = name == found.bound
        style: dict[str, Any] = {"color": BLUE if own else QUIET, "weight": "bold" if own else "normal"}
        panel.text(
            1.02, place, f"{name} {value:.2f}", transform=panel.transAxes, va="center", size=8, **style
        )


def _draw_legend(figure: Figure, found: Estimate) -> None:
    entries = [
        Line2D([], [], color=VERMILLION, lw=1.0, label="pairs learned from"),
        Line2D([], [], color=BLUE, lw=1.3, label="others, which choose the step"),
        Patch(color=BLUE, alpha=0.25, label=f"held out, {len(found.by_seed)} seeds"),
        Line2D([], [], color=QUIET, linestyle=":", label="ceiling"),
    ]
    width, height = figure.get_size_inches()
    place = {"loc": "upper left", "bbox_to_anchor": (LEFT / width, 1 - 0.36 / height), "borderaxespad": 0}
    figure.legend(handles=entries, ncols=4, handlelength=1.6, columnspacing=1.4, labelcolor=INK, **place)


@house_look
def pair_matrix(views: Sequence[str], nats: Mapping[frozenset[str], float], *, title: str = "") -> Figure:
    """A square a pair of views, darker the more they share, with the nats in it."""
    count, side = len(views), 0.62
    names = 0.09 * max(len(shorten(view, 16)) for view in views) + 0.25
    figure = blank_figure(max(names + count * side + 0.2, 3.4), 0.75 + count * side + 0.1)
    write(figure, title, 0.12, 0.1, va="top", weight="bold", size=10.5)
    axes = bare_axes(figure, (names, 0.7, count * side, count * side))
    axes.set_xlim(0, count)
    axes.set_ylim(count, 0)
    most = max((value for value in nats.values() if value < float("inf")), default=1.0) or 1.0
    for row, view in enumerate(views):
        write(figure, shorten(view, 16), names - 0.08, 0.7 + (row + 0.5) * side, ha="right", va="center")
        write(figure, shorten(view, 9), names + (row + 0.5) * side, 0.62, ha="center", va="bottom", size=8)
        for column in range(count):
            value = nats.get(frozenset((view, views[column])))
            if row != column and value is not None:
                _draw_square(axes, row, column, value, most)
    return figure


def _draw_square(axes: Axes, row: int, column: int, nats: float, most: float) -> None:
    share = min(max(nats / most, 0.0), 1.0)
    shade = matplotlib.colormaps["Blues"](0.05 + 0.8 * share)
    axes.add_patch(Rectangle((column + 0.03, row + 0.03), 0.94, 0.94, fc=shade, lw=0))
    text = "∞" if nats == float("inf") else f"{nats:.2f}"
    colour = "white" if share > 0.6 else INK
    axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", size=8.5, color=colour)
