"""NYU-Depth-V2 as its authors publish it: nyu_depth_v2_labeled.mat, splits.mat, and classMapping40.mat."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from coview.data.npy import NewMatlab, read_mat
from coview.data.rgbd.classes import NYU13, NYU40, groups_of_13
from coview.data.rgbd.frames import VOID, Camera, Frames, check_depth, check_segment
from coview.files import in_a_line
from coview.names import did_you_mean

FILE, SPLITS, MAPPING = "nyu_depth_v2_labeled.mat", "splits.mat", "classMapping40.mat"
SPLIT = {"train": "trainNdxs", "test": "testNdxs"}
NYU_CAMERA = Camera(518.857901, 519.469611, 325.082448, 253.236166)
"""Of the colour camera at 480x640, from the authors' toolbox, with pixels counted from a corner and not from 1."""


def read_nyu(path: Path, split: str, *, classes: int | None = None, samples: int | None = None) -> Frames:
    """One official split or "all", 13 (the default), 40 or 894 classes, with the depths that the authors filled in.

    13 and 40 need `classMapping40.mat` beside the file (`mapClass`, 1 x 894, of Gupta et al. 2013).
    """
    classes = 13 if classes is None else classes
    if classes not in (13, 40, 894):
        raise ValueError(f"NYU-Depth-V2 has 13, 40 or 894 classes, got {classes}")
    to_40 = _mapping(path.with_name(MAPPING)) if classes < 894 else None
    with _open(path) as file:
        rows = _rows(path.with_name(SPLITS), split, len(file["images"]))[:samples]
        names = _names(file) if to_40 is None else NYU40
        fields = _fields(file, rows, path, to_40, names)
    frames = Frames(f"nyu {split}", fields, segments=names, camera=NYU_CAMERA.resized(_share(fields)))
    return frames.regrouped(groups_of_13(), NYU13) if classes == 13 else frames


def count_nyu(path: Path) -> dict[str, int]:
    """Frames by split, seen without reading them."""
    with _open(path) as file:
        return {split: len(_rows(path.with_name(SPLITS), split, len(file["images"]))) for split in SPLIT}


def _fields(
    file: Any, rows: Sequence[int], path: Path, to_40: Int[Tensor, "K"] | None, names: tuple[str, ...]
) -> dict[str, Tensor]:
    """The frames one by one: MATLAB has the last axis first, so width comes before height."""
    _, _, width, height = file["images"].shape
    kind = torch.uint8 if to_40 is not None else torch.int16
    fields = {
        "rgb": torch.empty(len(rows), 3, height, width, dtype=torch.uint8),
        "depth": torch.empty(len(rows), 1, height, width, dtype=torch.float16),
        "segment": torch.empty(len(rows), 1, height, width, dtype=kind),
    }
    for place, row in enumerate(rows):
        fields["rgb"][place] = torch.from_numpy(file["images"][row]).mT
        depth = torch.from_numpy(file["depths"][row].astype(np.float32)).mT
        check_depth(depth, f"frame {row + 1} of {path}")
        fields["depth"][place] = depth
        segment = torch.from_numpy(file["labels"][row].astype(np.int32)).mT
        if to_40 is not None:
            check_segment(segment, tuple(map(str, range(len(to_40)))), f"frame {row + 1} of {path}")
            segment = to_40[segment]
        check_segment(segment, names, f"frame {row + 1} of {path}")
        fields["segment"][place] = segment
    return fields


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """The file as HDF5, refused if it is not NYU-Depth-V2 or damaged."""
    try:
        with _checked(path) as file:
            yield file
    except (OSError, ImportError, ValueError):
        raise
    except Exception as error:  # of HDF5, which raises whatever it stumbles over
        raise ValueError(f"{path} is damaged: {in_a_line(error)}") from error


def _checked(path: Path) -> Any:
    h5py = _library("h5py", path)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(
            f"{path} is no HDF5 file: wanted is NYU-Depth-V2's own {FILE}, of 2.8 GB ({error})"
        ) from error
    lacking = [name for name in ("images", "depths", "labels", "names") if name not in file]
    if lacking or file["images"].ndim != 4 or file["images"].shape[1] != 3:
        there = ", ".join(file)
        file.close()
        what = f"lacks {', '.join(lacking)}" if lacking else "has images of another form"
        raise ValueError(f"{path} is not NYU-Depth-V2's {FILE}: it {what}, and has {there}")
    return file


def _rows(path: Path, split: str, frames: int) -> list[int]:
    """The numbers of the frames of a split, from 0."""
    if split == "all":
        return list(range(frames))
    if split not in SPLIT:
        raise ValueError(
            f"no split '{split}' of NYU-Depth-V2{did_you_mean(split, SPLIT)}; it has train, test and all"
        )
    rows = _variable(path, SPLIT[split], "the official split").astype(int).ravel() - 1
    if len(rows) == 0 or rows.min() < 0 or rows.max() >= frames:
        raise ValueError(f"{path} names frames up to {rows.max(initial=-1) + 1}, but there are {frames}")
    return rows.tolist()


def _mapping(path: Path) -> Int[Tensor, "K"]:
    """For each of the 894 classes the number among the 40, void first."""
    table = _variable(path, "mapClass", "the 40 classes (classes=894 needs no such file)").ravel()
    if len(table) != 894 or table.min() < 0 or table.max() > 40:
        raise ValueError(
            f"{path} should map 894 classes to 1 to 40, got {len(table)} numbers up to {table.max(initial=0)}"
        )
    return torch.tensor([0, *table.astype(int).tolist()])


def _variable(path: Path, name: str, why: str) -> np.ndarray:
    """A variable of a MATLAB file of either kind."""
    if not path.is_file():
        raise FileNotFoundError(
            f"no {path}: {why} is in its '{name}', as the authors publish it; put it there"
        )
    try:
        found = read_mat(path)
    except NewMatlab:  # which is HDF5
        try:
            with _library("h5py", path).File(path, "r") as file:
                found = {key: np.asarray(file[key]) for key in file if key == name}
        except (RuntimeError, KeyError, TypeError, MemoryError) as error:
            raise ValueError(f"{path} is damaged: {in_a_line(error)}") from error
    if name not in found:
        raise ValueError(f"{path} has no variable '{name}': wanted is the file that its authors publish")
    return np.asarray(found[name])


def _names(file: Any) -> tuple[str, ...]:
    """What the classes are called: each a reference to the codes of its letters."""
    references = np.asarray(file["names"]).ravel()
    return (VOID, *("".join(map(chr, np.asarray(file[one]).ravel())) for one in references))


def _share(fields: dict[str, Tensor]) -> float:
    return fields["rgb"].shape[-1] / 640


def _library(name: str, path: Path) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{path} is read with {name.partition('.')[0]}: pip install 'coview[rgbd]'"
        ) from error
