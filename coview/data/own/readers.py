"""One file -> a map [C H W] or a vector [F]: pictures of 8 and 16 bits, float TIFFs, NumPy arrays."""

import functools
import importlib.util
import struct
import zlib
from io import BytesIO
from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from PIL import Image
from torch import Tensor

from coview.data.npy import MAGIC, read_npy
from coview.data.stream.picture import BROKEN, PIXELS, RAISE, as_tensor, open_image, torchvision_operators

PICTURES = (".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
SUPPORTED = (*PICTURES, ".npy")
WHOLE = {"1": "L", "P": "RGB", "LA": "L", "PA": "RGB", "La": "L", "RGBA": "RGB", "RGBa": "RGB", "RGBX": "RGB"}
LARGEST = 8 * PIXELS  # bytes of a TIFF; more are refused
UNCHANGED = 0  # torchvision's number for it

Values = Shaped[np.ndarray, "..."]
"""A map [C H W], or a vector [F]."""


def decode_values(data: bytes, *, side: int | None = None) -> Tensor:
    """What a file holds, at a size where it is a map: bytes stay bytes, other numbers become float32."""
    values = resized(read_values(data), side)
    return torch.from_numpy(np.ascontiguousarray(values))


def read_values(data: bytes) -> Values:
    """What a file holds, by its first bytes and not by its name."""
    if not data:
        raise ValueError("the file is empty")
    try:
        return plain(_read(data))
    except (*BROKEN, MemoryError):
        raise
    except Exception as error:  # readers of broken files raise whatever they stumble over
        raise ValueError(f"{type(error).__name__}: {error}") from error


def resized(values: Values, side: int | None) -> Values:
    """A map as a square of `side` pixels, averaged where it shrinks; vectors and None leave it as it is."""
    if side is None or values.ndim == 1 or values.shape[1:] == (side, side):
        return values
    planes = [Image.fromarray(plane).resize((side, side), Image.Resampling.BILINEAR) for plane in values]
    return np.stack([np.asarray(plane) for plane in planes])


def plain(values: np.ndarray) -> np.ndarray:
    """uint8 as it is, truth values as 0 and 255, other real numbers as float32."""
    if values.dtype == bool:
        return values.astype(np.uint8) * 255
    if not np.issubdtype(values.dtype, np.number) or np.issubdtype(values.dtype, np.complexfloating):
        raise ValueError(f"wanted real numbers, got {values.dtype}")
    return values if values.dtype == np.uint8 else values.astype(np.float32)


def channels_first(values: np.ndarray) -> np.ndarray:
    """[H W], [H W C] or [C H W] as [C H W]: the smaller of the outer dimensions counts the channels."""
    if values.ndim == 1:
        return values
    if values.ndim == 2:
        return values[None]
    if values.ndim != 3:
        raise ValueError(f"wanted [F], [H W], [C H W] or [H W C], got an array of shape {list(values.shape)}")
    return values.transpose(2, 0, 1) if values.shape[2] < values.shape[0] else values


def _read(data: bytes) -> np.ndarray:
    if data.startswith(MAGIC):
        return channels_first(read_npy(data))
    if data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return _tiff(data)
    deep = _deep_png(data)
    if deep is not None:
        return torchvision_operators().decode_png(as_tensor(deep), UNCHANGED, False).numpy()
    return _pillow(data)


def _pillow(data: bytes) -> np.ndarray:
    image = open_image(data, PIXELS)
    image.info.pop("transparency", None)  # converting would warn about it
    number = image.mode in ("L", "RGB", "F") or image.mode.startswith("I")
    mode = image.mode if number else WHOLE.get(image.mode, "RGB")
    return channels_first(np.asarray(image if mode == image.mode else image.convert(mode)))


def _deep_png(data: bytes) -> bytes | None:
    """A PNG with colours of 16 bits, which Pillow cuts to 8, made anew from its rows; None for any other.

    Torchvision crashes on a damaged PNG, so it is given nothing but what has been found to be whole.
    """
    if not data.startswith(b"\x89PNG") or data[12:16] != b"IHDR" or len(data) < 33:
        return None
    width, height, depth, kind, *_, woven = struct.unpack(">IIBBBBB", data[16:29])
    if (depth, kind, woven) != (16, 2, 0):
        return None
    open_image(data, PIXELS)
    packed, place = b"", 8
    while place + 8 <= len(data):
        size, name = struct.unpack(">I4s", data[place : place + 8])
        packed += data[place + 8 : place + 8 + size] if name == b"IDAT" else b""
        place += 12 + size
    line = 1 + 6 * width  # how it was filtered, then its pixels
    rows = zlib.decompressobj().decompress(packed, height * line + 1)
    if len(rows) != height * line or max(rows[::line]) > 4:
        raise ValueError(
            f"a PNG of {width}x{height} that is damaged: {len(rows):,} bytes of {height * line:,}"
        )
    return (
        data[:8]
        + _chunk(b"IHDR", data[16:29])
        + _chunk(b"IDAT", zlib.compress(rows, 1))
        + _chunk(b"IEND", b"")
    )


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _tiff(data: bytes) -> np.ndarray:
    """By tifffile where it is there, and where it can undo the compression; else by Pillow."""
    module = _tifffile()
    if module is None:
        return _tiff_by_pillow(data)
    with module.TiffFile(BytesIO(data)) as file:
        series = file.series[0]
        if series.size * series.dtype.itemsize > LARGEST:
            raise ValueError(f"{series.dtype} {list(series.shape)} is more than {LARGEST:,} bytes{RAISE}")
        try:
            values, axes = series.asarray(), series.axes
        except ValueError as error:
            if "imagecodecs" not in str(error):
                raise
            return _tiff_by_pillow(data)
    order = [n for n, axis in enumerate(axes) if axis not in "YX"] + [axes.index("Y"), axes.index("X")]
    values = values.transpose(order).reshape(-1, *(values.shape[n] for n in order[-2:]))
    return values


def _tiff_by_pillow(data: bytes) -> np.ndarray:
    try:
        return _pillow(data)
    except ValueError as error:
        if "not a picture" not in str(error):
            raise
        raise ValueError("this kind of TIFF needs tifffile: pip install 'coview[own]'") from None


@functools.cache
def _tifffile() -> Any:
    if importlib.util.find_spec("tifffile") is None:
        return None
    import tifffile

    return tifffile
