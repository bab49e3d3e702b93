"""What is there of an image set: splits, numbers, sizes, classes, and whether its files are the official ones."""

from dataclasses import dataclass
from pathlib import Path

from coview.data.images.folder import folder_splits
from coview.data.images.memory import LIMIT, picture_sizes
from coview.data.images.named import ROOMS, find_images, read_part
from coview.data.images.sets import ImageSet
from coview.data.resident import Resident
from coview.data.scenes import ROOMS as KINDS_OF_ROOM
from coview.data.stream import Stream

GB = 1e9


@dataclass(frozen=True)
class Part:
    """One split: what it holds, or why it cannot be read."""

    split: str
    samples: int | None
    size: str
    labels: int
    kept: str


@dataclass(frozen=True)
class Contents:
    """What a set holds, and where it lies."""

    title: str
    place: str
    parts: tuple[Part, ...]
    classes: tuple[str, ...]
    get: str = ""
    others: tuple[str, ...] | None = (
        None  # files that are not the official ones; None: their checksums are not known
    )


def describe_images(name: str, root: Path, *, download: bool = False) -> Contents:
    """Look at everything that `image_data` can read under a name."""
    if name == "scenes":
        parts = tuple(Part(split, count, "any size", count, "rendered") for split, count in ROOMS.items())
        return Contents("Rendered rooms", "nowhere: they are rendered", parts, KINDS_OF_ROOM)
    place, image_set = find_images(name, root, download=download)
    splits = folder_splits(place) if image_set is None else _few(image_set)
    seen = [_part(place, image_set, split) for split in splits]
    classes = max((names for _, names in seen), key=len)
    parts = tuple(part for part, _ in seen)
    if image_set is None:
        return Contents(f"Pictures of {place.name}", str(place), parts, classes)
    return Contents(
        image_set.title, str(place), parts, classes, image_set.get, _not_official(place, image_set)
    )


def _few(image_set: ImageSet) -> tuple[str, ...]:
    """The splits; of folds the first stands for all."""
    return tuple(split for split in image_set.splits if not split.startswith("fold") or split == "fold0")


def _part(place: Path, image_set: ImageSet | None, split: str) -> tuple[Part, tuple[str, ...]]:
    try:
        found = read_part(place, image_set, split)
    except (ValueError, OSError) as error:
        return Part(split, None, "", 0, str(error)), ()
    labels = 0 if found.label is None else len(found)
    size, kept = _size(found)
    return Part(split, len(found), size, labels, kept), found.classes


def _size(found: Resident | Stream) -> tuple[str, str]:
    """The size of pictures, and whether training has them in memory."""
    if isinstance(found, Resident):
        height, width = found.fields["rgb"].shape[2:]
        return f"{height}x{width}", f"in memory, {found.fields['rgb'].nbytes / GB:.2f} GB"
    sizes = sorted(picture_sizes(found))
    if len(sizes) != 1:
        ends = f"{sizes[0][0]}x{sizes[0][1]} to {sizes[-1][0]}x{sizes[-1][1]}" if sizes else "not known"
        return ends, "streams, or with side= in memory"
    ((height, width),) = sizes
    needed = len(found) * 3 * height * width
    return f"{height}x{width}", f"in memory, {needed / GB:.2f} GB" if needed <= LIMIT else "streams"


def _not_official(place: Path, image_set: ImageSet) -> tuple[str, ...] | None:
    if image_set.checksums is None:
        return None
    from torchvision.datasets.utils import check_integrity  # takes seconds to import

    return tuple(
        name for name, md5 in image_set.checksums().items() if not check_integrity(place / name, md5)
    )
