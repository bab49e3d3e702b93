"""The image sets that are known by name: where each lies, how it is read, and how to get it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path

from coview.data.images.cifar import META, read_cifar10
from coview.data.images.classes import has_wnids
from coview.data.images.fetch import Archive
from coview.data.images.folder import read_folder
from coview.data.images.stl import SPLITS as STL_SPLITS
from coview.data.images.stl import read_stl10
from coview.data.resident import Resident
from coview.data.stream import Stream

Read = Callable[[Path, str], Resident | Stream]
"""From the folder of a set and a split to a dataset; it may leave pictures in their files."""


@dataclass(frozen=True)
class ImageSet:
    """A set by name. Its folder is one of `folders` below a root, and `is_there` knows it."""

    title: str
    folders: tuple[str, ...]
    is_there: Callable[[Path], bool]
    splits: tuple[str, ...]
    read: Read
    get: str  # how to get it by hand
    archive: Archive | None = None  # what can be fetched
    checksums: Callable[[], dict[str, str]] | None = None  # md5 by name, of the official files


def imagenet100_classes() -> list[str]:
    """The classes of ImageNet-100, as the paper's appendix lists them."""
    return files("coview.data.images").joinpath("imagenet100.txt").read_text().split()


def read_imagenet100(folder: Path, split: str) -> Stream:
    """The paper's 100 classes out of ImageNet, or out of a folder that has them alone."""
    return read_folder(folder, split, name="ImageNet-100", only=imagenet100_classes())


def cifar10_checksums() -> dict[str, str]:
    """As torchvision knows them."""
    from torchvision.datasets import CIFAR10  # takes seconds to import

    return dict([*CIFAR10.train_list, *CIFAR10.test_list])


def stl10_checksums() -> dict[str, str]:
    """As torchvision knows them."""
    from torchvision.datasets import STL10  # takes seconds to import

    return dict([*STL10.train_list, *STL10.test_list])


IMAGENET_FOLDERS = ("imagenet", "ILSVRC2012", "ILSVRC/Data/CLS-LOC")
IMAGENET_BY_HAND = (
    "ask for ILSVRC2012 at image-net.org, and unpack it as train/WNID/*.JPEG and val/WNID/*.JPEG, "
    "or take Kaggle's archive as it is"
)

SETS = {
    "cifar10": ImageSet(
        "CIFAR-10",
        ("cifar-10-batches-py",),
        lambda place: (place / META).is_file(),
        ("train", "test"),
        read_cifar10,
        "unpack cifar-10-python.tar.gz of cs.toronto.edu/~kriz/cifar.html",
        Archive(
            "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
            "c58f30108f718f92721af3b95e74349a",
            "cifar-10-batches-py",
        ),
        cifar10_checksums,
    ),
    "stl10": ImageSet(
        "STL-10",
        ("stl10_binary",),
        lambda place: (place / "train_X.bin").is_file(),
        STL_SPLITS,
        read_stl10,
        "unpack stl10_binary.tar.gz of cs.stanford.edu/~acoates/stl10",
        Archive(
            "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
            "91f7769df0f17e558f3565bffb0c7dfb",
            "stl10_binary",
        ),
        stl10_checksums,
    ),
    "tiny": ImageSet(
        "Tiny-ImageNet",
        ("tiny-imagenet-200", "tiny-imagenet-100", "tiny-imagenet"),
        has_wnids,
        ("train", "test"),
        partial(read_folder, name="Tiny-ImageNet"),
        "unpack tiny-imagenet-200.zip of cs231n.stanford.edu",
        Archive(
            "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
            "90528d7ca1a48142e341f4ef8d21d0de",
            "tiny-imagenet-200",
        ),
    ),
    "imagenet": ImageSet(
        "ImageNet",
        IMAGENET_FOLDERS,
        has_wnids,
        ("train", "test"),
        partial(read_folder, name="ImageNet"),
        IMAGENET_BY_HAND,
    ),
    "imagenet100": ImageSet(
        "ImageNet-100",
        ("imagenet100", "imagenet-100", *IMAGENET_FOLDERS),
        has_wnids,
        ("train", "test"),
        read_imagenet100,
        f"its 100 classes are taken out of ImageNet: {IMAGENET_BY_HAND}",
    ),
}
