"""A folder of pictures as a dataset: a folder for each class, a list of classes beside the pictures, or no labels."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import torch

from coview.data.held import held_out
from coview.data.images.classes import by_folder, by_list, listed_classes, spoken_names
from coview.data.images.files import class_folders, how_many, pictures_below
from coview.data.stream import Stream
from coview.names import did_you_mean

HELD_OUT = 0.2  # of each class, where a folder is not divided into train and test
TEST = ("test", "val", "valid", "validation")  # folders to test on; the first that has classes is taken


def read_folder(folder: Path, split: str, *, name: str, only: Sequence[str] | None = None) -> Stream:
    """One split of a folder that has `train/`, beside `test/` or `val/`; what is in `unlabeled/` has no classes.

    A folder without `train/` is divided: of each class a fifth, drawn from the sorted names and always the same, is
    "test", the rest is "train", and "all" is all. Of classes that are many, `only` some are read.
    """
    splits = folder_splits(folder)
    if split not in splits:
        raise ValueError(
            f"no split '{split}' of {folder}{did_you_mean(split, splits)}; it has {', '.join(splits)}"
        )
    if "all" in splits:
        return _divided(folder, split, name)
    classes = class_folders(folder / "train") if only is None else _chosen(folder, only)
    classes = classes if split != "unlabeled" else []
    place = _place_to_test(folder, classes) if split == "test" else folder / split
    return _pictures(place, classes, f"{name} {split}", others_too=only is not None)


def folder_splits(folder: Path) -> tuple[str, ...]:
    """The splits that a folder has; of one that is not divided, those that it is divided into."""
    there = class_folders(folder)
    tests = [one for one in TEST if one in there]
    if "train" in there:
        test = ["test", *(["val"] if tests[:2] == ["test", "val"] else [])] if tests else []
        return ("train", *test, *(["unlabeled"] if "unlabeled" in there else []))
    if tests or (folder / "train").exists():
        raise ValueError(f"{folder} has no folder train/: it has {', '.join(there) or 'a file of that name'}")
    return ("train", "test", "all")


def _divided(folder: Path, split: str, name: str) -> Stream:
    everything = _pictures(folder, class_folders(folder), f"{name} {split}")
    return everything if split == "all" else held_out(everything, share=HELD_OUT, seed=0)[split == "test"]


def _chosen(folder: Path, only: Sequence[str]) -> list[str]:
    lacking = sorted(set(only) - set(class_folders(folder / "train")))
    if lacking:
        raise ValueError(
            f"{folder / 'train'} lacks {len(lacking)} of {len(only)} classes, such as {lacking[0]}"
        )
    return sorted(only)


def _place_to_test(folder: Path, classes: list[str]) -> Path:
    """ImageNet's own test set has no labels, and gives way to the validation set."""
    there = [folder / one for one in TEST if (folder / one).is_dir()]
    known = [
        one for one in there if set(class_folders(one)) & set(classes) or listed_classes(one) is not None
    ]
    if classes and not known:
        raise ValueError(
            f"labels are missing: {there[0]} has no folder called like a class, as train/{classes[0]} is"
        )
    return known[0] if classes else there[0]


def _pictures(place: Path, classes: list[str], name: str, *, others_too: bool = False) -> Stream:
    """The pictures of a place; without classes they have no labels."""
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
        warnings.warn(
            f"in {place}, {how_many(others)} are no pictures by their names: left out", stacklevel=5
        )
    known = None if label is None else torch.tensor(label)
    return Stream(name, {"rgb": paths}, known, spoken_names(classes, place))
