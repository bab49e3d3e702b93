"""Training curves: loss and mutual-information bound of every pair over the steps."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coview.reports.look import BLUE, FAINT, INK, QUIET, VERMILLION, blank_figure, house_look, shorten

History = Sequence[Mapping[str, Any]]
Curve = tuple[np.ndarray, np.ndarray]  # steps and values, both [N]

POINTS = 250  # a curve is drawn with about so many points; longer histories are averaged in groups
COLOURS = {"terms": VERMILLION, "bounds": BLUE}
HEIGHT, MARGIN, FOOT, TOP = 1.5, 0.45, 0.5, 0.62  # inches: a panel, between panels, below and above all
DASHES = (0, (2.5, 1.6))


@house_look
def pair_curves(history: History) -> Figure:
    """One panel a pair: loss and bound in nats on one scale, in both directions, and the bound's ceiling."""
    pairs = _directions_by_pair(history)
    if not pairs:
        return _nothing_yet()
    across = min(len(pairs), 3 if len(pairs) <= 6 else 4)
    figure, panels = _panels(across, -(-len(pairs) // across))
    for panel, (pair, names) in zip(panels.flat, pairs.items(), strict=False):
        _draw_panel(panel, history, pair, names)
    for panel in panels.flat[len(pairs) :]:
        panel.set_visible(False)
    _label_axes(panels, len(pairs), history)
    for panel, names in zip(panels.flat, pairs.values(), strict=False):
        _write_ends(panel, history, names)
    _draw_legend(figure, history, two_way=any(len(names) > 1 for names in pairs.values()))
    return figure


def _panels(across: int, down: int) -> tuple[Figure, np.ndarray]:
    """A figure with panels [down across] that share both axes."""
    width, height = (10 if across > 1 else 7.4), TOP + down * (HEIGHT + MARGIN) - MARGIN + FOOT
    figure = blank_figure(width, height)
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    sides = {"left": 0.6 / width, "right": 1 - 0.45 / width, "top": 1 - TOP / height, "bottom": FOOT / height}
    figure.subplots_adjust(hspace=MARGIN / HEIGHT, wspace=0.2, **sides)
    return figure, panels


def _directions_by_pair(history: History) -> dict[str, list[str]]:
    """The names of the terms, grouped by the pair they belong to: {"L – ab": ["L->ab", "ab->L"]}."""
    names = dict.fromkeys(name for row in history for name in row.get("terms", {}))
    pairs: dict[frozenset[str], list[str]] = {}
    for name in names:
        pairs.setdefault(frozenset(name.split("->")), []).append(name)
    return {" – ".join(group[0].split("->")): group for group in pairs.values()}


def _nothing_yet() -> Figure:
    figure = blank_figure(6, 1)
    figure.text(0.5, 0.5, "no steps were logged", ha="center", va="center", color=QUIET)
    return figure


def _curve(history: History, kind: str, name: str) -> Curve:
    """Steps and values of one term, where it was logged."""
    rows = [(row["step"], row[kind][name]) for row in history if name in row.get(kind, {})]
    steps, values = np.array(rows, dtype=float).reshape(-1, 2).T
    return steps, values


def _thin(curve: Curve) -> Curve:
    """A long curve as the means of groups of neighbouring steps, each placed at the last step of its group."""
    steps, values = curve
    size = max(1, -(-len(steps) // POINTS))
    groups = [slice(start, start + size) for start in range(0, len(steps), size)]
    return np.array([steps[group][-1] for group in groups]), np.array(
        [values[group].mean() for group in groups]
    )


def _draw_panel(panel: Axes, history: History, pair: str, names: list[str]) -> None:
    panel.set_title(shorten(pair, 34), loc="left", pad=5, parse_math=False)
    panel.grid(axis="y", color=FAINT, linewidth=0.5)
    # The second direction often runs on the first, so the first is wide and light below it.
    strokes: tuple[dict[str, Any], ...] = (
        {"linewidth": 2.0, "alpha": 0.55},
        {"linewidth": 1.1, "linestyle": DASHES},
    )
    for name, stroke in zip(names, strokes, strict=False):
        for kind, colour in COLOURS.items():
            steps, values = _thin(_curve(history, kind, name))
            panel.plot(steps, values, color=colour, marker="." if len(steps) == 1 else "", **stroke)
        panel.plot(*_thin(_curve(history, "ceilings", name)), color=QUIET, linestyle=":", linewidth=1)


def _write_ends(panel: Axes, history: History, names: list[str]) -> None:
    """The last values, averaged over both directions, beside the ends of the curves and clear of each other."""
    levels = {}
    for kind in COLOURS:
        last = [values[-1] for name in names if len(values := _curve(history, kind, name)[1])]
        if last and np.isfinite(last).all():
            levels[kind] = float(np.mean(last))
    low, high = panel.get_ylim()
    points = HEIGHT * 72 / (high - low)
    apart = abs(levels.get("terms", 0.0) - levels.get("bounds", 0.0)) * points
    push = max(0.0, 10 - apart) / 2 if len(levels) == 2 else 0.0
    for kind, level in levels.items():
        upper = level == max(levels.values()) and (kind == "bounds" or len(set(levels.values())) > 1)
        place = {"xytext": (4, push if upper else -push), "textcoords": "offset points", "va": "center"}
        end = panel.get_xlim()[1]
        panel.annotate(
            f"{level:.2f}", (end, level), color=COLOURS[kind], size=8, annotation_clip=False, **place
        )


def _label_axes(panels: np.ndarray, shown: int, history: History) -> None:
    down, across = panels.shape
    for row in range(down):
        panels[row, 0].set_ylabel("nats" if any(row.get("ceilings") for row in history) else "loss")
    for number in range(max(shown - across, 0), shown):
        panels.flat[number].set_xlabel("step")
        panels.flat[number].tick_params(labelbottom=True)
    last = max(row["step"] for row in history)
    first = min(row["step"] for row in history)
    panels[0, 0].set_xlim(first if first < last else first - 1, last if first < last else last + 1)


def _draw_legend(figure: Figure, history: History, *, two_way: bool) -> None:
    """What the colours and strokes mean, once for all panels."""
    entries = [Line2D([], [], color=VERMILLION, label="loss")]
    if any(row.get("bounds") for row in history):
        entries.append(Line2D([], [], color=BLUE, label="bound on mutual information"))
    if any(row.get("ceilings") for row in history):
        entries.append(Line2D([], [], color=QUIET, linestyle=":", label="ceiling, log(negatives)"))
    if two_way:
        entries.append(
            Line2D([], [], color=INK, linestyle=DASHES, linewidth=1.1, label="the other direction")
        )
    width, height = figure.get_size_inches()
    place = {"loc": "upper left", "bbox_to_anchor": (0.6 / width, 1 - 0.1 / height), "borderaxespad": 0}
    figure.legend(
        handles=entries, ncols=len(entries), handlelength=2, borderpad=0, columnspacing=1.6, **place
    )
