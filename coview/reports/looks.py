"""How good the encoders were while they trained: a curve for each number of the looks at them."""

import numpy as np
from matplotlib.figure import Figure

from coview.reports.curves import History
from coview.reports.look import FAINT, PALETTE, blank_figure, house_look, shorten

WIDTH, HEIGHT, LEGEND = 7.4, 2.6, 1.6  # inches


@house_look
def look_curves(history: History) -> Figure:
    """Percent right by epoch; the legend has the last values."""
    looks = [row for row in history if "probes" in row]
    if not looks:
        raise ValueError("curves of looks need at least one look, came none")
    figure = blank_figure(WIDTH, HEIGHT)
    axes = figure.subplots()
    sides = {"left": 0.6 / WIDTH, "right": 1 - LEGEND / WIDTH}
    figure.subplots_adjust(top=1 - 0.15 / HEIGHT, bottom=0.5 / HEIGHT, **sides)
    axes.grid(axis="y", color=FAINT, linewidth=0.5)
    names = dict.fromkeys(name for row in looks for name in row["probes"])
    for number, name in enumerate(names):
        points = [(row["epoch"], row["probes"][name]) for row in looks if name in row["probes"]]
        epochs, values = np.array(points, dtype=float).T
        label = f"{shorten(name, 16)}  {values[-1]:.1f}".replace("$", r"\$")
        axes.plot(epochs, values, color=PALETTE[number % len(PALETTE)], marker=".", label=label)
    axes.set(xlabel="epoch", ylabel="% right")
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), borderaxespad=0)
    return figure
