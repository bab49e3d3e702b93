"""What the views of your data look like: sizes, channels, gaps and the ranges that nearly all values lie in."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from coview.data.own.found import Column, Found
from coview.data.own.readers import Values, read_values
from coview.data.stream.picture import BROKEN

LOOKED = 200  # files of a view that are opened, evenly spread
POINTS = 4096  # values of each of them that are looked at
ROBUST = (0.5, 99.5)  # percent

Range = tuple[float, ...]
Seen = dict[Path | int, Values]
"""What was looked at, by file or number."""


@dataclass(frozen=True)
class Summary:
    """One view: how many samples have it, what form it has, and per channel or column where its values lie."""

    name: str
    present: int
    samples: int
    kind: str  # "map" or "table"
    channels: int  # of a map; columns of a table
    sizes: tuple[tuple[int, int], ...]  # heights and widths of maps, the most frequent first
    bytes: bool  # numbers of 8 bits
    low: Range
    high: Range
    extent: tuple[float, float]  # the smallest and the largest value seen
    holes: float  # share of values that are not finite, in rows that are there
    broken: tuple[str, ...] = ()

    @property
    def median_side(self) -> int:
        """The shorter side of most maps."""
        return min(self.sizes[0]) if self.sizes else 0


def survey(found: Found, rows: Int[np.ndarray, "S"]) -> dict[str, Summary]:
    """A look at some samples of every view, those that are trained on: no range may come from a test sample."""
    return {name: _look(column, rows) for name, column in found.columns.items()}


def _look(column: Column, rows: Int[np.ndarray, "S"]) -> Summary:
    have = column.present
    there = rows[have[rows]]
    if not len(there):
        raise ValueError(f"view '{column.name}' is missing for all {len(rows):,} samples to train on")
    chosen = there[np.unique(np.linspace(0, len(there) - 1, min(LOOKED, len(there))).astype(int))]
    if column.files is None:
        assert column.values is not None
        # a table is cheap to look at as a whole
        values = column.values[there if column.values.ndim == 2 else chosen]
        return _summary(column, have, dict(enumerate(values)), [])
    seen, broken = _open([column.files[row] for row in chosen], column.name)
    return _summary(column, have, seen, broken)


def _open(files: Sequence[Path | None], name: str) -> tuple[Seen, list[str]]:
    seen: Seen = {}
    broken = []
    for file in files:
        assert file is not None
        try:
            seen[file] = read_values(file.read_bytes())
        except BROKEN as error:
            broken.append(f"{file} ({error})")
    if not seen:
        raise ValueError(f"no file of view '{name}' can be read: {broken[0]}")
    return seen, broken


def _summary(column: Column, have: np.ndarray, found: Seen, broken: list[str]) -> Summary:
    _check_alike(column.name, found)
    seen = as_colour(list(found.values()))
    table = seen[0].ndim == 1
    sizes = () if table else tuple(size for size, _ in Counter(one.shape[1:] for one in seen).most_common())
    points = np.concatenate([_points(one) for one in seen], 1)
    finite = np.where(np.isfinite(points), points, np.nan)
    low, high = _robust(finite)
    known = finite[np.isfinite(finite)]
    if not len(known):
        raise ValueError(f"view '{column.name}' has no finite value in the {len(seen):,} samples looked at")
    return Summary(
        name=column.name,
        present=int(have.sum()),
        samples=len(have),
        kind="table" if table else "map",
        channels=len(seen[0]),
        sizes=sizes,  # pyright: ignore[reportArgumentType]
        bytes=seen[0].dtype == np.uint8,
        low=low,
        high=high,
        extent=(float(known.min()), float(known.max())),
        holes=float(np.isnan(finite).mean()),
        broken=tuple(broken),
    )


def as_colour(values: list[Values]) -> list[Values]:
    """Grey pictures of 8 bits among colour ones are colour pictures too."""
    if {(one.ndim, len(one), one.dtype == np.uint8) for one in values} != {(3, 1, True), (3, 3, True)}:
        return values
    return [one.repeat(3, axis=0) if len(one) == 1 else one for one in values]


def _check_alike(name: str, seen: Seen) -> None:
    """All samples of a view are maps with as many channels, or vectors of one length; sizes of maps may differ."""
    alike = as_colour(list(seen.values()))
    forms = Counter((one.ndim, len(one), one.dtype == np.uint8) for one in alike)
    if len(forms) == 1:
        return
    (usual, _), (odd, _) = forms.most_common(2)
    file = next(
        at for at, one in zip(seen, alike, strict=True) if (one.ndim, len(one), one.dtype == np.uint8) == odd
    )
    raise ValueError(f"view '{name}' mixes {_form(*usual)} and {_form(*odd)} ({file}): save all files alike")


def _form(dimensions: int, count: int, byte: bool) -> str:
    what = "number" if dimensions == 1 else "channel"
    return f"{count} {what}{'s' if count > 1 else ''}{' of 8 bits' if byte else ''}"


def _points(values: Values) -> Float[np.ndarray, "C P"]:
    flat = values.reshape(len(values), -1)
    return flat[:, :: max(flat.shape[1] // POINTS, 1)].astype(np.float64)


def _robust(points: Float[np.ndarray, "C P"]) -> tuple[Range, Range]:
    """Per channel, where all but one in a hundred values lie; of a channel that is constant, all."""
    low, high = [], []
    for channel in points:
        known = channel[np.isfinite(channel)]
        at = np.percentile(known, ROBUST) if len(known) else np.zeros(2)
        if at[0] == at[1] and len(known):
            at = np.array([known.min(), known.max()])
        low.append(_rounded(at[0]))
        high.append(_rounded(at[1]))
    return tuple(low), tuple(high)


def _rounded(value: float) -> float:
    """Four digits are enough, and can be read."""
    return float(f"{value:.4g}")
