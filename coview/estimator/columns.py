"""What scikit-learn hands over, as one table per view: a dict, a list, or one array with groups of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

Groups = dict[str, np.ndarray]
"""The columns of each view, by its name."""

Tables = dict[str, Float[np.ndarray, "N _"]]
"""The numbers of each view, NaN where there is none."""


def is_apart(views: Any) -> bool:
    """Whether the views come one by one, and not as the columns of one array."""
    if isinstance(views, Mapping):
        return not issparse(views)  # one kind of sparse matrix is a mapping too
    return isinstance(views, list | tuple) and len(views) > 0 and all(np.ndim(one) == 2 for one in views)


def side_by_side(views: Mapping[str, Any] | Sequence[Any]) -> tuple[Float[np.ndarray, "N F"], Groups]:
    """Views as one array, and the columns of each: what cross-validation can cut into folds."""
    named = views if isinstance(views, Mapping) else {f"view{n + 1}": one for n, one in enumerate(views)}
    tables = {str(name): checked(one, str(name)) for name, one in named.items()}
    if not tables:
        raise ValueError("wanted one or more views, got none")
    counts = {name: len(table) for name, table in tables.items()}
    if len(set(counts.values())) > 1:
        listing = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise ValueError(f"views need one row a sample, got {listing}")
    ends = np.cumsum([table.shape[1] for table in tables.values()])
    starts = [0, *ends[:-1]]
    groups = {name: np.arange(a, b) for name, a, b in zip(tables, starts, ends, strict=True)}
    return np.concatenate(list(tables.values()), 1), groups


def checked(table: Any, name: str) -> Float[np.ndarray, "N F"]:
    """One view as numbers [N F]; NaN is what is missing, infinity is refused."""
    check: Any = check_array  # its annotations are narrower than what it takes
    return check(table, dtype=np.float32, ensure_all_finite="allow-nan", input_name=name)


def grouped(columns: Any, count: int, names: Sequence[str] | None = None) -> Groups:
    """The columns of each view of an array: by name, by their widths, by names like `view.feature`, or two halves."""
    if columns is None and names is not None and all("." in name for name in names):
        views = np.array([name.partition(".")[0] for name in names])
        return {str(view): np.flatnonzero(views == view) for view in dict.fromkeys(views)}
    if columns is None:
        half = np.array_split(np.arange(count), min(count, 2))
        return {f"view{n + 1}": part for n, part in enumerate(half)}
    if isinstance(columns, Mapping):
        return {str(name): _numbers(name, one, count) for name, one in columns.items()}
    widths = [int(width) for width in columns]
    if sum(widths) != count or min(widths, default=0) < 1:
        raise ValueError(
            f"columns={widths} are the widths of the views: their sum should be the {count} columns of X"
        )
    starts = np.cumsum([0, *widths[:-1]])
    spans = zip(starts, widths, strict=True)
    return {f"view{n + 1}": start + np.arange(width) for n, (start, width) in enumerate(spans)}


def present(table: Float[np.ndarray, "N F"]) -> Bool[np.ndarray, "N"]:
    """Which samples have a view: those with a number in its row."""
    return np.logical_not(np.isnan(table).all(1))


def _numbers(name: str, columns: Any, count: int) -> np.ndarray:
    numbers = np.arange(count)[columns] if isinstance(columns, slice) else np.asarray(columns, dtype=int)
    if not numbers.size or numbers.min() < -count or numbers.max() >= count:
        raise ValueError(f"view '{name}' wants columns {columns}, but X has {count}")
    return numbers
