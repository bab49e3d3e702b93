"""Image sets as recipes take them: how large the pictures are decides crop, encoder and length.

Recipes of pictures are made for one set of the paper, and are fitted to others by these rules:

- STL-10 (96 pixels) is cut to random squares of 64, as in the paper. From others a box of a random share of the area
  is resampled: to 224 where pictures have 200 pixels or more, else to their own side.
- Half-AlexNets are the paper's for ImageNet from 128 pixels, the paper's for STL-10 from 48, and below that the
  latter without its first pool, so that conv5 ends in 7 x 7 all the same.
- ResNets take pictures of 64 pixels or less by a stem that does not shrink them, and have 18 layers for 50.
- m drawn negatives are at most all others. Epochs are the paper's, on rendered rooms a tenth of them.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from coview.data import Dataset, Stream
from coview.data.images import image_data
from coview.data.images.memory import picture_sizes
from coview.data.images.named import ROOMS, find_images, read_part
from coview.data.images.place import data_root
from coview.encoders import ResNet, cifar10_half, imagenet_half, stl10_half
from coview.names import did_you_mean
from coview.recipes.find import is_path
from coview.types import Augment, Still
from coview.views import centre_crop, crop_and_flip, random_resized_crop


@dataclass(frozen=True)
class Pictures:
    """What of an image set decides the sizes of a recipe."""

    name: str
    samples: int  # that contrast learns from
    side: int  # of its pictures; where they differ in size, the shorter one of most
    learns: str = "train"  # the splits that contrast learns from
    length: float = 1.0  # of training, as a share of the paper's

    @property
    def crop(self) -> int:
        """The side of what encoders see."""
        return 64 if self.name == "stl10" else 224 if self.side >= 200 else self.side

    def data(self) -> Any:
        """The `data` of a recipe."""
        return partial(read_pictures, name=self.name, root=None, samples=None, learns=self.learns)

    def augment(self, *, smallest: float = 0.2) -> Augment:
        """The paper's crop and mirror image."""
        if self.name == "stl10":
            return partial(crop_and_flip, size=self.crop, padding=0)
        return partial(random_resized_crop, size=self.crop, scale=(smallest, 1.0))

    def still(self) -> Still | None:
        """The middle of a picture, where nothing is to be random."""
        return None if self.crop == self.side else partial(centre_crop, size=self.crop, shorter=self.shorter)

    @property
    def shorter(self) -> int:
        """To what the shorter side of a picture is brought before its middle is taken."""
        return 256 if self.crop == 224 else self.side

    def half(self, channels: int, *, dim: int, width: float = 1.0) -> Any:
        """A half-AlexNet for one view; `width=2` is the whole."""
        table = imagenet_half if self.crop >= 128 else stl10_half if self.crop >= 48 else cifar10_half
        return partial(table, channels, dim=dim, width=width)

    def resnet(self, channels: int, *, width: float = 1.0, dim: int = 128, head: str = "linear") -> Any:
        """A ResNet-50, or for small pictures a ResNet-18."""
        small = self.crop <= 64
        depth, stem = (18, "cifar") if small else (50, "imagenet")
        return partial(ResNet, channels, depth=depth, width=width, dim=dim, stem=stem, head=head)

    def negatives(self, count: int) -> int:
        """So many, or all others."""
        return min(count, self.samples - 1)

    def schedule(self, epochs: int, milestones: tuple[int, ...] = ()) -> dict[str, Any]:
        """Epochs and milestones of the paper, as long as fits the set."""
        steps = tuple(max(round(one * self.length), 1) for one in milestones)
        return {"epochs": max(round(epochs * self.length), 1), "milestones": steps}


KNOWN = {
    one.name: one
    for one in (
        Pictures("stl10", samples=105_000, side=96, learns="train+unlabeled"),
        Pictures("cifar10", samples=50_000, side=32),
        Pictures("tiny", samples=100_000, side=64),
        Pictures("imagenet", samples=1_281_167, side=375),
        Pictures("imagenet100", samples=126_689, side=375),
        Pictures("scenes", samples=ROOMS["train"], side=64, length=0.1),
    )
}


@lru_cache(maxsize=16)
def pictures(name: str) -> Pictures:
    """A known set, or a folder of pictures, whose files are looked at."""
    if name in KNOWN:
        return KNOWN[name]
    if not is_path(name):
        raise ValueError(
            f"no image set '{name}'{did_you_mean(name, KNOWN)}; there are {', '.join(KNOWN)}, "
            f"and a folder of pictures is named by its path, as ./{name}"
        )
    found = read_part(*find_images(name, data_root(None)), "train")
    assert isinstance(found, Stream)
    sizes = sorted(min(size) for size in picture_sizes(found))
    if not sizes:
        raise ValueError(f"no picture of {name} can be read")
    return Pictures(name, samples=len(found), side=sizes[len(sizes) // 2])


@lru_cache(maxsize=16)
def count_pictures(name: str, root: str | None = None) -> dict[str, int]:
    """How many pictures contrast learns from ("train"), and of how many the label is known ("labelled").

    Nothing is decoded; absent data raise an error that says how to get them.
    """
    if name == "scenes":
        return dict.fromkeys(("train", "labelled"), ROOMS["train"])
    place, image_set = find_images(name, data_root(root))
    parts = [read_part(place, image_set, split) for split in pictures(name).learns.split("+")]
    known = [int((part.label >= 0).sum()) for part in parts if part.label is not None]
    return {"train": sum(len(part) for part in parts), "labelled": sum(known)}


@lru_cache(maxsize=4)
def read_pictures(
    split: str, *, name: str, root: str | None = None, samples: int | None = None, learns: str = "train"
) -> Dataset:
    """A split of an image set, read once for all runs of a process; "train" is all that contrast learns from."""
    return image_data(name, learns if split == "train" else split, root=root, samples=samples)
