"""Sheets of segments: pictures, what is where in them, and what was said, in the same colours."""

import colorsys
from collections.abc import Sequence

import numpy as np
from jaxtyping import Integer, UInt8
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from torch import Tensor

from coview.reports.look import QUIET, bare_axes, blank_figure, house_look, shorten, write

ROWS = ("picture", "truth", "said")
WIDTH, GAP, NAMES, TOP, LINE, ACROSS = 1.5, 0.06, 0.75, 0.45, 0.2, 7  # inches; names of classes in a line
VOID = (0.86, 0.87, 0.9)
OPAQUE = 0.7  # how much of a colour hides the picture that it is laid over


def segment_colours(classes: int) -> np.ndarray:
    """A colour for void and for each class: hues as far apart as they come, by turns light and dark."""
    turns = [(number * 0.618034) % 1 for number in range(classes)]
    values = [
        colorsys.hsv_to_rgb(hue, (0.75, 0.5)[n % 2], (0.9, 0.7, 0.95)[n % 3]) for n, hue in enumerate(turns)
    ]
    return np.array([VOID, *values])


@house_look
def segment_sheet(
    pictures: UInt8[Tensor, "B 3 H W"],
    truth: Integer[Tensor, "B 1 H W"],
    said: Integer[Tensor, "B 1 H W"],
    *,
    names: Sequence[str],
    title: str = "",
) -> Figure:
    """A column a sample, segments laid over its picture; `names` are those of the classes, with void as the first."""
    colours = segment_colours(len(names) - 1)
    plain = pictures.permute(0, 2, 3, 1).cpu().numpy() / 255
    grey = (1 - OPAQUE) * plain.mean(-1, keepdims=True)
    rows = [plain, *(OPAQUE * colours[one[:, 0].cpu().long()] + grey for one in (truth, said))]
    tall = WIDTH * pictures.shape[2] / pictures.shape[3]
    shown: list[int] = sorted(set(truth.unique().tolist()) | set(said.unique().tolist()))
    foot = 0.25 + LINE * -(-len(shown) // ACROSS)
    figure = blank_figure(
        NAMES + max(len(pictures), 5) * (WIDTH + GAP) + 0.1, TOP + len(ROWS) * (tall + GAP) + foot
    )
    write(figure, title, 0.1, 0.08, va="top", weight="bold", size=11)
    for row, (name, images) in enumerate(zip(ROWS, rows, strict=True)):
        top = TOP + row * (tall + GAP)
        write(figure, name, 0.1, top + tall / 2, va="center", color=QUIET)
        for column, image in enumerate(images):
            axes = bare_axes(figure, (NAMES + column * (WIDTH + GAP), top, WIDTH, tall))
            axes.imshow(image, interpolation="nearest")
    marks = [Patch(color=tuple(colours[number]), label=shorten(names[number], 18)) for number in shown]
    figure.legend(handles=marks, ncols=ACROSS, loc="lower center", columnspacing=1.2, handlelength=1.2)
    return figure
