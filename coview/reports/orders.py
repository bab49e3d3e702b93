"""A figure of parts that are added in several orders: a panel a column, a curve an order."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coview.reports.comparison import COLOURS, PAPER, SPREAD
from coview.reports.look import FAINT, QUIET, blank_figure, house_look
from coview.reports.outcome import Line, columns_of

PANEL, TALL = 3.6, 3.2  # inches


@house_look
def orders(lines: Sequence[Line], paper: str, *, ways: Mapping[str, Sequence[str]]) -> Figure:
    """Curves over how many parts there are; `ways` has for each order the rows that it goes through.

    Rows of no order are level lines; a diamond is the paper's number.
    """
    columns, by_name = columns_of(lines), {line.name: line for line in lines}
    figure = blank_figure(max(PANEL * len(columns), 6) + 0.4, TALL + 0.6)
    if not any(line.numbers for line in lines):
        figure.text(0.5, 0.5, "no run has come to a number yet", ha="center", va="center", color=QUIET)
        return figure
    panels = figure.subplots(1, len(columns), squeeze=False)[0]
    figure.subplots_adjust(left=0.07, right=0.98, top=0.80, bottom=0.14, wspace=0.2)
    longest = max(len(names) for names in ways.values())
    for panel, column in zip(panels, columns, strict=True):
        for (order, names), colour in zip(ways.items(), cycle(COLOURS)):
            _draw_order(panel, [by_name[name] for name in names if name in by_name], column, order, colour)
        _draw_others(panel, lines, {name for names in ways.values() for name in names}, column)
        _draw_paper(panel, by_name, ways, column, paper)
        panel.set_title(column, loc="left", pad=4, parse_math=False)
        panel.set_xticks(range(1, longest + 1))
        panel.set_xlabel("views")
        panel.grid(axis="y", color=FAINT, linewidth=0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=len(labels), loc="upper right", columnspacing=1.4, handlelength=1.6)
    return figure


def _draw_order(panel: Axes, lines: Sequence[Line], column: str, order: str, colour: str) -> None:
    found = [(n, line.numbers[column]) for n, line in enumerate(lines, start=1) if column in line.numbers]
    style: dict[str, Any] = {**SPREAD, "ecolor": colour, "color": colour, "marker": "o", "ms": 4, "lw": 1.4}
    means, spread = [one.mean for _, one in found], [one.deviation or 0.0 for _, one in found]
    panel.errorbar([n for n, _ in found], means, spread, label=order, **style)


def _draw_others(panel: Axes, lines: Sequence[Line], drawn: set[str], column: str) -> None:
    for line in lines:
        if line.name not in drawn and column in line.numbers:
            level = line.numbers[column].mean
            panel.axhline(level, color=QUIET, linewidth=0.9, linestyle=":")
            panel.annotate(
                f"{line.name} {level:.1f}",
                (1, level),
                (0, 3),
                textcoords="offset points",
                color=QUIET,
                size=8,
            )


def _draw_paper(
    panel: Axes,
    by_name: Mapping[str, Line],
    ways: Mapping[str, Sequence[str]],
    column: str,
    paper: str,
) -> None:
    """The paper's numbers, of rows that stand in an order."""
    places = {name: n for names in ways.values() for n, name in enumerate(names, start=1)}
    told = {places[n]: one.paper[column] for n, one in by_name.items() if n in places and column in one.paper}
    if told:
        panel.plot(list(told), list(told.values()), label=paper, **PAPER)
