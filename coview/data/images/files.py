"""What lies in a folder: class folders, pictures at any depth, and files of other kinds."""

import os
from pathlib import Path

# A picture is known by its suffix; of these others nobody wonders that they are left out.
PICTURES = frozenset([".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp"])
BESIDE = frozenset([".txt", ".md", ".csv", ".tsv", ".json", ".xml", ".yaml", ".html", ".db", ".ini", ".mat"])
NAMED = 5  # files that a message names


def class_folders(folder: Path) -> list[str]:
    """The folders in a folder, sorted; hidden ones do not count."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())


def pictures_below(folder: Path) -> tuple[list[str], list[str]]:
    """Pictures at any depth, sorted, and other files that one might take for some; hidden files do not count."""
    pictures, others, waiting, seen = [], [], [folder], set()
    while waiting:
        here = waiting.pop()
        status = os.stat(here)
        if (status.st_dev, status.st_ino) in seen:  # links may go around in a circle
            continue
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(here) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
        waiting += [Path(entry.path) for entry in shown if entry.is_dir()]
        files = [entry for entry in shown if not entry.is_dir()]
        pictures += [entry.path for entry in files if _is_picture(entry)]
        others += [entry.path for entry in files if not _is_picture(entry) and _suffix(entry) not in BESIDE]
    return sorted(pictures), sorted(others)


def how_many(files: list[str]) -> str:
    """A number of files, some of them named."""
    more = ", ..." if len(files) > NAMED else ""
    listing = ", ".join(Path(file).name for file in files[:NAMED])
    return f"{len(files):,} file{'s' * (len(files) > 1)} ({listing}{more})"


def _is_picture(entry: os.DirEntry[str]) -> bool:
    """A link may lead nowhere: then it is found broken later. A pipe would be waited for."""
    return _suffix(entry) in PICTURES and (entry.is_file() or entry.is_symlink())


def _suffix(entry: os.DirEntry[str]) -> str:
    return os.path.splitext(entry.name)[1].lower()
