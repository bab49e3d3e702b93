"""One entry to every set of clips: by name, by the path of a folder, or rendered."""

import os
import warnings
from collections.abc import Mapping
from functools import lru_cache
from os import PathLike
from pathlib import Path

import torch

from coview.data.images.place import AbsentData, data_root
from coview.data.video.clips import Clips
from coview.data.video.decode import BrokenClip
from coview.data.video.layouts import Layout, class_of, hmdb51, own_folder, ucf101
from coview.data.video.memory import bytes_in_memory, into_memory
from coview.data.video.pack import Pack
from coview.data.video.packs import PackedSource
from coview.data.video.rendered import rendered_clips
from coview.data.video.takes import Takes, takes
from coview.names import did_you_mean

LIMIT = 8 * 2**30  # bytes of frames that are kept in memory
NAMED = 10  # clips that a warning names
SETS = {
    "ucf101": (ucf101, "ucfTrainTestlist", "UCF-101", "https://www.crcv.ucf.edu/data/UCF101.php"),
    "hmdb51": (hmdb51, "testTrainMulti_7030_splits", "hmdb51_org", "https://serre-lab.clps.brown.edu"),
}


def clip_data(
    name: str,
    split: str,
    *,
    root: str | PathLike[str] | None = None,
    fold: int = 1,
    later: int = 10,
    stack: int = 10,
    second: bool = False,
    samples: int | None = None,
    limit: int = LIMIT,
) -> Clips:
    """Clips of "train" or "test" of an official split, as `coview flow` packs them; "scenes" are rendered.

    `name` is ucf101 or hmdb51, which lie below `root` (by default $COVIEW_DATA or `data`), scenes, or a folder. A
    sample is frames t and t + `later`, `stack` flows around t, and where wanted frame t of the second camera. What
    fits into `limit` bytes is read into memory; else a few frames of each clip are read when they are wanted.
    """
    wanted = takes(later=later, stack=stack, second=second)
    if name == "scenes":
        return rendered_clips(split, samples=samples, takes=wanted)
    layout = find_layout(name, data_root(root))
    if fold not in layout.folds or split not in layout.folds[fold]:
        raise ValueError(
            f"{layout.name} has folds {', '.join(map(str, layout.folds))} with train and test, "
            f"got fold {fold}, split '{split}'"
        )
    names = layout.folds[fold][split]
    if samples is not None and samples < len(names):
        names = [names[number * len(names) // samples] for number in range(samples)]
    return _opened(layout, names, f"{layout.name} {split} {fold}", wanted, limit)


@lru_cache(maxsize=8)
def find_layout(name: str, root: Path) -> Layout:
    """The clips of a known set or of a folder; packed ones where there are both."""
    if name not in SETS:
        return own_folder(_own(name, root))
    read, lists, clips, where = SETS[name]
    for place in (root / name, root):
        there = [place / folder for folder in (f"{clips}-packed", clips) if (place / folder).is_dir()]
        if there and (place / lists).is_dir():
            return read(place / lists, there[0])
    raise AbsentData(
        f"no {name} in {root}: wanted {root / name / clips} and {root / name / lists}, from {where}; "
        f"then `coview flow {root / name / clips} --out {root / name / clips}-packed`"
    )


def folds_of(name: str, root: Path) -> tuple[int, ...]:
    """The splits that a set has."""
    return (1,) if name == "scenes" else tuple(find_layout(name, root).folds)


def _own(name: str, root: Path) -> Path:
    looked = [Path(name).expanduser().absolute(), root / name]
    packed = [place.with_name(f"{place.name}-packed") for place in looked]
    found = next((place for place in (*packed, *looked) if place.is_dir()), None)
    if found is None:
        known = (*SETS, "scenes")
        hint = "" if os.sep in name else f"{did_you_mean(name, known)}; known are {', '.join(known)}"
        raise AbsentData(f"no clips '{name}' (looked for {looked[0]} and {looked[1]}){hint}")
    return found


def _opened(layout: Layout, names: list[str], title: str, wanted: Takes, limit: int) -> Clips:
    """The clips that can be used; the others are counted and named."""
    lengths: dict[str, int] = {}
    faults: dict[str, str] = {}
    sizes = set()
    for name in names:
        try:
            packs = [_pack(layout.files, name), *([_pack(layout.second, name)] if wanted.second else [])]
            lengths[name] = _length(packs, wanted)
            sizes |= {(pack.meta["height"], pack.meta["width"]) for pack in packs}
        except BrokenClip as error:
            faults[name] = str(error)
    _tell(title, faults, len(names))
    if len(sizes) > 1:
        raise ValueError(f"the clips of {title} have sizes {sorted(sizes)}: pack them again with one --size")
    good = list(lengths)
    source = PackedSource(
        title,
        [layout.files[name] for name in good],
        [layout.second[name] for name in good] if wanted.second else (),
        size=next(iter(sizes)),
        workers=max(8, os.cpu_count() or 1),
    )
    length = torch.tensor([lengths[name] for name in good])
    fits = bytes_in_memory(source, length, wanted) <= limit
    videos = {video: number for number, video in enumerate(sorted({layout.video[name] for name in good}))}
    return Clips(
        title,
        into_memory(source, length, wanted) if fits else source,
        torch.arange(len(good)),
        length,
        torch.tensor([videos[layout.video[name]] for name in good]),
        wanted,
        torch.tensor([layout.classes.index(class_of(name)) for name in good]),
        layout.classes,
    )


def _pack(files: Mapping[str, Path], name: str) -> Pack:
    if name not in files:
        raise BrokenClip(f"{name}: not there")
    path = files[name]
    if path.suffix != ".zip":
        folder = path.parents[name.count("/")]
        raise ValueError(
            f"{path} is not packed with its flow yet: `coview flow {folder} --out {folder}-packed`, "
            "and data lie in the new folder"
        )
    return Pack(path)


def _length(packs: list[Pack], wanted: Takes) -> int:
    """The frames that all cameras have."""
    if wanted.flow and not packs[0].meta.get("flow"):
        raise BrokenClip(f"{packs[0].path}: there is no flow in it: `coview flow` makes it")
    length = min(map(len, packs))
    if length < wanted.shortest:
        raise BrokenClip(f"{packs[0].path}: {length} frames, a sample takes {wanted.shortest}")
    return length


def _tell(title: str, faults: Mapping[str, str], clips: int) -> None:
    listing = "; ".join(list(faults.values())[:NAMED])
    more = f" and {len(faults) - NAMED:,} more" if len(faults) > NAMED else ""
    if faults and len(faults) == clips:
        raise BrokenClip(f"none of the {clips:,} clips of {title} can be used: {listing}{more}")
    if faults:
        warnings.warn(
            f"{len(faults):,} of {clips:,} clips of {title} are left out: {listing}{more}", stacklevel=4
        )
