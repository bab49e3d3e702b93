"""The square in the middle of a picture, at another size."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor


def square(picture: UInt8[Tensor, "3 H W"], side: int) -> UInt8[Tensor, "3 S S"]:
    """As if resized so that the shorter side has `side` pixels and then cropped in the middle, smoothed by Pillow."""
    _, height, width = picture.shape
    if (height, width) == (side, side):
        return picture
    short = min(height, width)
    left, top = (width - short) / 2, (height - short) / 2
    image = Image.fromarray(np.ascontiguousarray(picture.numpy().transpose(1, 2, 0)))
    small = image.resize((side, side), Image.Resampling.BILINEAR, box=(left, top, left + short, top + short))
    return torch.from_numpy(np.ascontiguousarray(np.asarray(small).transpose(2, 0, 1)))


def squares(pictures: UInt8[Tensor, "N 3 H W"], side: int) -> UInt8[Tensor, "N 3 S S"]:
    """Many at once."""
    if pictures.shape[2:] == (side, side):
        return pictures
    small = torch.empty(len(pictures), 3, side, side, dtype=torch.uint8)

    def put(number: int) -> None:
        small[number] = square(pictures[number], side)

    with ThreadPoolExecutor() as pool:
        list(pool.map(put, range(len(pictures)), chunksize=256))
    return small
