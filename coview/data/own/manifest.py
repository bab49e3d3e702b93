"""A table that names the views: CSV or Parquet, a column per view with paths of files or with numbers."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coview.data.own.found import (
    Column,
    Found,
    check_views,
    known_split,
    normal_name,
    numbered_labels,
    renamed,
    view_names,
)
from coview.data.own.readers import SUPPORTED

TABLES = (".csv", ".tsv", ".parquet")
SAMPLE = ("sample", "stem", "id", "name")  # a column called so names the samples, and is no view
FILE = ("file", "filename")  # and one of these may, where there is none
MISSING = ("", "na", "nan", "null", "none")

Rows = Mapping[str, Sequence[Any]]
"""The columns of a table by name; None where a cell is empty."""


def find_manifest(file: Path, *, alone: bool = False) -> Found:
    """The views that a table names. Columns `view.feature` belong together; paths are as seen from the table."""
    rows = read_rows(file)
    called = {name.lower(): name for name in rows}
    key = sample_column(rows, file)
    special = {called[kind] for kind in ("label", "split", *SAMPLE) if kind in called} | {key}
    grouped: dict[str, list[str]] = {}
    for name in rows:
        if name not in special:
            grouped.setdefault(name.partition(".")[0], []).append(name)
    if not grouped:
        raise ValueError(f"{file} has no column of a view: it has {', '.join(rows)}")
    safe = view_names(list(grouped))
    columns = {
        safe[name]: _column(safe[name], {one: rows[one] for one in names}, file)
        for name, names in grouped.items()
    }
    samples = _samples(rows, key, file)
    check_views(columns, file, samples, alone=alone)
    notes = renamed(safe)
    notes += [f"column '{name}' is left aside" for name in rows if name.lower() in SAMPLE and name != key]
    label, classes, more = None, (), []
    if "label" in called:
        words = [None if value is None else _word(value) for value in rows[called["label"]]]
        label, classes, more = numbered_labels(words, file.name)
    split = known_split(rows[called["split"]], file.name) if "split" in called else None
    return Found(file, samples, columns, label, classes, split, (*notes, *more))


def read_rows(file: Path) -> Rows:
    """The columns of a table."""
    rows = _read_parquet(file) if file.suffix.lower() == ".parquet" else _read_csv(file)
    if not rows or not len(next(iter(rows.values()))):
        raise ValueError(f"{file} has no rows: wanted a line of column names, and a line for each sample")
    return rows


def sample_column(rows: Rows, file: Path) -> str | None:
    """The column that names the samples, if one is called so; each row needs a name of its own there."""
    named = [name for name in rows if name.lower() in SAMPLE]
    others = [name for name in rows if name.lower() in FILE]
    found = next((name for name in (*named, *others) if not _doubled(rows[name])), None)
    if found is None and named:
        double = _doubled(rows[named[0]])[0]
        what = (
            "leaves a sample without a name" if double is None else f"names sample '{double}' more than once"
        )
        raise ValueError(f"{file} {what} (column '{named[0]}'): wanted is one row a sample, each with a name")
    return found


def _doubled(names: Sequence[Any]) -> list[Any]:
    """Names that are missing, or stand there more than once."""
    return [name for name, count in Counter(names).items() if count > 1 or name is None]


def _read_csv(file: Path) -> Rows:
    """With commas, semicolons or tabs, whichever the first line has most of."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        lines = [line for line in csv.reader(text.splitlines(), delimiter=delimiter) if line]
    except csv.Error as error:
        raise ValueError(f"{file} cannot be read as a table: {error}") from error
    if not lines:
        return {}
    names = [name.strip() for name in lines[0]]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ValueError(f"{file} has two columns called '{double}': rename one")
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(names):
            raise ValueError(f"{file}, line {number}: wanted {len(names)} cells, got {len(line)}")
    cells = zip(*lines[1:], strict=True)
    return {name: [_cell(text) for text in column] for name, column in zip(names, cells, strict=False)}


def _read_parquet(file: Path) -> Rows:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ModuleNotFoundError("Parquet files need pyarrow: pip install 'coview[own]'") from error
    try:
        table = parquet.read_table(file)
    except Exception as error:  # of arrow, for bytes that are no Parquet
        raise ValueError(f"{file} cannot be read as Parquet: {error}") from error
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _cell(text: str) -> str | None:
    text = text.strip()
    return None if text.lower() in MISSING else text


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _samples(rows: Rows, key: str | None, file: Path) -> tuple[str, ...]:
    if key is None:
        count = len(next(iter(rows.values())))
        return tuple(str(number) for number in range(count))
    return tuple(normal_name(str(name)) for name in rows[key])


def _column(name: str, columns: Rows, file: Path) -> Column:
    """One view: paths, lists of numbers, or numbers of one or several columns."""
    numbers = {one: _numbers(values) for one, values in columns.items()}
    known = [values for values in numbers.values() if values is not None]
    if len(known) == len(numbers):
        return Column(name, values=np.concatenate(known, 1))
    wrong = next(one for one, values in numbers.items() if values is None)
    first = next(value for value in columns[wrong] if not _is_number(value))
    if len(columns) > 1 or not isinstance(first, str) or not first.lower().endswith(SUPPORTED):
        if isinstance(first, str) and re.fullmatch(r"[-+]?\d+,\d+", first.strip()):
            raise ValueError(f"column '{wrong}' of {file} has decimal commas: {first!r}; write points")
        raise ValueError(
            f"column '{wrong}' of {file} holds neither numbers nor files that can be read ({' '.join(SUPPORTED)}): "
            f"{first!r}; leave it out, or call it label, split or sample"
        )
    return Column(name, files=_files(columns[wrong], wrong, file))


def _numbers(values: Sequence[Any]) -> np.ndarray | None:
    """Numbers [N F], of cells with one or of lists, NaN where there is none; None if some are no numbers."""
    lists = [value for value in values if isinstance(value, list)]
    if lists:
        width = len(lists[0])
        gap = [np.nan] * width
        if any(len(one) != width for one in lists) or not all(isinstance(v, list | None) for v in values):
            return None
        try:
            return np.array([gap if value is None else value for value in values], dtype=np.float32)
        except (ValueError, TypeError):
            return None
    if not all(_is_number(value) for value in values):
        return None
    return np.array([[np.nan if value is None else float(value)] for value in values], dtype=np.float32)


def _is_number(value: Any) -> bool:
    if value is None:
        return True
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)


def _files(values: Sequence[Any], name: str, table: Path) -> tuple[Path | None, ...]:
    files = [None if value is None else table.parent / str(value) for value in values]
    lost = [file for file in files if file is not None and not file.is_file()]
    if lost:
        total = sum(file is not None for file in files)
        raise FileNotFoundError(
            f"column '{name}' of {table}: {len(lost):,} of {total:,} files are not there, first {lost[0]}"
        )
    wrong = next((file for file in files if file is not None and file.suffix.lower() not in SUPPORTED), None)
    if wrong is not None:
        raise ValueError(
            f"column '{name}' of {table} names {wrong.name}: only {' '.join(SUPPORTED)} can be read"
        )
    return tuple(files)
