"""One entry to frames: NYU-Depth-V2, rendered rooms, or a folder."""

from os import PathLike
from pathlib import Path

from coview.data.images.place import AbsentData, data_root
from coview.data.rgbd.classes import NYU13, NYU40, groups_of_13
from coview.data.rgbd.folder import is_folder_of_frames, list_frames, read_folder
from coview.data.rgbd.frames import VOID, Frames, as_bytes
from coview.data.rgbd.nyu import FILE, MAPPING, SPLITS, count_nyu, read_nyu
from coview.data.scenes import SEGMENTS, scenes
from coview.names import did_you_mean

ROOMS = {"train": 2560, "test": 1000, "held-out": 1000}  # that are rendered for each split of "scenes"
KNOWN = ("nyu", "scenes")


def rgbd_data(
    name: str,
    split: str,
    *,
    root: str | PathLike[str] | None = None,
    classes: int | None = None,
    samples: int | None = None,
    side: int = 64,
) -> Frames:
    """One split of frames, in memory, with segments and with depth; normals only where they are given.

    `name` is "nyu", "scenes" for rendered rooms of `side` pixels, or the path of a folder of frames. NYU lies below
    `root`, by default $COVIEW_DATA or `data` in the current folder, in `nyu/`: the official files, or frames in files
    with the 40 classes. It has 13, 40 or (the official files) 894 `classes`, by default 13. Of all, the first
    `samples` are taken.
    """
    if name == "scenes":
        return _rooms(split, samples, side, classes)
    place = find_frames(name, data_root(root))
    if place.is_file():
        return read_nyu(place, split, classes=classes, samples=samples)
    found = _classed(read_folder(place, split), 13 if name == "nyu" and classes is None else classes, place)
    return found if samples is None else found.first(samples)


def count_frames(name: str, root: str | PathLike[str] | None = None) -> dict[str, int]:
    """How many frames the splits have, seen without reading them."""
    if name == "scenes":
        return dict(ROOMS)
    place = find_frames(name, data_root(root))
    if place.is_file():
        return count_nyu(place)
    return {split: len(list_frames(place, split).stems) for split in ("train", "test")}


def find_frames(name: str, root: Path) -> Path:
    """The folder or the official file that holds the frames."""
    looked = [root / "nyu", root] if name == "nyu" else [Path(name).expanduser().absolute(), root / name]
    for place in looked:
        if place.is_file() and place.suffix == ".mat":
            return place
        if (place / FILE).is_file():
            return place / FILE
        if is_folder_of_frames(place):
            return place
    where = " or ".join(map(str, looked))
    if name == "nyu":
        raise AbsentData(
            f"no NYU-Depth-V2 in {where}: put {FILE} there (with {SPLITS}, and {MAPPING} for 13 or 40 classes), or "
            "frames that benchmarks/prepare_nyu.py made; --root, root= or $COVIEW_DATA name another folder"
        )
    raise AbsentData(f"no frames '{name}'{did_you_mean(name, KNOWN)}: looked for {where} with a folder rgb/")


def _rooms(split: str, samples: int | None, side: int, classes: int | None) -> Frames:
    """Rendered rooms; the label is the room."""
    if split not in ROOMS:
        raise ValueError(
            f"no split '{split}' of scenes{did_you_mean(split, ROOMS)}; it has {', '.join(ROOMS)}"
        )
    if classes not in (None, len(SEGMENTS)):
        raise ValueError(f"scenes have {len(SEGMENTS)} classes of segments, got classes={classes}")
    found = scenes(split, samples=samples or ROOMS[split], size=side)
    fields = {
        "rgb": found.fields["rgb"],
        "depth": found.fields["depth"].half(),
        "normal": as_bytes(found.fields["normal"]),
        "segment": found.fields["segment"] + 1,
    }
    return Frames(found.name, fields, found.label, found.classes, segments=(VOID, *SEGMENTS))


def _classed(frames: Frames, classes: int | None, place: Path) -> Frames:
    """Frames of a folder with so many classes; 40 of NYU can become 13."""
    there = len(frames.segments) - 1
    if classes is None or classes == there or not frames.segments:
        return frames
    if classes == 13 and frames.segments == NYU40:
        return frames.regrouped(groups_of_13(), NYU13)
    raise ValueError(f"{place} has {there} classes, got classes={classes}; only the 40 of NYU can become 13")
