"""The pair graph beside its information diagram: the weight on each partition of information (figure 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from coview.reports.look import (
    BLUE,
    FAINT,
    INK,
    PALETTE,
    QUIET,
    bare_axes,
    blank_figure,
    house_look,
    shorten,
    write,
    write_number,
)

GRID = 320  # points a side when regions are found by looking
SHADES = LinearSegmentedColormap.from_list("weight", ["#ffffff", "#d3e6f3", "#6fb1dd"])
MOST_COLUMNS, COLUMN = 26, 0.24  # of the matrix of subsets, and inches a column

Edge = tuple[str, str, int | float]
Regions = Mapping[frozenset[str], int | float]


@dataclass(frozen=True)
class Oval:
    """The set of one view in a Venn diagram over the unit square, and where its name is written."""

    centre: tuple[float, float]
    size: tuple[float, float]
    angle: int
    label: tuple[float, float]

    def contains(self, x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."]) -> Bool[np.ndarray, "..."]:
        """Which points lie inside."""
        turn = np.radians(self.angle)
        across, up = x - self.centre[0], y - self.centre[1]
        along = across * np.cos(turn) + up * np.sin(turn)
        beside = up * np.cos(turn) - across * np.sin(turn)
        return (2 * along / self.size[0]) ** 2 + (2 * beside / self.size[1]) ** 2 <= 1


VENN: dict[int, tuple[Oval, ...]] = {
    1: (Oval((0.5, 0.5), (0.6, 0.6), 0, (0.5, 0.84)),),
    2: (
        Oval((0.35, 0.5), (0.56, 0.56), 0, (0.2, 0.82)),
        Oval((0.65, 0.5), (0.56, 0.56), 0, (0.8, 0.82)),
    ),
    3: (
        Oval((0.36, 0.61), (0.54, 0.54), 0, (0.13, 0.9)),
        Oval((0.64, 0.61), (0.54, 0.54), 0, (0.87, 0.9)),
        Oval((0.50, 0.36), (0.54, 0.54), 0, (0.5, 0.04)),
    ),
    4: (  # the four ellipses of Venn, in which all fifteen regions exist
        Oval((0.350, 0.40), (0.72, 0.45), 140, (0.1, 0.16)),
        Oval((0.450, 0.50), (0.72, 0.45), 140, (0.16, 0.85)),
        Oval((0.550, 0.50), (0.72, 0.45), 40, (0.84, 0.85)),
        Oval((0.650, 0.40), (0.72, 0.45), 40, (0.9, 0.16)),
    ),
}


@house_look
def information_diagram(views: Sequence[str], edges: Sequence[Edge], regions: Regions) -> Figure:
    """Left the views and the pairs contrasted; right, for each subset of views, the weight that rests on it.

    A region of the Venn diagram is information that those views share and no other has; its number is the
    summed weight of the pairs with both ends among them. Five views or more are shown as a matrix of subsets.
    """
    if not views:
        raise ValueError("an information diagram needs at least one view, came none")
    drawn = len(views) in VENN
    subsets = [] if drawn else _heaviest_subsets(regions)
    figure = blank_figure(7.6 if drawn else max(7.6, 5.1 + COLUMN * len(subsets)), 3.9)
    write(figure, "Pairs contrasted", 0.15, 0.12, va="top", weight="bold", size=10)
    _draw_graph(bare_axes(figure, (0.15, 0.45, 3.3, 3.3)), views, edges)
    write(figure, "Weight on each partition of information", 3.95, 0.12, va="top", weight="bold", size=10)
    if drawn:
        _draw_venn(bare_axes(figure, (3.95, 0.4, 3.45, 3.45)), views, regions)
    else:
        _draw_matrix(figure, views, subsets, regions)
    return figure


def _colours(views: Sequence[str]) -> dict[str, str]:
    return {view: PALETTE[number % len(PALETTE)] for number, view in enumerate(views)}


def _draw_graph(axes: Axes, views: Sequence[str], edges: Sequence[Edge]) -> None:
    """Views on a circle, each pair a line as wide as its weight; unequal weights are written on the lines."""
    places = _on_circle(views)
    heaviest = max((weight for *_, weight in edges), default=1) or 1
    unequal = len({weight for *_, weight in edges}) > 1
    for one, other, weight in edges:
        x, y = _edge_line(places[one], places[other])
        axes.plot(x, y, color=QUIET, linewidth=0.6 + 1.6 * weight / heaviest, zorder=1)
        if unequal:
            spot = int(len(x) * 0.38)  # off the middle, where the diagonals of the circle cross
            box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"}
            text = write_number(weight)
            axes.text(x[spot], y[spot], text, size=7.5, ha="center", va="center", bbox=box, zorder=2)
    for view, colour in _colours(views).items():
        x, y = places[view]
        box = {"boxstyle": "round,pad=0.7,rounding_size=1.1", "fc": colour, "ec": "white", "lw": 2.5}
        letters = {"ha": "center", "va": "center", "color": "white", "weight": "bold", "parse_math": False}
        axes.text(x, y, shorten(view, 12), bbox=box, zorder=3, **letters)
    axes.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")


def _edge_line(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The x and y of a line from place to place; a view contrasted with itself has a loop outside of it."""
    if (one != other).any():
        return np.linspace(one, other, 100).T
    turns = np.linspace(0, 2 * np.pi, 100)
    loop = np.stack([np.cos(turns), np.sin(turns)]) * 0.22
    outward = one / (np.hypot(*one) or 1) if one.any() else np.array([0.0, 1.0])
    return loop + (one + 0.26 * outward)[:, None]


def _on_circle(views: Sequence[str]) -> dict[str, np.ndarray]:
    """Places clockwise from the top; four views as a square, in the order of the Venn diagram."""
    if len(views) == 1:
        return {views[0]: np.zeros(2)}
    start = {2: np.pi, 4: 5 * np.pi / 4}.get(len(views), np.pi / 2)
    turns = start - 2 * np.pi * np.arange(len(views)) / len(views)
    radius = 1.2 if len(views) == 4 else 1.0
    return {
        view: radius * np.array([np.cos(turn), np.sin(turn)]) for view, turn in zip(views, turns, strict=True)
    }


def venn_regions(count: int) -> Bool[np.ndarray, "regions rows columns"]:
    """A mask over the unit square for each nonempty subset of 1 to 4 sets; number n has the bits of n + 1."""
    ticks = (np.arange(GRID) + 0.5) / GRID
    x, y = np.meshgrid(ticks, ticks)
    code = sum(oval.contains(x, y) * 2**number for number, oval in enumerate(VENN[count]))
    return np.stack([code == subset for subset in range(1, 2**count)])


def roomiest_point(mask: Bool[np.ndarray, "rows columns"]) -> tuple[float, float, float]:
    """The point of a region farthest from its edge, and that distance, on the unit square.

    A centre of mass can lie outside of a bent region, so the region is peeled until its last points are left.
    """
    depth = 0
    while (inner := _peel(mask, diagonal=depth % 2 == 1)).any():
        mask, depth = inner, depth + 1
    points = np.argwhere(mask)
    last = points[np.abs(points - points.mean(axis=0)).sum(axis=1).argmin()]
    return float((last[1] + 0.5) / GRID), float((last[0] + 0.5) / GRID), depth / GRID


def _peel(mask: Bool[np.ndarray, "rows columns"], *, diagonal: bool) -> Bool[np.ndarray, "rows columns"]:
    """The mask without its outermost points; corners go every other time, which keeps the peeling round."""
    padded = np.pad(mask, 1)
    inner = mask & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    if diagonal:
        inner = inner & padded[:-2, :-2] & padded[:-2, 2:] & padded[2:, :-2] & padded[2:, 2:]
    return inner


def region_places(views: Sequence[str]) -> dict[frozenset[str], tuple[float, float, float]]:
    """For each subset of 1 to 4 views, where its number is written, and how much room is around it."""
    masks = venn_regions(len(views))
    members = [
        frozenset(view for bit, view in enumerate(views) if subset >> bit & 1)
        for subset in range(1, 2 ** len(views))
    ]
    return {subset: roomiest_point(mask) for subset, mask in zip(members, masks, strict=True)}


def _draw_venn(axes: Axes, views: Sequence[str], regions: Regions) -> None:
    """A region is the darker the more weight rests on it, and is left empty where there is none."""
    _shade_regions(axes, views, regions)
    for (view, colour), oval in zip(_colours(views).items(), VENN[len(views)], strict=True):
        outline = Ellipse(
            oval.centre, oval.size[0], oval.size[1], angle=oval.angle, fill=False, ec=colour, lw=1.8
        )
        axes.add_patch(outline)
        name = {"ha": "center", "va": "center", "weight": "bold", "parse_math": False}
        axes.text(*oval.label, shorten(view, 12), color=colour, **name)
    for subset, (x, y, room) in region_places(views).items():
        if weight := regions.get(subset, 0):
            size = float(np.clip(180 * room, 7.5, 13))
            axes.text(x, y, write_number(weight), size=size, ha="center", va="center", color=INK)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")


def _shade_regions(axes: Axes, views: Sequence[str], regions: Regions) -> None:
    heaviest = max(regions.values(), default=0) or 1
    colours = np.ones((GRID, GRID, 4))
    for subset, mask in zip(region_places(views), venn_regions(len(views)), strict=True):
        colours[mask] = SHADES(regions.get(subset, 0) / heaviest)
    axes.imshow(colours, extent=(0, 1, 0, 1), origin="lower", interpolation="bilinear", zorder=0)


def _heaviest_subsets(regions: Regions) -> list[frozenset[str]]:
    """The subsets on which weight rests, heaviest first and smaller before larger; no more than fit."""
    weighty = [subset for subset, weight in regions.items() if weight]
    return sorted(weighty, key=lambda subset: (-regions[subset], len(subset), sorted(subset)))[:MOST_COLUMNS]


def _draw_matrix(
    figure: Figure, views: Sequence[str], subsets: Sequence[frozenset[str]], regions: Regions
) -> None:
    """A column a subset: a bar for its weight above, and below it a dot for each view that is in it."""
    width = COLUMN * max(len(subsets), 4)
    low = min(0.24 * len(views), 1.9)
    bars = bare_axes(figure, (4.85, 0.5, width, 3.2 - low))
    dots = bare_axes(figure, (4.85, 3.75 - low, width, low))
    weights = [regions[subset] for subset in subsets]
    bars.bar(range(len(subsets)), weights, width=0.68, color=BLUE)
    for column, weight in enumerate(weights):
        bars.text(column, weight, write_number(weight), size=7.5, ha="center", va="bottom")
    for column, subset in enumerate(subsets):
        rows = [row for row, view in enumerate(views) if view in subset]
        dots.plot([column, column], [min(rows), max(rows)], color=INK, linewidth=1.1, zorder=2)
    _draw_dots(dots, views, subsets)
    total = sum(1 for weight in regions.values() if weight)
    if total > len(subsets):
        note = f"the {len(subsets)} heaviest of {total:,} subsets with weight"
        write(figure, note, 4.85 + width, 0.16, va="top", ha="right", size=7.5, color=QUIET)
    for axes in (bars, dots):
        axes.set_xlim(-0.6, max(len(subsets), 4) - 0.4)


def _draw_dots(axes: Axes, views: Sequence[str], subsets: Sequence[frozenset[str]]) -> None:
    for row, (view, colour) in enumerate(_colours(views).items()):
        inside = [view in subset for subset in subsets]
        shades = [colour if here else FAINT for here in inside]
        axes.scatter(range(len(subsets)), [row] * len(subsets), s=26, c=shades, zorder=3)
        name = {"ha": "right", "va": "center", "weight": "bold", "parse_math": False, "clip_on": False}
        axes.text(-0.9, row, shorten(view, 9), color=colour, size=8, **name)
    axes.set_ylim(len(views) - 0.4, -0.6)
