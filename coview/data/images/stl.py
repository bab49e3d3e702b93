"""STL-10 as its authors packed it: bytes by picture, channel, column and row; ten folds of the training set."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from coview.data.resident import Resident

SIDE = 96
BYTES = 3 * SIDE * SIDE
FOLDS = 10
SPLITS = ("train", "test", "unlabeled", *(f"fold{number}" for number in range(FOLDS)))


def read_stl10(folder: Path, split: str) -> Resident:
    """The pictures of a split, left on the disk until they are asked for; "fold3" is the fourth official fold."""
    part = "train" if split.startswith("fold") else split
    pixels, classes = _pixels(folder / f"{part}_X.bin"), _classes(folder)
    label = None if part == "unlabeled" else _label(folder / f"{part}_y.bin", len(pixels))
    found = Resident(f"STL-10 {split}", {"rgb": pixels}, label, classes if label is not None else ())
    return (
        found if part == split else found.subset(_fold(folder, int(split.removeprefix("fold")), len(pixels)))
    )


def _pixels(path: Path) -> Tensor:
    size = path.stat().st_size
    if size == 0 or size % BYTES:
        raise ValueError(f"{path} is cut off: {size:,} bytes are no whole number of pictures of {BYTES:,}")
    pixels = np.memmap(path, np.uint8, mode="c", shape=(size // BYTES, 3, SIDE, SIDE))
    return torch.from_numpy(pixels).transpose(2, 3)


def _label(path: Path, pictures: int) -> Tensor:
    label = torch.from_numpy(np.fromfile(path, np.uint8).astype(np.int64) - 1)
    if len(label) != pictures:
        raise ValueError(f"{path} has {len(label):,} labels for {pictures:,} pictures: get STL-10 again")
    return label


def _classes(folder: Path) -> tuple[str, ...]:
    return tuple((folder / "class_names.txt").read_text().split())


def _fold(folder: Path, number: int, pictures: int) -> Tensor:
    folds = (folder / "fold_indices.txt").read_text().splitlines()
    if len(folds) != FOLDS:
        raise ValueError(f"{folder / 'fold_indices.txt'} should have {FOLDS} lines, but has {len(folds)}")
    rows = [int(one) for one in folds[number].split()]
    if not rows or min(rows) < 0 or max(rows) >= pictures:
        raise ValueError(
            f"{folder / 'fold_indices.txt'} names no pictures, or others than the {pictures:,} there are"
        )
    return torch.tensor(rows)
