"""Where your views may lie, and who finds them there."""

from os import PathLike
from pathlib import Path

from coview.data.own.arrays import ARRAYS, find_arrays
from coview.data.own.folder import find_folder
from coview.data.own.found import Found
from coview.data.own.manifest import TABLES, find_manifest


def find(path: str | PathLike[str], *, alone: bool = False) -> Found:
    """The views at a place: a folder of folders, a CSV or Parquet table, a file or a folder of arrays.

    `alone`: one view is enough, and views may have no sample in common, as they need not where nothing is contrasted.
    """
    place = Path(path).expanduser()
    if not place.exists():
        raise FileNotFoundError(f"no folder or file {path}")
    if place.is_dir():
        tables = [
            file
            for file in sorted(place.iterdir())
            if file.suffix.lower() in TABLES and "manifest" in file.stem
        ]
        folders = any(one.is_dir() and not one.name.startswith(".") for one in place.iterdir())
        if tables:
            return find_manifest(tables[0], alone=alone)
        return (
            find_arrays(place, alone=alone)
            if not folders and any(place.glob("*.npy"))
            else find_folder(place, alone=alone)
        )
    suffix = place.suffix.lower()
    if suffix in TABLES:
        return find_manifest(place, alone=alone)
    if suffix in ARRAYS:
        return find_arrays(place, alone=alone)
    raise ValueError(
        f"{place} is of no type that is known here: wanted is a folder with a folder for each view, a table "
        f"({' '.join(TABLES)}) or arrays ({' '.join(ARRAYS)})"
    )
