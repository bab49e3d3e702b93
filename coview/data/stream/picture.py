"""Bytes of a file -> a colour picture of 8 bits; a stored orientation (EXIF) and transparency are left aside."""

import functools
import importlib
import os
from collections.abc import Callable
from io import BytesIO
from os import PathLike
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from coview.files import limit

Data = bytes | bytearray | memoryview
Decoder = Callable[[bytes], Tensor]
"""Bytes of a file -> a map [... H W], or fewer dimensions for what is no map; of a broken file it raises `BROKEN`."""

BROKEN = (OSError, ValueError, EOFError)  # what says that a file is broken; anything else stops the run
# More pixels are refused: a small file can claim to be a picture that fills the memory. So are longer sides: in a
# batch all pictures get a canvas that holds the widest and the highest.
RAISE = ": COVIEW_PIXELS=... raises them"
PIXELS, SIDE = limit("COVIEW_PIXELS", 50_000_000), limit("COVIEW_SIDE", 30_000)
RGB = 3  # torchvision's number for it


def decode_picture(data: Data, pixels: int = PIXELS, side: int = SIDE) -> UInt8[Tensor, "3 H W"]:
    """A picture file of any kind that Pillow knows: 16 bits are cut to 8, of several frames the first is taken."""
    operators = torchvision_operators()
    try:
        image = open_image(data, pixels, side)
        # A damaged PNG makes torchvision crash, and the whole run with it: Pillow says what is wrong.
        picture = _torchvision(operators, data) if image.format in ("JPEG", "MPO") else None
        return _pillow(image) if picture is None else picture
    except (*BROKEN, MemoryError):
        raise
    except Exception as error:  # Pillow's readers raise whatever they stumble over
        raise ValueError(f"{type(error).__name__}: {error}") from error


def open_image(data: Data, pixels: int, side: int = SIDE) -> Image.Image:
    """A picture of which only the header has been read, refused if it is too large."""
    if not data:
        raise ValueError("the file is empty")
    try:
        image = Image.open(BytesIO(data))
    except UnidentifiedImageError:
        raise ValueError("not a picture in a known format") from None
    if image.width * image.height > pixels:
        raise ValueError(f"{image.width}x{image.height} is more than pixels={pixels:,} allow{RAISE}")
    if max(image.size) > side:
        raise ValueError(
            f"{image.width}x{image.height} is wider or higher than side={side:,} allows: COVIEW_SIDE=... raises it"
        )
    return image


def read_file(path: str | PathLike[str]) -> bytearray:
    """The bytes of a file, which torch can then use where they are; other threads run while the disk is asked."""
    with open(path, "rb", buffering=0) as file:
        data = bytearray(os.fstat(file.fileno()).st_size)
        rest = memoryview(data)
        while rest and (count := file.readinto(rest)):
            rest = rest[count:]
        left = len(rest)
        rest.release()
        return data[: len(data) - left] if left else data


def as_tensor(data: Data) -> UInt8[Tensor, "bytes"]:
    """The bytes of a file as torchvision takes them."""
    writable = isinstance(data, bytearray) or (isinstance(data, memoryview) and not data.readonly)
    return torch.frombuffer(data if writable else bytearray(data), dtype=torch.uint8)


@functools.cache
def torchvision_operators() -> Any:
    """Torchvision's decoders themselves: since 0.29 the functions around them warn at every call."""
    importlib.import_module("torchvision")  # takes seconds
    return torch.ops.image


def _torchvision(operators: Any, data: Data) -> UInt8[Tensor, "3 H W"] | None:
    """Decoded without holding up the other workers; None where torchvision cannot, and Pillow is to say why."""
    try:
        picture = operators.decode_image(as_tensor(data), RGB, False)
    except (AttributeError, RuntimeError):  # built without decoders, or not for this file
        return None
    return _channels_first(picture.permute(1, 2, 0).numpy()) if picture.dtype == torch.uint8 else None


def _pillow(image: Image.Image) -> UInt8[Tensor, "3 H W"]:
    if image.mode.startswith("I"):  # Pillow would clip 16 bits at 255
        grey = (np.asarray(image) >> 8).clip(0, 255).astype(np.uint8)
        return torch.from_numpy(np.stack([grey] * 3))
    image.info.pop("transparency", None)  # converting would warn about it
    return _channels_first(np.asarray(image.convert("RGB")))


def _channels_first(picture: UInt8[np.ndarray, "H W 3"]) -> UInt8[Tensor, "3 H W"]:
    """Copied by numpy: torch would start a team of threads for every worker."""
    return torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1)))
