"""Small folders, tables and arrays of views, written out for the tests."""

from pathlib import Path

import numpy as np
import tifffile
from PIL import Image


def picture(number: int, height: int = 10, width: int = 14, channels: int = 3) -> np.ndarray:
    """Bytes [H W C] or [H W], others for each number."""
    rows, columns = np.mgrid[:height, :width]
    planes = [
        (rows * 7 + columns * (3 + channel) + 13 * number + 40 * channel) % 256 for channel in range(channels)
    ]
    values = np.stack(planes, -1).astype(np.uint8)
    return values[..., 0] if channels == 1 else values


def save(file: Path, values: np.ndarray) -> None:
    """By the ending of the file's name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".npy":
        np.save(file, values)
    elif file.suffix in (".tif", ".tiff"):
        tifffile.imwrite(file, values, photometric="rgb" if values.shape[2:] == (3,) else "minisblack")
    else:
        Image.fromarray(values).save(file)


def sensors(place: Path, samples: int = 24, *, gaps: bool = True) -> Path:
    """Colour of 8 bits, depth of 16, heat as floats; every third sample lacks depth, every fourth heat."""
    for number in range(samples):
        name = f"{number:04d}"
        save(place / f"rgb/{name}.png", picture(number))
        if not gaps or number % 3:
            save(place / f"depth/{name}.png", picture(number, channels=1).astype(np.uint16) * 20 + 300)
        if not gaps or number % 4:
            save(place / f"heat/{name}.tif", picture(number, 5, 7, 1).astype(np.float32) / 8 + 280)
    return place
