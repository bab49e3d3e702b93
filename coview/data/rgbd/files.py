"""One file of a frame as a tensor: pictures, depths, normals and labels, from images or numpy arrays."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int8, Int16, UInt8
from torch import Tensor

from coview.data.npy import read_npy
from coview.data.rgbd.frames import as_bytes, check_depth
from coview.data.stream.picture import PIXELS, open_image, read_file
from coview.files import in_a_line

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".npy")


def read_rgb(path: Path) -> UInt8[Tensor, "3 H W"]:
    """A picture."""
    if path.suffix == ".npy":
        return _channels_first(read_npy(read_file(path)), path)
    return torch.from_numpy(_picture(path, "RGB")).movedim(-1, 0)


def read_depth(path: Path, *, scale: float) -> Float[Tensor, "1 H W"]:
    """Metres, of an image whose units are `scale` to the metre, or of an array that has metres."""
    values = _values(path).astype(np.float32)
    if values.ndim != 2:
        raise ValueError(f"{path} is no depth map: wanted [H W], got {list(values.shape)}")
    depth = torch.from_numpy(values)[None] / (1.0 if path.suffix == ".npy" else scale)
    check_depth(depth, str(path))
    return depth.half()


def read_normal(path: Path) -> Int8[Tensor, "3 H W"]:
    """Unit normals, x right, y down, z ahead; of an image 0 to 255 for -1 to 1. No length, or black, is a hole."""
    if path.suffix == ".npy":
        given = _channels_first(read_npy(read_file(path)), path).float()
        hole = given.square().sum(0) < 1e-6
    else:
        colours = read_rgb(path)
        given, hole = colours / 127.5 - 1, (colours == 0).all(0)
    length = given.square().sum(0).sqrt().clamp(min=1e-6)
    return as_bytes((given / length).masked_fill(hole, 0.0))


def read_label(path: Path) -> Int16[Tensor, "1 H W"]:
    """Numbers of classes."""
    values = _values(path)
    if values.ndim != 2:
        raise ValueError(f"{path} is no label map: wanted [H W], got {list(values.shape)}")
    return torch.from_numpy(values.astype(np.int16))[None]


READ: dict[str, Callable[..., Tensor]] = {
    "rgb": read_rgb,
    "depth": read_depth,
    "normal": read_normal,
    "label": read_label,
}


def _values(path: Path) -> np.ndarray:
    if path.suffix == ".npy":
        return read_npy(read_file(path))
    return _picture(path)


def _picture(path: Path, mode: str | None = None) -> np.ndarray:
    try:
        image = open_image(read_file(path), PIXELS)
        return np.array(image if mode is None else image.convert(mode))
    except FileNotFoundError:
        raise
    except Exception as error:  # Pillow's readers raise whatever they stumble over
        raise ValueError(f"{path} cannot be read: {in_a_line(error)}") from error


def _channels_first(values: np.ndarray, path: Path) -> Tensor:
    """[3 H W], of an array that may have its channels last."""
    if values.ndim != 3 or 3 not in (values.shape[0], values.shape[-1]):
        raise ValueError(f"{path} should be [3 H W] or [H W 3], got {list(values.shape)}")
    found = torch.from_numpy(values)
    return found if found.shape[0] == 3 else found.movedim(-1, 0)
