"""One entry to every image set: by name, or by the path of a folder."""

import os
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from coview.data.dataset import Dataset
from coview.data.images.fetch import fetch
from coview.data.images.folder import read_folder
from coview.data.images.memory import KEEP, LIMIT, load
from coview.data.images.place import AbsentData, data_root, find_place, where
from coview.data.images.sets import SETS, ImageSet
from coview.data.images.square import squares
from coview.data.resident import Resident
from coview.data.scenes import scenes
from coview.data.stream import Stream
from coview.names import did_you_mean

ROOMS = {"train": 2560, "test": 1000, "held-out": 1000}  # that are rendered for each split of "scenes"


def image_data(
    name: str,
    split: str,
    *,
    root: str | PathLike[str] | None = None,
    download: bool = False,
    side: int | None = None,
    samples: int | None = None,
    resident: str = "auto",
    limit: int = LIMIT,
) -> Dataset:
    """One split, or several as "train+unlabeled": pictures as field "rgb", uint8 [3 H W]; a label of -1 is not known.

    `name` is a known set (`coview data` lists them), "scenes" for rendered rooms with all their fields, or the path of
    a folder of pictures. Known sets lie below `root`, by default $COVIEW_DATA or `data` in the current folder, and
    with `download` are fetched to it where their authors allow that. Of all pictures, `samples` spread over the set
    are taken. With `side`, each is the square in its middle, so many pixels wide.

    Pictures in files are read into memory if they have one size and fit into `limit` bytes; else they stream. That
    is "auto"; "always" and "never" insist. CIFAR-10, STL-10 (3 GB) and rooms are in memory in any case.
    """
    _check(resident, side=side, samples=samples)
    if name == "scenes":
        return rooms(split, samples=samples, side=side or 64)
    folder, image_set = find_images(name, data_root(root), download=download)
    parts = [read_part(folder, image_set, part) for part in split.split("+")]
    found = parts[0] if len(parts) == 1 else joined(parts, split)
    if samples is not None and samples < len(found):
        found = found.subset(torch.arange(samples) * len(found) // samples)
    if isinstance(found, Stream):
        return load(found, side=side, resident=resident, limit=limit)
    pixels = found.fields["rgb"].contiguous()
    return replace(found, fields={"rgb": pixels if side is None else squares(pixels, side)})


def rooms(split: str, *, samples: int | None, side: int) -> Resident:
    """Rendered rooms with all their fields."""
    if split not in ROOMS:
        raise ValueError(
            f"no split '{split}' of scenes{did_you_mean(split, ROOMS)}; it has {', '.join(ROOMS)}"
        )
    return scenes(split, samples=samples or ROOMS[split], size=side)


def find_images(name: str, root: Path, *, download: bool = False) -> tuple[Path, ImageSet | None]:
    """The folder of a known set, or of the user's pictures (then there is no set)."""
    if name not in SETS:
        return _own_folder(name, root), None
    image_set = SETS[name]
    place = find_place(root, name, image_set.folders, image_set.is_there)
    if place is None and download and image_set.archive is not None and not root.is_file():
        place = fetch(image_set.archive, root)
    if place is None:
        by_command = (
            f"`coview data {name} --root {root} --download` fetches it, or " if image_set.archive else ""
        )
        raise AbsentData(
            f"no {image_set.title} in {where(root, image_set.folders)}: {by_command}{image_set.get}; "
            "--root, root= or $COVIEW_DATA name another folder"
        )
    return place, image_set


def joined(parts: Sequence[Any], split: str) -> Any:
    """Several parts of a set as one; what has no label among others gets -1."""
    first = parts[0]
    name = f"{first.name.rpartition(' ')[0]} {split}"
    label = None
    if any(part.label is not None for part in parts):
        unknown = [torch.full((len(part),), -1) if part.label is None else part.label for part in parts]
        label = torch.cat(unknown)
    classes = next((part.classes for part in parts if part.classes), ())
    if isinstance(first, Stream):
        paths = [path for part in parts for path in part.files["rgb"]]
        return replace(first, name=name, files={"rgb": paths}, label=label, classes=classes)
    pixels = torch.cat([part.fields["rgb"] for part in parts])
    return Resident(name, {"rgb": pixels}, label, classes)


def read_part(folder: Path, image_set: ImageSet | None, split: str) -> Resident | Stream:
    """One split, pictures left in their files where they are files."""
    if image_set is None:
        return read_folder(folder, split, name=folder.name)
    if split not in image_set.splits:
        raise ValueError(
            f"no split '{split}' of {image_set.title}{did_you_mean(split, image_set.splits)}; "
            f"it has {', '.join(image_set.splits)}, or several joined by +"
        )
    return image_set.read(folder, split)


def _check(resident: str, **counts: int | None) -> None:
    if resident not in KEEP:
        raise ValueError(f"resident is {', '.join(KEEP)}, got '{resident}'")
    for what, number in counts.items():
        if number is not None and number < 1:
            raise ValueError(f"{what} counts from 1, got {number}")


def _own_folder(name: str, root: Path) -> Path:
    looked = [Path(name).expanduser().absolute(), root / name]
    for place in looked:
        if place.is_dir():
            return place
    if looked[0].exists():
        raise NotADirectoryError(f"{looked[0]} is no folder: pictures are given as a folder of them")
    known = (*SETS, "scenes")
    if os.sep in name:
        raise AbsentData(f"no folder {name} (looked for {looked[0]})")
    raise AbsentData(
        f"no image set or folder '{name}'{did_you_mean(name, known)}; known are {', '.join(known)}, "
        f"and folders were looked for at {looked[0]} and {looked[1]}"
    )
