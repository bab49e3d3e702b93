"""One file -> a map [C H W] or a vector [F]: pictures of 8 and 16 bits, float TIFFs, NumPy arrays."""

import functools
import importlib.util
import struct
from io import BytesIO
from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from PIL import Image
from torch import Tensor

from coview.data.stream.picture import BROKEN, PIXELS, as_tensor, open_image, torchvision_operators

PICTURES = (".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
SUPPORTED = (*PICTURES, ".npy")
WHOLE = {"1": "L", "P": "RGB", "LA": "L", "PA": "RGB", "La": "L", "RGBA": "RGB", "RGBa": "RGB", "RGBX": "RGB"}
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
    if data.startswith(b"\x93NUMPY"):
        return channels_first(np.load(BytesIO(data), allow_pickle=False))
    if data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return _tiff(data)
    if _deep_png(data):
        return torchvision_operators().decode_png(as_tensor(data), UNCHANGED, False).numpy()
    return _pillow(data)


def _pillow(data: bytes) -> np.ndarray:
    image = open_image(data, PIXELS)
    image.info.pop("transparency", None)  # converting would warn about it
    number = image.mode in ("L", "RGB", "F") or image.mode.startswith("I")
    mode = image.mode if number else WHOLE.get(image.mode, "RGB")
    return channels_first(np.asarray(image if mode == image.mode else image.convert(mode)))


def _deep_png(data: bytes) -> bool:
    """Colour of 16 bits, which Pillow cuts to 8: bit depth and kind of colour stand in the header."""
    if not data.startswith(b"\x89PNG") or len(data) < 26:
        return False
    depth, kind = struct.unpack("BB", data[24:26])
    return depth == 16 and kind == 2


def _tiff(data: bytes) -> np.ndarray:
    """By tifffile where it is there, and where it can undo the compression; else by Pillow."""
    module = _tifffile()
    if module is None:
        return _tiff_by_pillow(data)
    with module.TiffFile(BytesIO(data)) as file:
        series = file.series[0]
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
