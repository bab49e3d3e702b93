"""Where image sets lie on this machine."""

import os
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path

ROOT = "COVIEW_DATA"  # the variable that names the folder of image sets


class AbsentData(FileNotFoundError):
    """An image set that is not where it was looked for."""


def data_root(root: str | PathLike[str] | None) -> Path:
    """The folder given, else the one that $COVIEW_DATA names, else `data` in the current folder."""
    return Path(root or os.environ.get(ROOT) or "data").expanduser().absolute()


def find_place(
    root: Path, name: str, folders: Sequence[str], is_there: Callable[[Path], bool]
) -> Path | None:
    """The folder of a set: one of `folders` below the root, or below the set's own name there, or the root itself."""
    return next((place for place in _places(root, name, folders) if is_there(place)), None)


def where(root: Path, folders: Sequence[str]) -> str:
    """Where a set was looked for, for messages."""
    if root.exists() and not root.is_dir():
        return f"{root}, which is no folder"
    looked = " or ".join(folders)
    return f"{root} (looked for {looked})" if root.is_dir() else f"{root}, a folder that does not exist"


def _places(root: Path, name: str, folders: Sequence[str]) -> Iterator[Path]:
    yield from (root / folder for folder in folders)
    yield from (root / name / folder for folder in folders)
    yield from (root / name, root)
