"""Frames as recipes take them: read once, with normals where there is depth, and sizes that follow from them.

Recipes of frames are made for NYU-Depth-V2, and are fitted to others by these rules:

- Crops are 128 pixels, or the shorter side of frames that have less; rendered rooms of 64 are moved by up to 6 instead.
- Epochs are the paper's, on rendered rooms a fiftieth of them.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from coview.data.rgbd import Frames, count_frames, rgbd_data
from coview.data.rgbd.frames import as_bytes
from coview.data.scenes import SEGMENTS
from coview.recipes.measure import fastest_device
from coview.types import Augment
from coview.views import crop_and_flip, normals

GAPS = ("depth", "normal")  # the views that can be taken away
CHUNK = 16  # frames whose normals are derived together


@dataclass(frozen=True)
class Sizes:
    """What of a set of frames decides the sizes of a recipe."""

    name: str
    samples: int  # to learn from
    side: int  # the shorter one
    classes: int  # of segments, without void
    length: float = 1.0  # of training, as a share of the paper's

    @property
    def crop(self) -> int:
        """The side of what encoders see while they learn."""
        return min(128, self.side)

    def data(self) -> Any:
        """The `data` of a recipe."""
        return partial(
            read_frames, name=self.name, root=None, samples=None, classes=None, share=0.0, drop=False
        )

    def augment(self) -> Augment:
        """The paper's crop, and the mirror image."""
        return partial(crop_and_flip, size=self.crop, padding=6 if self.crop == self.side else 0)

    def schedule(self, epochs: int, milestones: tuple[int, ...] = ()) -> dict[str, Any]:
        """Epochs and milestones of the paper, as long as fits the set."""
        steps = tuple(max(round(one * self.length), 1) for one in milestones)
        return {"epochs": max(round(epochs * self.length), 1), "milestones": steps}


KNOWN = {
    one.name: one
    for one in (
        Sizes("nyu", samples=795, side=240, classes=13),
        Sizes("scenes", samples=2560, side=64, classes=len(SEGMENTS), length=0.02),
    )
}


@lru_cache(maxsize=16)
def sizes_of(name: str) -> Sizes:
    """A known set, or a folder of frames, which is read for that."""
    if name in KNOWN:
        return KNOWN[name]
    found = rgbd_data(name, "train")
    side = min(found.fields["rgb"].shape[-2:])
    return Sizes(name, samples=len(found), side=side, classes=max(len(found.segments) - 1, 1))


def count_samples(name: str, root: str | None = None) -> dict[str, int]:
    """How many frames contrast learns from; the segments of all are known."""
    count = count_frames(name, root)["train"]
    return {"train": count, "labelled": count}


@lru_cache(maxsize=6)
def read_frames(
    split: str,
    *,
    name: str,
    root: str | None = None,
    samples: int | None = None,
    classes: int | None = None,
    share: float = 0.0,
    drop: bool = False,
) -> Frames:
    """A split of frames with normals, read once for all runs of a process.

    Of those to train on, a `share` loses its depth, and another draw of that share its normals; with `drop` only the
    frames stay that have everything.
    """
    found = _with_normals(split, name, root, samples, classes)
    if split != "train" or not share:
        return found
    there = kept(len(found), share)
    if drop:
        return found.subset(torch.stack(list(there.values())).all(0).nonzero().flatten())
    return replace(found, present={view: there[view] & _have(found, view) for view in GAPS})


def kept(samples: int, share: float) -> dict[str, Bool[Tensor, "N"]]:
    """By view, which samples keep it where a share of them loses it: the same for every run."""
    generator = torch.Generator().manual_seed(0)
    return {view: torch.rand(samples, generator=generator) >= share for view in GAPS}


def complete(samples: int, share: float) -> int:
    """How many samples keep everything."""
    return int(torch.stack(list(kept(samples, share).values())).all(0).sum())


def derive_normals(frames: Frames) -> Frames:
    """The frames with normals wherever there is depth; those that are given stay."""
    if "depth" not in frames.fields or frames.camera is None:
        return frames
    depth, given = frames.fields["depth"], frames.fields.get("normal")
    lacking = torch.ones(len(frames), dtype=torch.bool) if given is None else ~given.flatten(1).any(1)
    camera = (frames.camera.fx, frames.camera.fy, frames.camera.cx, frames.camera.cy)
    found = (
        depth.new_zeros(len(frames), 3, *depth.shape[-2:], dtype=torch.int8)
        if given is None
        else given.clone()
    )
    device = fastest_device()
    for rows in lacking.nonzero().flatten().split(CHUNK):
        some, _ = normals(depth[rows].to(device), camera, step=frames.camera.depth_step)
        found[rows] = as_bytes(some).to(found.device)
    return replace(frames, fields={**frames.fields, "normal": found})


@lru_cache(maxsize=4)
def _with_normals(
    split: str, name: str, root: str | None, samples: int | None, classes: int | None
) -> Frames:
    return derive_normals(rgbd_data(name, split, root=root, samples=samples, classes=classes))


def _have(frames: Frames, view: str) -> Bool[Tensor, "N"]:
    return frames.present.get(view, torch.ones(len(frames), dtype=torch.bool))
