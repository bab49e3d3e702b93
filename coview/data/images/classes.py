"""Which class a picture has, by its folder or by a list beside it, and what people call the classes of ImageNet."""

import csv
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coview.data.images.files import class_folders, how_many, pictures_below
from coview.names import did_you_mean

WNID = re.compile(r"n\d{8}")  # what ImageNet calls a class

Labelled = tuple[list[str], list[int], list[str]]
"""Paths of pictures, their classes by number, and files of other kinds."""


def has_wnids(folder: Path) -> bool:
    """Whether a folder has a `train` with classes of ImageNet."""
    train = folder / "train"
    return train.is_dir() and any(WNID.fullmatch(name) for name in class_folders(train))


def by_folder(place: Path, classes: Sequence[str], *, others_too: bool = False) -> Labelled:
    """The pictures of class folders; folders that are no class are a mistake, unless there may be others."""
    there = class_folders(place)
    strange = [name for name in there if name not in set(classes)]
    if strange and not others_too:
        near = did_you_mean(strange[0], classes)
        raise ValueError(f"{place} has a folder '{strange[0]}', which is no class of the training set{near}")
    there = [name for name in there if name in set(classes)]
    with ThreadPoolExecutor(16) as pool:  # a disk far away answers many at once
        found = dict(zip(there, pool.map(pictures_below, [place / name for name in there]), strict=True))
    for name, (pictures, others) in found.items():
        if not pictures:
            has = f", only {how_many(others)}" if others else ""
            raise ValueError(f"the class folder {place / name} has no pictures{has}: fill it or remove it")
    number = {name: one for one, name in enumerate(classes)}
    label = [number[name] for name, (pictures, _) in found.items() for _ in pictures]
    paths = [path for pictures, _ in found.values() for path in pictures]
    return paths, label, [path for _, others in found.values() for path in others]


def by_list(place: Path, table: dict[str, str], classes: Sequence[str]) -> Labelled:
    """The pictures of a list that are of these classes; a picture that the list leaves out is a mistake."""
    pictures, others = pictures_below(place)
    unknown = [path for path in pictures if path not in table]
    if unknown:
        raise ValueError(f"the list of classes beside {place} says nothing of {how_many(unknown)}")
    number = {name: one for one, name in enumerate(classes)}
    paths = [path for path, name in sorted(table.items()) if name in number]
    return paths, [number[table[path]] for path in paths], others


def listed_classes(place: Path) -> dict[str, str] | None:
    """The class of each picture by its path, where a list says it: Tiny-ImageNet's, or ImageNet's as Kaggle has it."""
    tiny, kaggle = place / "val_annotations.txt", _above(place, "LOC_val_solution.csv")
    if tiny.is_file():
        rows = _rows(tiny, "\t")
        return {str(place / "images" / row[0]): row[1] for row in rows}
    if kaggle is None or place.name != "val" or class_folders(place):
        return None
    return {str(place / f"{row[0]}.JPEG"): row[1].split()[0] for row in _rows(kaggle, ",")[1:]}


def spoken_names(classes: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Classes of ImageNet as people call them, where a list beside the pictures says it; others as they are."""
    lists = (_above(folder, name) for name in ("words.txt", "LOC_synset_mapping.txt"))
    source = next((file for file in lists if file is not None), None)
    if source is None or not all(WNID.fullmatch(name) for name in classes):
        return tuple(classes)
    rows = (line.split(maxsplit=1) for line in source.read_text(encoding="utf-8").splitlines())
    names = {row[0]: row[1].partition(",")[0].strip() for row in rows if len(row) == 2}
    spoken = [names.get(wnid, wnid) for wnid in classes]
    twice = {name for name in spoken if spoken.count(name) > 1}  # cranes are birds and machines
    named = zip(spoken, classes, strict=True)
    return tuple(f"{name} ({wnid})" if name in twice else name for name, wnid in named)


def _rows(file: Path, separator: str) -> list[list[str]]:
    """The rows of a list of names and classes."""
    with file.open(newline="", encoding="utf-8") as lines:
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error as error:
            raise ValueError(f"{file} cannot be read as a table: {error}") from error
    short = [row for row in rows if len(row) < 2 or not row[1].strip()]
    if short:
        raise ValueError(f"{file} should have a name and a class in each line, but one is '{short[0][0]}'")
    return rows


def _above(folder: Path, name: str) -> Path | None:
    """A file in a folder, or up to four folders above it, where Kaggle's archive has it."""
    return next((at / name for at in (folder, *folder.parents[:4]) if (at / name).is_file()), None)
