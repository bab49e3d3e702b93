"""High-resolution pictures, each in its own size: DIV2K, any folder, or rooms rendered large."""

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from os import PathLike
from pathlib import Path

import torch
from jaxtyping import UInt8
from torch import Tensor

from coview.data.images.files import pictures_below
from coview.data.images.named import find_images
from coview.data.images.place import AbsentData, data_root, find_place, where
from coview.data.scenes import render
from coview.data.stream import decode_picture
from coview.data.stream.broken import BrokenFiles
from coview.data.stream.picture import BROKEN, read_file

DIV2K = ("DIV2K_train_HR", "DIV2K/DIV2K_train_HR")
GET = "get DIV2K_train_HR.zip from https://data.vision.ee.ethz.ch/cvl/DIV2K/ and unpack it there"
ROOMS, AT_ONCE, THREADS = 1000, 16, 8


def large_files(name: str, root: str | PathLike[str] | None = None) -> list[str]:
    """The files of "div2k" or of a folder; absent data raise an error that says how to get them."""
    if name == "div2k":
        base = data_root(root)
        place = find_place(
            base, name, DIV2K, lambda folder: folder.name == Path(DIV2K[0]).name and folder.is_dir()
        )
        if place is None:
            raise AbsentData(
                f"no DIV2K in {where(base, DIV2K)}: {GET}; --root, root= or $COVIEW_DATA name another"
            )
    else:
        place, _ = find_images(name, data_root(root))
    files, _ = pictures_below(place)
    if not files:
        raise AbsentData(f"no pictures in {place}")
    return files


@lru_cache(maxsize=2)
def large_pictures(
    name: str, root: str | None = None, *, pictures: int | None = None, side: int = 512
) -> tuple[UInt8[Tensor, "3 _ _"], ...]:
    """All pictures, or so many spread over them; "scenes" are rendered, `side` pixels wide."""
    if name == "scenes":
        return _rooms(pictures or ROOMS, side)
    files = large_files(name, root)
    count = min(pictures or len(files), len(files))
    with ThreadPoolExecutor(THREADS) as threads:
        read = threads.map(_read, [files[n * len(files) // count] for n in range(count)])
        found = tuple(one for one in read if one is not None)
    if not found:
        raise BrokenFiles(f"every picture of '{name}' is broken")
    return found


def _read(path: str) -> UInt8[Tensor, "3 _ _"] | None:
    try:
        return decode_picture(read_file(path))
    except BROKEN:
        return None


def _rooms(count: int, side: int) -> tuple[UInt8[Tensor, "3 _ _"], ...]:
    """A few at a time, since depth and normals of all of them would need ten times the memory."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parts = torch.arange(count, device=device).split(AT_ONCE)
    return tuple(one for part in parts for one in render(part, size=side)["rgb"].cpu())
