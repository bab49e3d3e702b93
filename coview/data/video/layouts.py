"""Which clips there are, of which class and video, and what is trained and tested on: UCF101, HMDB51, own folders."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from coview.data.video.find import clips_below

FOLDS = 3  # official splits of UCF101 and HMDB51
HELD_OUT = 0.2  # of the videos of a class, where a folder is not divided
TABLE = "splits.csv"


@dataclass(frozen=True)
class Layout:
    """Clips by name (CLASS/CLIP) with their files; for each its video, and per fold what is trained and tested on."""

    name: str
    files: Mapping[str, Path]
    video: Mapping[str, str]
    folds: Mapping[int, Mapping[str, list[str]]]  # fold -> "train", "test" -> names
    second: Mapping[str, Path] = field(default_factory=dict)  # another camera's files, by the same names

    @property
    def classes(self) -> tuple[str, ...]:
        named = {name for fold in self.folds.values() for names in fold.values() for name in names}
        return tuple(sorted({class_of(name) for name in named}))


def class_of(name: str) -> str:
    """The folder that a clip lies in."""
    return name.partition("/")[0]


def ucf101(lists: Path, clips: Path) -> Layout:
    """`v_Class_g08_c01`: clip 1 of group 8 of a class, whose clips are cut from one video."""
    folds = {
        fold: {part: _ucf_list(lists / f"{part}list{fold:02d}.txt") for part in ("train", "test")}
        for fold in range(1, FOLDS + 1)
    }
    files = clips_below(clips)
    return Layout("ucf101", files, {name: re.sub(r"_c\d+$", "", name) for name in files}, folds)


def hmdb51(lists: Path, clips: Path) -> Layout:
    """`Movie_class_..._0`: the video is the movie that it was cut from."""
    folds = {fold: _hmdb_lists(lists, fold) for fold in range(1, FOLDS + 1)}
    files = clips_below(clips)
    video = {name: _movie(name) for name in files}
    return Layout("hmdb51", files, video, folds)


def own_folder(folder: Path) -> Layout:
    """A folder of clips by class, with `train/` and `test/`, or a list `splits.csv`, or divided by us.

    The list has the columns clip, video and split1, split2, ... with train, test or nothing. A second camera's clips
    lie in `second/` under the same names, the first's then in `first/`.
    """
    first = folder / "first" if (folder / "second").is_dir() else folder
    second = clips_below(folder / "second") if (folder / "second").is_dir() else {}
    if (folder / TABLE).is_file():
        return _listed(folder, clips_below(first), second)
    if (first / "train").is_dir() and (first / "test").is_dir():
        parts = {part: clips_below(first / part) for part in ("train", "test")}
        both = set(parts["train"]) & set(parts["test"])
        if both:
            raise ValueError(
                f"{first}: {min(both)} is in train/ and in test/: give its clips different names"
            )
        files = parts["train"] | parts["test"]
        folds = {1: {part: sorted(names) for part, names in parts.items()}}
        return Layout(folder.name, files, {name: name for name in files}, folds, second)
    files = clips_below(first)
    return Layout(folder.name, files, {name: name for name in files}, {1: _divided(files)}, second)


def _divided(files: Mapping[str, Path]) -> dict[str, list[str]]:
    """Of each class a fifth to test on, always the same."""
    parts: dict[str, list[str]] = {"train": [], "test": []}
    for one in sorted({class_of(name) for name in files}):
        names = sorted(name for name in files if class_of(name) == one)
        order = torch.randperm(len(names), generator=torch.Generator().manual_seed(0)).tolist()
        tests = round(HELD_OUT * len(names))
        parts["test"] += sorted(names[number] for number in order[:tests])
        parts["train"] += sorted(names[number] for number in order[tests:])
    return parts


def _listed(folder: Path, files: Mapping[str, Path], second: Mapping[str, Path]) -> Layout:
    with (folder / TABLE).open(newline="") as table:
        try:
            rows = list(csv.DictReader(table))
        except csv.Error as error:
            raise ValueError(f"{folder / TABLE} cannot be read as a table: {error}") from error
    if any(None in row or None in row.values() for row in rows):
        raise ValueError(f"{folder / TABLE} should have as many cells in each line as in the first")
    columns = [name for name in (rows[0] if rows else {}) if re.fullmatch(r"split\d+", name or "")]
    if not columns or not {"clip", "video"} <= set(rows[0]):
        raise ValueError(
            f"{folder / TABLE} wants columns clip, video and split1, got {', '.join(rows[0]) if rows else 'no rows'}"
        )
    folds = {
        int(column.removeprefix("split")): {
            part: [row["clip"] for row in rows if row[column] == part] for part in ("train", "test")
        }
        for column in columns
    }
    return Layout(folder.name, files, {row["clip"]: row["video"] for row in rows}, folds, second)


def _ucf_list(path: Path) -> list[str]:
    return [line.split()[0].removesuffix(".avi") for line in path.read_text().splitlines() if line.strip()]


def _hmdb_lists(lists: Path, fold: int) -> dict[str, list[str]]:
    """A file a class: its clips with 1 (train), 2 (test) or 0 (neither)."""
    parts: dict[str, list[str]] = {"train": [], "test": []}
    for path in sorted(lists.glob(f"*_test_split{fold}.txt")):
        one = path.name.removesuffix(f"_test_split{fold}.txt")
        for line in path.read_text().splitlines():
            name, _, mark = line.strip().rpartition(" ")
            if mark in ("1", "2"):
                parts["train" if mark == "1" else "test"].append(f"{one}/{name.strip().removesuffix('.avi')}")
    return parts


def _movie(name: str) -> str:
    one, _, clip = name.partition("/")
    movie, separator, _ = clip.rpartition(f"_{one}_")
    return movie if separator else clip
