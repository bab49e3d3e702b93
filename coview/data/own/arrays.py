"""Arrays, one per view: `.npz`, a folder of `.npy`, or `.mat` with its cells; rows of NaN are missing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coview.data.npy import MAGIC, read_mat, read_npy, read_npz
from coview.data.own.found import (
    Column,
    Found,
    check_views,
    known_split,
    numbered_labels,
    renamed,
    view_names,
)
from coview.data.own.readers import plain
from coview.data.stream.picture import read_file

ARRAYS = (".npz", ".npy", ".mat")
LABELS = ("label", "labels", "y", "gt", "target", "truelabel", "truth", "class", "classes")

Arrays = Mapping[str, np.ndarray]


def find_arrays(place: Path, *, alone: bool = False) -> Found:
    """The views of a file of arrays, or of a folder of `.npy` files; one called label or split tells just that."""
    stored = _read(place)
    named = {name.lower(): name for name in stored}
    label_name = next((named[name] for name in LABELS if name in named), None)
    split_name = named.get("split")
    label = None if label_name is None else _flat(stored[label_name])
    views = {name: values for name, values in stored.items() if name not in (label_name, split_name)}
    if not views:
        raise ValueError(f"{place} has no arrays of views: it has {', '.join(stored) or 'nothing'}")
    views = _one_row_a_sample(views, place, label)
    safe = view_names(list(views))
    columns = {
        safe[name]: Column(safe[name], values=_values(name, one, place)) for name, one in views.items()
    }
    samples = tuple(map(str, range(len(next(iter(views.values()))))))
    check_views(columns, place, samples, alone=alone)
    notes, classes, numbers = renamed(safe), (), None
    if label is not None:
        numbers, classes, more = numbered_labels([_word(value) for value in label], place.name)
        notes += more
    split = None
    if split_name is not None:
        split = known_split([str(word) for word in _flat(stored[split_name])], place.name)
    return Found(place, samples, columns, numbers, classes, split, tuple(notes))


def _read(place: Path) -> Arrays:
    if place.is_dir():
        return {name: one for file in sorted(place.glob("*.npy")) for name, one in _load(file).items()}
    return _read_mat(place) if place.suffix.lower() == ".mat" else _load(place)


def _load(file: Path) -> Arrays:
    """The arrays of a `.npz` by name, or that of a `.npy` under the name of its file."""
    try:
        with file.open("rb") as opened:
            alone = opened.read(len(MAGIC)) == MAGIC
        return {file.stem: read_npy(read_file(file))} if alone else read_npz(file)
    except ValueError as error:
        raise ValueError(f"{file} cannot be read: {error}") from error


def _read_mat(file: Path) -> Arrays:
    """The matrices of a MATLAB file; each matrix of a cell array is a view of its own."""
    found: dict[str, np.ndarray] = {}
    for name, values in read_mat(file).items():
        word, cell, number = name.partition("/")
        if not cell:
            found[word] = values
        elif word.lower() not in LABELS:
            found[f"{word}{int(number) + 1}"] = values
        else:
            found.setdefault(word, values)  # some files repeat the labels for every view
    return found


def _one_row_a_sample(views: Arrays, place: Path, label: np.ndarray | None) -> dict[str, np.ndarray]:
    """Arrays whose first dimension counts the samples; matrices of one column a sample are turned."""
    views = {name: values.reshape(-1, 1) if values.ndim == 1 else values for name, values in views.items()}
    samples = _common_side(list(views.values())) if label is None else len(label)
    turned = {}
    for name, values in views.items():
        if values.shape[0] == samples:
            turned[name] = values
        elif values.ndim == 2 and values.shape[1] == samples:
            turned[name] = values.T
        else:
            shapes = ", ".join(f"{one} {list(v.shape)}" for one, v in views.items())
            wanted = f"{samples}{' labels' if label is not None else ''}"
            raise ValueError(
                f"the arrays of {place} need one row a sample, but view '{name}' has {len(values)} for {wanted}: "
                f"{shapes}"
            )
    return turned


def _common_side(arrays: list[np.ndarray]) -> int:
    """How many samples there are: a side that all arrays have, the first rather than the second."""
    sides = arrays[0].shape[: 2 if arrays[0].ndim == 2 else 1]
    everywhere = [side for side in sides if all(side in (one.shape[0], *one.shape[1:2]) for one in arrays)]
    return everywhere[0] if everywhere else sides[0]


def _values(name: str, values: np.ndarray, place: Path) -> np.ndarray:
    """[N F] or [N C H W], as bytes or float32."""
    if values.ndim not in (2, 3, 4):
        raise ValueError(
            f"view '{name}' of {place} has the shape {list(values.shape)}: wanted [N F], [N H W] or [N C H W]"
        )
    try:
        values = plain(values)
    except ValueError as error:
        raise ValueError(f"view '{name}' of {place}: {error}") from error
    if values.ndim == 2:
        return values.astype(np.float32)
    if values.ndim == 3:
        return values[:, None]
    return values.transpose(0, 3, 1, 2) if values.shape[3] < values.shape[1] else values


def _flat(values: np.ndarray) -> np.ndarray:
    """Labels as [N], from columns, rows or one-hot rows."""
    values = np.squeeze(values)
    if values.ndim == 2 and values.dtype.kind in "biuf" and (values.sum(1) == 1).all():
        return values.argmax(1)
    if values.ndim != 1:
        raise ValueError(f"labels should be one a sample, got an array of shape {list(values.shape)}")
    return values


def _word(value: Any) -> str | None:
    """A label as a word; NaN and an empty text are none."""
    if isinstance(value, str | np.str_):
        return str(value).strip() or None
    return None if value != value else f"{value:g}"
