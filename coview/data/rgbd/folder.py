"""A folder of frames: rgb/, depth/, normal/ and label/ with files of the same stems, any of which may be missing."""

import json
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from coview.data.held import held_out_part
from coview.data.rgbd.files import READ, SUFFIXES
from coview.data.rgbd.frames import VOID, Camera, Frames, check_segment, usual_camera
from coview.names import did_you_mean

HELD_OUT = 0.2  # of all frames, where a folder is not divided
FIELDS = {"rgb": "rgb", "depth": "depth", "normal": "normal", "label": "segment"}  # by folder
SHOWS = {"rgb": ("L", "ab", "rgb"), "depth": ("depth",), "normal": ("normal",), "label": ("segment",)}
"""The views that a frame has if it has the file."""


@dataclass(frozen=True)
class Listing:
    """What files a split has, by folder and stem, and which stems are its frames."""

    stems: tuple[str, ...]
    files: Mapping[str, Mapping[str, Path]]


def read_folder(folder: Path, split: str) -> Frames:
    """One split, in memory; frames must have one size, and what a frame lacks is not present."""
    listing = list_frames(folder, split)
    settings = _settings(folder)
    scale = float(settings.get("depth_scale", 1000.0))
    fields = {FIELDS[kind]: _read(kind, listing, scale) for kind in listing.files}
    _check_sizes(folder, fields)
    segments = _segments(folder, fields.get("segment"))
    if "segment" in fields:
        _check_labels(listing, fields["segment"], segments)
        fields["segment"] = fields["segment"].to(torch.uint8 if len(segments) <= 256 else torch.int16)
    camera = _camera(folder, settings, *next(iter(fields.values())).shape[-2:])
    gaps = _present(listing)
    return Frames(f"{folder.name} {split}", fields, present=gaps, segments=segments, camera=camera)


def list_frames(folder: Path, split: str) -> Listing:
    """The frames of a split: those that `train.txt` and `test.txt` list, or in `train/` and `test/`, or a fifth.

    A folder that is not divided is: a fifth of the frames, drawn from the sorted stems and always the same, is "test".
    """
    lists = {one.stem: one for one in sorted(folder.glob("*.txt")) if one.stem in ("train", "test")}
    parts = {one: folder / one for one in ("train", "test") if (folder / one / "rgb").is_dir()}
    splits = tuple(lists or parts or ("train", "test"))
    if split not in (*splits, "all"):
        raise ValueError(
            f"no split '{split}' of {folder}{did_you_mean(split, splits)}; it has {', '.join(splits)}"
        )
    files = _files(parts[split] if split in parts and not lists else folder)
    stems = sorted(set().union(*files.values()))
    if split in lists:
        wanted = lists[split].read_text().split()
        lacking = sorted(set(wanted) - set(stems))
        if lacking:
            raise ValueError(
                f"{lists[split]} lists {len(lacking)} frames that are not there, such as {lacking[0]}"
            )
        stems = wanted
    elif split != "all" and split not in parts:
        test = held_out_part(torch.zeros(len(stems), dtype=torch.int64), share=HELD_OUT, seed=0)
        stems = [stem for stem, out in zip(stems, test.tolist(), strict=True) if out == (split == "test")]
    return Listing(tuple(stems), files)


def is_folder_of_frames(folder: Path) -> bool:
    """Whether a folder looks like one of frames."""
    return any((place / "rgb").is_dir() for place in (folder, folder / "train"))


def _files(folder: Path) -> dict[str, dict[str, Path]]:
    found = {}
    for kind in FIELDS:
        place = folder / kind
        paths = sorted(place.iterdir()) if place.is_dir() else []
        files = {path.stem: path for path in paths if path.suffix.lower() in SUFFIXES}
        if files:
            found[kind] = files
    if "rgb" not in found:
        raise ValueError(
            f"{folder} has no pictures in rgb/: rgb/, depth/, normal/ and label/ have files of the same stems"
        )
    return found


def _read(kind: str, listing: Listing, scale: float) -> Tensor:
    """Every file of a kind in one tensor, zeros where a frame has none."""
    files = listing.files[kind]
    read = partial(READ[kind], scale=scale) if kind == "depth" else READ[kind]
    there = [(row, files[stem]) for row, stem in enumerate(listing.stems) if stem in files]
    if not there:
        raise ValueError(f"none of the {len(listing.stems)} frames has a file in {kind}/")
    first = read(there[0][1])
    values = first.new_zeros(len(listing.stems), *first.shape)
    with ThreadPoolExecutor() as threads:
        for (row, path), one in zip(there, threads.map(lambda item: read(item[1]), there), strict=True):
            if one.shape != first.shape:
                raise ValueError(
                    f"{path} is {_size(one)}, but {there[0][1]} is {_size(first)}: frames of a set have one size"
                )
            values[row] = one
    return values


def _check_sizes(folder: Path, fields: Mapping[str, Tensor]) -> None:
    sizes = {name: _size(values) for name, values in fields.items()}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(
            f"the maps of {folder} differ in size ({listing}): bring depth and all others to the picture's"
        )


def _check_labels(listing: Listing, segment: Tensor, segments: tuple[str, ...]) -> None:
    """Name the first file that has a label without a class."""
    if int(segment.max()) >= len(segments) or int(segment.min()) < 0:
        for row, stem in enumerate(listing.stems):
            check_segment(segment[row], segments, str(listing.files["label"].get(stem, stem)))


def _segments(folder: Path, segment: Tensor | None) -> tuple[str, ...]:
    """Names from `classes.txt`, one a line, without void; else the numbers that occur."""
    if segment is None:
        return ()
    path = folder / "classes.txt"
    if path.is_file():
        return (VOID, *(line.strip() for line in path.read_text().splitlines() if line.strip()))
    return (VOID, *(str(number) for number in range(1, int(segment.max()) + 1)))


def _settings(folder: Path) -> dict[str, float]:
    path = folder / "camera.json"
    if not path.is_file():
        return {}
    try:
        return {name: float(value) for name, value in json.loads(path.read_text()).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f'{path} should be like {{"fx": 519, "fy": 519, "cx": 320, "cy": 240, "depth_scale": 1000}} ({error})'
        ) from error


def _camera(folder: Path, settings: Mapping[str, float], height: int, width: int) -> Camera:
    """The camera of `camera.json`; where there is none, a usual one, and a warning that says so."""
    given: Sequence[str] = ("fx", "fy", "cx", "cy")
    step = settings.get("depth_step", 0.0)
    if all(name in settings for name in given):
        return Camera(*(settings[name] for name in given), depth_step=step)
    camera = usual_camera(height, width)
    warnings.warn(
        f"{folder / 'camera.json'} does not say fx, fy, cx and cy: normals are derived for a usual camera, "
        f"fx = fy = {camera.fx:g}, cx = {camera.cx:g}, cy = {camera.cy:g}",
        stacklevel=2,
    )
    return Camera(camera.fx, camera.fy, camera.cx, camera.cy, step)


def _present(listing: Listing) -> dict[str, Tensor]:
    """By view which frames have it, where some do not; a frame with depth has normals, since they follow from it."""
    gaps = {}
    for kind, files in listing.files.items():
        there = torch.tensor([stem in files for stem in listing.stems])
        if kind == "normal" and "depth" in listing.files:
            there |= torch.tensor([stem in listing.files["depth"] for stem in listing.stems])
        if not bool(there.all()):
            gaps |= dict.fromkeys(SHOWS[kind], there)
            if kind == "depth" and "normal" not in listing.files:
                gaps["normal"] = there
    return gaps


def _size(values: Tensor) -> str:
    return f"{values.shape[-2]}x{values.shape[-1]}"
