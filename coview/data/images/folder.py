"""A folder of pictures as a dataset: a folder for each class, a list of classes beside the pictures, or no labels."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import torch

from coview.data.held_out import held_out
from coview.data.images.classes import by_folder, by_list, listed_classes, spoken_names
from coview.data.images.files import class_folders, how_many, pictures_below
from coview.data.stream import Stream
from coview.names import did_you_mean

HELD_OUT = 0.2  # of each class, where a folder is not divided into train and test
STANDS_FOR = {"test": ("test", "val", "valid", "validation"), "val": ("val", "valid", "validation")}


def read_folder(folder: Path, split: str, *, name: str, only: Sequence[str] | None = None) -> Stream:
    """One split of a folder, of all classes or of `only` some.

    `train/` beside `test/` or `val/`; what is in `unlabeled/` has no classes. A folder without `train/` is divided: of
    each class a fifth, drawn from the sorted names and always the same, is "test", the rest "train", and "all" is all.
    """
    divided = (folder / "train").is_dir()
    if split not in (splits := folder_splits(folder)) and split != "val":
        raise ValueError(f"no split '{split}' of {name} in {folder}{did_you_mean(split, splits)}; {_there(folder)}")
    classes = [] if split == "unlabeled" else class_folders(folder / "train" if divided else folder)
    if only is not None and (lacking := sorted(set(only) - set(classes))):
        raise ValueError(f"{folder} lacks {len(lacking)} classes of {name}, among them {lacking[0]}")
    classes = classes if only is None else sorted(only)
    place = _place(folder, split, labelled=bool(classes)) if divided else folder
    paths, label = _pictures(place, classes, others_too=only is not None)
    known = None if label is None else torch.tensor(label)
    stream = Stream(f"{name} {split}", {"rgb": paths}, known, spoken_names(classes, folder))
    return stream if divided or split == "all" else held_out(stream, share=HELD_OUT, seed=0)[split == "test"]


def folder_splits(folder: Path) -> tuple[str, ...]:
    """The splits that a folder has."""
    there = class_folders(folder)
    if "train" not in there:
        return ("train", "test", "all")
    test = ("test",) if any(one in there for one in STANDS_FOR["test"]) else ()
    return ("train", *test, *(["unlabeled"] if "unlabeled" in there else []))


def _there(folder: Path) -> str:
    splits = folder_splits(folder)
    advice = "" if "test" in splits else " (of the folder train/ itself a fifth would be held out for it)"
    return f"it has {', '.join(splits)}{advice}"


def _place(folder: Path, split: str, *, labelled: bool) -> Path:
    """Where a split lies; a test set without classes, as ImageNet's own is, gives way to the validation set."""
    there = [folder / one for one in STANDS_FOR.get(split, (split,)) if (folder / one).is_dir()]
    if not there:
        raise ValueError(f"no split '{split}' in {folder}; {_there(folder)}")
    known = [one for one in there if class_folders(one) or listed_classes(one) is not None]
    if labelled and not known:
        raise ValueError(f"labels are missing: {folder / 'train'} has class folders, but {there[0]} has none")
    return known[0] if labelled else there[0]


def _pictures(place: Path, classes: list[str], *, others_too: bool) -> tuple[list[str], list[int] | None]:
    """The pictures of a place, and their classes by number where there are classes."""
    table = listed_classes(place) if classes else None
    if table is not None:
        paths, label, others = by_list(place, table, classes)
    elif classes:
        paths, label, others = by_folder(place, classes, others_too=others_too)
    else:
        (paths, others), label = pictures_below(place), None
    if not paths:
        raise ValueError(f"{place} has no pictures{f', only {how_many(others)}' if others else ''}")
    if others:
        warnings.warn(f"in {place}, {how_many(others)} are no pictures by their names: left out", stacklevel=5)
    return paths, label
