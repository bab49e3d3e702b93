"""Sets of clips as recipes take them: how large frames are packed decides crop, encoder and length.

UCF101 and HMDB51 are packed with frames of 256 x 341 and seen through crops of 224. Of other clips the crop is seven
eighths of the height, which is 112 of 128. Rendered clips have 64 pixels and are seen whole; they are short, so that
k is 4 and a stack has 6 flows, and are not mirrored: a pan to the left is another class than one to the right.

The paper says neither k nor for how long it trains: k is 10, and the epochs are those of 15,000 steps, of clips of
one's own of 3,000, of rendered ones of 1,500.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from coview.data.images.place import data_root
from coview.data.video import Clips, Pack, clip_data
from coview.data.video.named import find_layout
from coview.data.video.rendered import COUNTS
from coview.encoders import CaffeNet
from coview.types import Augment, Still
from coview.views import centre_crop, crop_and_flip

BATCH = 128


@dataclass(frozen=True)
class ClipSet:
    """What of a set of clips decides the sizes of a recipe."""

    name: str
    clips: int  # that contrast learns from
    height: int
    crop: int
    steps: int = 3000
    later: int = 10
    stack: int = 10
    second: bool = False  # whether there is another camera
    mirror: bool = True  # whether a mirror image has the same class

    def data(self, *, second: bool = False) -> Any:
        """The `data` of a recipe."""
        numbers: dict[str, Any] = {"later": self.later, "stack": self.stack, "second": second}
        return partial(read_clips, name=self.name, root=None, fold=1, samples=None, **numbers)

    def augment(self) -> Augment:
        padding = 0 if self.crop < self.height else 4
        return partial(crop_and_flip, size=self.crop, padding=padding, flip=self.mirror)

    def still(self) -> Still | None:
        """The middle of a frame, of wide ones too."""
        return partial(centre_crop, size=self.crop, shorter=self.height)

    def encoder(self, channels: int) -> Any:
        return partial(CaffeNet, channels, size=self.crop, norm="batch", dropout=0.5, dim=128, width=1.0)

    @property
    def epochs(self) -> int:
        return max(round(self.steps / max(self.clips // BATCH, 1)), 1)


KNOWN = {
    "ucf101": ClipSet("ucf101", clips=9537, height=256, crop=224, steps=15_000),
    "hmdb51": ClipSet("hmdb51", clips=3570, height=256, crop=224, steps=15_000),
    "scenes": ClipSet(
        "scenes", clips=COUNTS["train"], height=64, crop=64, steps=1500, later=4, stack=6, mirror=False
    ),
    "two-camera": ClipSet("two-camera", clips=95, height=128, crop=112, second=True),
}


@lru_cache(maxsize=16)
def clip_set(name: str) -> ClipSet:
    """A known set, or a folder of packed clips, of which the first is looked at."""
    if name in KNOWN:
        return KNOWN[name]
    layout = find_layout(name, data_root(None))
    fold = min(layout.folds)
    names = [one for one in layout.folds[fold]["train"] if one in layout.files]
    if not names or layout.files[names[0]].suffix != ".zip":
        raise ValueError(f"the clips of {name} are not packed yet: `coview flow {name} --out {name}-packed`")
    height = int(Pack(layout.files[names[0]]).meta["height"])
    return ClipSet(
        name, clips=len(names), height=height, crop=round(height * 7 / 8), second=bool(layout.second)
    )


@lru_cache(maxsize=16)
def count_clips(name: str, root: str | None = None) -> Mapping[str, int]:
    """How many clips contrast and supervised training learn from, seen without reading them."""
    if name == "scenes":
        return dict.fromkeys(("train", "labelled"), COUNTS["train"])
    layout = find_layout(name, data_root(root))
    return dict.fromkeys(("train", "labelled"), len(layout.folds[min(layout.folds)]["train"]))


@lru_cache(maxsize=4)
def read_clips(split: str, *, name: str, root: str | None = None, fold: int = 1, **more: Any) -> Clips:
    """A split of a set of clips, read once for all runs of a process."""
    return clip_data(name, split, root=root, fold=fold, **more)
