"""Views as images, and images as sheets: what the encoders see, and what they find alike."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import torch
from jaxtyping import Bool, Shaped, UInt8
from matplotlib.axes import Axes
from matplotlib.colors import hsv_to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from coview.reports.look import (
    FAINT,
    GREEN,
    QUIET,
    bare_axes,
    blank_figure,
    house_look,
    shorten,
    write,
)

HOLE = 0.62  # the grey of a pixel that has no value
BARS, BAR_HEIGHT = 64, 48  # a feature vector is shown as at most so many bars, so many pixels high
CELL, GAP, NAMES, HEAD = 0.92, 0.06, 1.05, 0.24  # inches: an image, between images, left margin, a headline

Image = UInt8[np.ndarray, "H W 3"]
Images = UInt8[np.ndarray, "B H W 3"]
Hole = int | float | None


def to_image(view: Shaped[Tensor, "..."], *, grey: bool = False, hole: Hole = None) -> Image:
    """One view ([C H W], [H W] or [D]) as an RGB image."""
    return to_images(view[None], grey=grey, hole=hole)[0]


def to_images(views: Shaped[Tensor, "B ..."], *, grey: bool = False, hole: Hole = None) -> Images:
    """A batch of one view as RGB images on one scale, so that they can be compared; holes are mid grey.

    A hole is NaN, or the number that the view has where nothing was measured.

    One channel: a colour map, or shades with `grey`; two (ab, flow): direction as hue, length as saturation;
    three: as they are; more: the first three principal components; vectors: bars.
    """
    values = _plain_numbers(views)
    if hole is not None:
        values = np.where(np.isclose(values, hole), np.nan, values)
    if values.ndim == 2:
        return _bytes(_bars(values))
    holes = ~np.isfinite(values).all(axis=1)
    channels = np.moveaxis(values, 1, -1)
    draw = {1: _shades if grey else _colour_map, 2: _colour_wheel, 3: _natural_range}.get(
        values.shape[1], _principal
    )
    colours = draw(channels)
    colours[holes] = HOLE
    return _bytes(colours)


def _plain_numbers(views: Shaped[Tensor, "B ..."]) -> np.ndarray:
    """[B C H W] or [B D] in float64; of clips [B T C H W] the middle frame; bytes become 0 to 1."""
    values = views.detach().cpu()
    values = values.double() / 255 if values.dtype == torch.uint8 else values.double()
    if values.ndim == 3:
        values = values[:, None]
    if values.ndim == 5:
        values = values[:, values.shape[1] // 2]
    if values.ndim not in (2, 4) or 0 in values.shape:
        raise ValueError(
            f"a view is shown from [D], [H W], [C H W] or [T C H W], came: {list(views.shape[1:])}"
        )
    return values.numpy()


def _bytes(colours: np.ndarray) -> Images:
    return (colours.clip(0, 1) * 255).round().astype(np.uint8)


def _robust_range(values: np.ndarray) -> tuple[float, float]:
    """Where nearly all values lie, so that one outlier does not flatten the picture; never empty."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = np.percentile(finite, (1, 99))
    if low == high:
        low, high = finite.min(), finite.max()
    return (float(low), float(high)) if low < high else (float(low) - 0.5, float(high) + 0.5)


def _to_unit(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return (np.where(np.isfinite(values), values, low).clip(low, high) - low) / (high - low)


def _natural_range(channels: np.ndarray) -> np.ndarray:
    """0 to 1 and -1 to 1 are kept as they are; anything else is scaled by its robust range."""
    finite = channels[np.isfinite(channels)]
    if finite.size and finite.min() >= -1 and finite.max() <= 1:
        return _to_unit(channels, 0.0 if finite.min() >= 0 else -1.0, 1.0)
    return _to_unit(channels, *_robust_range(channels))


def _shades(channels: np.ndarray) -> np.ndarray:
    return _natural_range(channels).repeat(3, axis=-1)


def _colour_map(channels: np.ndarray) -> np.ndarray:
    unit = _to_unit(channels[..., 0], *_robust_range(channels))
    return matplotlib.colormaps["viridis"](unit)[..., :3]


def _colour_wheel(channels: np.ndarray) -> np.ndarray:
    """Hue is the direction and saturation the length; a and b of Lab come out near their own colours."""
    across, along = np.moveaxis(np.where(np.isfinite(channels), channels, 0), -1, 0)
    length = np.hypot(across, along)
    longest = np.percentile(length, 99) or length.max() or 1.0
    angle = np.degrees(np.arctan2(along, across)) % 360
    # +a red, +b yellow, -a green, -b blue: these lie evenly in Lab but not on the wheel of hues.
    hue = np.interp(angle, (0, 90, 180, 270, 360), (0, 60, 135, 235, 360)) / 360
    return hsv_to_rgb(np.stack([hue % 1, (length / longest).clip(0, 1), np.full_like(hue, 0.96)], axis=-1))


def _principal(channels: np.ndarray) -> np.ndarray:
    """The three directions in which the channels vary most, as red, green and blue."""
    rows = channels.reshape(-1, channels.shape[-1])
    there = rows[np.isfinite(rows).all(axis=1)]
    if not len(there):
        return np.full((*channels.shape[:-1], 3), HOLE)
    centre = there.mean(axis=0)
    _, directions = np.linalg.eigh((there - centre).T @ (there - centre))
    directions = directions[:, :-4:-1]
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, range(3)])  # eigenvectors come with either sign
    projected = (channels - centre) @ directions
    return np.stack([_to_unit(part, *_robust_range(part)) for part in np.moveaxis(projected, -1, 0)], axis=-1)


def _bars(vectors: np.ndarray) -> np.ndarray:
    """Each vector as bars from a middle line: blue and up above zero, orange and down below, grey a hole."""
    bins = np.array_split(np.arange(vectors.shape[1]), min(BARS, vectors.shape[1]))
    heights = np.stack([vectors[:, part].mean(axis=1) for part in bins], axis=1)
    finite = np.abs(heights[np.isfinite(heights)])
    tallest = (np.percentile(finite, 99) or finite.max() or 1.0) if finite.size else 1.0
    level = np.linspace(1, -1, BAR_HEIGHT)[None, :, None]
    scaled = np.nan_to_num(heights / tallest)[:, None, :]
    colours = np.full((len(vectors), BAR_HEIGHT, len(bins), 3), 0.96)
    colours[(level > 0) & (level <= scaled)] = (0.0, 0.45, 0.70)
    colours[(level < 0) & (level >= scaled)] = (0.84, 0.37, 0.0)
    colours[np.broadcast_to(~np.isfinite(heights)[:, None, :], colours.shape[:-1])] = HOLE
    return colours.repeat(-(-BARS // len(bins)), axis=2)


@house_look
def contact_sheet(
    views: Mapping[str, Shaped[Tensor, "B ..."]],
    *,
    title: str = "",
    labels: Sequence[str] | None = None,
    present: Mapping[str, Bool[Tensor, "B"]] | None = None,
    grey: Collection[str] = ("L", "Y"),
    holes: Mapping[str, int | float] | None = None,
) -> Figure:
    """One row a view, one column a sample; a view that is missing for a sample is a hatched cell.

    `grey` names views of brightness, and `holes` the number that a view has where nothing was measured.
    """
    if not views:
        raise ValueError("a contact sheet needs at least one view, came none")
    samples = len(next(iter(views.values())))
    head = 0.1 + HEAD * (bool(title) + (labels is not None))
    figure = blank_figure(
        NAMES + max(samples, 2) * (CELL + GAP) + 0.1, head + len(views) * (CELL + GAP) + 0.08
    )
    write(figure, title, 0.1, 0.08, va="top", weight="bold", size=11)
    for column, label in enumerate(labels or ()):
        _write_label(figure, label, left=NAMES + column * (CELL + GAP) + CELL / 2, top=head - 0.05)
    for row, (name, batch) in enumerate(views.items()):
        top = head + row * (CELL + GAP)
        _write_name(figure, name, _shape_text(batch), top=top)
        there = present[name].tolist() if present and name in present else [True] * samples
        style = {"grey": name in grey, "hole": (holes or {}).get(name)}
        for column, image in enumerate(_images_of_present(batch, there, style)):
            _draw_cell(figure, image, left=NAMES + column * (CELL + GAP), top=top)
    return figure


def _images_of_present(
    batch: Shaped[Tensor, "B ..."], there: list[bool], style: dict[str, Any]
) -> list[Image | None]:
    """An image for each sample that has the view, scaled over those alone, and None for the others."""
    if not any(there):
        return [None] * len(there)
    images = iter(to_images(batch[torch.tensor(there, device=batch.device)], **style))
    return [next(images) if here else None for here in there]


def _shape_text(batch: Shaped[Tensor, "B ..."]) -> str:
    return " × ".join(str(size) for size in batch.shape[1:])


def _write_name(figure: Figure, name: str, detail: str, *, top: int | float) -> None:
    write(figure, shorten(name, 13), 0.1, top + CELL / 2 - 0.02, va="bottom", weight="bold")
    write(figure, detail, 0.1, top + CELL / 2 + 0.03, va="top", size=7.5, color=QUIET)


def _write_label(figure: Figure, label: str, *, left: int | float, top: int | float) -> None:
    write(figure, shorten(label, 15), left, top, ha="center", va="bottom", size=8, color=QUIET)


def _draw_cell(
    figure: Figure, image: Image | None, *, left: int | float, top: int | float, right: bool = False
) -> Axes:
    """An image in its square, hatched where there is none, framed where it is the right one."""
    axes = bare_axes(figure, (left, top, CELL, CELL))
    if image is None:
        hatch = Rectangle(
            (0, 0), 1, 1, transform=axes.transAxes, hatch="////", fc="#f6f7f9", ec=FAINT, lw=0.8
        )
        axes.add_patch(hatch)
        axes.text(
            0.5, 0.5, "missing", transform=axes.transAxes, size=7, color=QUIET, ha="center", va="center"
        )
        return axes
    axes.imshow(image, interpolation="nearest")
    if right:
        place = {"transform": axes.transAxes, "clip_on": False, "zorder": 3}
        axes.add_patch(Rectangle((-0.02, -0.02), 1.04, 1.04, fill=False, ec=GREEN, lw=2.6, **place))
    return axes


Neighbour = tuple[Image, bool]


@house_look
def neighbour_grid(
    queries: Sequence[tuple[str, Image]], neighbours: Sequence[Sequence[Neighbour]], *, title: str = ""
) -> Figure:
    """Cross-view retrieval: a query, then its nearest in another view, with a frame around the true match."""
    if not queries or len(queries) != len(neighbours):
        raise ValueError(
            f"each query needs its neighbours: came {len(queries)} queries, {len(neighbours)} lists"
        )
    nearest = max(len(found) for found in neighbours)
    head, first = 0.1 + HEAD * (1 + bool(title)), NAMES + CELL + 0.32
    figure = blank_figure(
        first + max(nearest, 2) * (CELL + 0.1) + 0.1, head + len(queries) * (CELL + 0.1) + 0.08
    )
    write(figure, title, 0.1, 0.08, va="top", weight="bold", size=11)
    _write_label(figure, "query", left=NAMES + CELL / 2, top=head - 0.06)
    for rank in range(nearest):
        text = "nearest" if rank == 0 else f"{rank + 1}"
        _write_label(figure, text, left=first + rank * (CELL + 0.1) + CELL / 2, top=head - 0.06)
    for row, ((name, image), found) in enumerate(zip(queries, neighbours, strict=True)):
        top = head + row * (CELL + 0.1)
        rank = next((rank + 1 for rank, (_, right) in enumerate(found) if right), None)
        _write_name(figure, name, f"match at {rank}" if rank else f"not in first {len(found)}", top=top)
        _draw_cell(figure, image, left=NAMES, top=top)
        for rank, (image, right) in enumerate(found):
            _draw_cell(figure, image, left=first + rank * (CELL + 0.1), top=top, right=right)
    return figure
