"""One look for every figure: colours that colour-blind readers tell apart, quiet axes, sizes in inches."""

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

INK, QUIET, FAINT, PAPER = "#1f2430", "#727b8c", "#d9dee6", "#ffffff"
BLUE, VERMILLION, GREEN = "#0072b2", "#d55e00", "#009e73"
# After Okabe and Ito, darkened where white letters stand on them.
PALETTE = (BLUE, VERMILLION, GREEN, "#aa4499", "#b8860b", "#3a9bd4", "#5a4fcf", "#6f6f6f")

house_look = rc_context(
    {
        "font.family": "DejaVu Sans",  # ships with matplotlib, so every machine draws the same picture
        "font.size": 9,
        "text.color": INK,
        "axes.edgecolor": QUIET,
        "axes.labelcolor": INK,
        "axes.labelsize": 8.5,
        "axes.titlesize": 9.5,
        "axes.titleweight": "bold",
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": False,
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "lines.solid_capstyle": "round",
        "hatch.linewidth": 0.6,
        "text.usetex": False,
    }
)
"""Decorates a function that draws; the settings of the caller's matplotlib are put back after it."""


def blank_figure(width: int | float, height: int | float) -> Figure:
    """A white figure of some inches that draws without a screen and without pyplot."""
    figure = Figure(figsize=(width, height), dpi=100, facecolor=PAPER)
    FigureCanvasAgg(figure)
    return figure


def bare_axes(figure: Figure, inches: Sequence[int | float]) -> Axes:
    """Axes without frame or ticks at (left, top, width, height), in inches from the upper left corner."""
    left, top, width, height = inches
    across, down = figure.get_size_inches()
    axes = figure.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))
    axes.set_axis_off()
    return axes


def write(figure: Figure, text: str, left: int | float, top: int | float, **style) -> None:
    """Text at a place in inches from the upper left corner; a dollar sign in it is a dollar sign."""
    across, down = figure.get_size_inches()
    figure.text(left / across, 1 - top / down, text, parse_math=False, **style)


def shorten(text: str, letters: int) -> str:
    """Text cut to some letters, with an ellipsis where it was cut."""
    return text if len(text) <= letters else text[: max(letters - 1, 1)].rstrip() + "…"


def write_number(value: int | float) -> str:
    """A weight as a reader writes it: 6, 2.5, 0.33."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
