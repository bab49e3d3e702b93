"""Frames on a disk, small: NYU-Depth-V2 in its official files, and folders of frames, of rendered rooms."""

import json
from pathlib import Path

import h5py
import numpy as np
import scipy.io
import torch
from PIL import Image

from coview.data.scenes import render

NAMES = tuple(f"thing {number}" for number in range(1, 895))
HEIGHT, WIDTH = 24, 32


def to_40() -> np.ndarray:
    """A map of the 894 classes that has every one of the 40."""
    return (np.arange(894) * 7) % 40 + 1


def nyu(folder: Path, *, train=(2, 3, 5), frames: int = 5) -> dict[str, np.ndarray]:
    """The official files with a few small frames; `train` counts from 1, as MATLAB does."""
    folder.mkdir(parents=True, exist_ok=True)
    luck = np.random.default_rng(0)
    images = luck.integers(0, 256, (frames, 3, HEIGHT, WIDTH), dtype=np.uint8)
    depths = luck.uniform(0.7, 9.9, (frames, HEIGHT, WIDTH)).astype(np.float32)
    labels = luck.integers(0, 895, (frames, HEIGHT, WIDTH)).astype(np.uint16)
    with h5py.File(folder / "nyu_depth_v2_labeled.mat", "w") as file:
        file["images"] = images.transpose(0, 1, 3, 2)  # as HDF5 has what MATLAB wrote: the last axis first
        file["depths"], file["labels"] = depths.transpose(0, 2, 1), labels.transpose(0, 2, 1)
        references = []
        for number, name in enumerate(NAMES):
            file[f"letters/{number}"] = np.array([[ord(letter)] for letter in name], np.uint16)
            references.append(file[f"letters/{number}"].ref)
        file.create_dataset("names", data=np.array([references], dtype=h5py.ref_dtype))
    test = [number for number in range(1, frames + 1) if number not in train]
    splits = {
        "trainNdxs": np.array(train, np.uint16)[:, None],
        "testNdxs": np.array(test, np.uint16)[:, None],
    }
    scipy.io.savemat(folder / "splits.mat", splits)
    scipy.io.savemat(folder / "classMapping40.mat", {"mapClass": to_40()[None].astype(np.uint8)})
    return {"images": images, "depths": depths, "labels": labels}


def frames(folder: Path, *, count: int = 5, size: int = 32, camera: bool = True) -> dict[str, torch.Tensor]:
    """A folder of frames: PNG, 16 bits of millimetres, labels from 1, normals as colours."""
    for kind in ("rgb", "depth", "normal", "label"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    found = render(torch.arange(count), size=size)
    for row in range(count):
        stem = f"frame{row:02d}.png"
        save(folder / "rgb" / stem, found["rgb"][row].permute(1, 2, 0))
        save(folder / "depth" / stem, (found["depth"][row, 0] * 1000).round().to(torch.uint16))
        colours = (found["normal"][row].permute(1, 2, 0) * 127.5 + 127.5).round().to(torch.uint8)
        save(folder / "normal" / stem, colours)
        save(folder / "label" / stem, found["segment"][row, 0] + 1)
    if camera:
        matrix = found["intrinsics"][0]
        known = {"fx": matrix[0, 0], "fy": matrix[1, 1], "cx": matrix[0, 2], "cy": matrix[1, 2]}
        (folder / "camera.json").write_text(json.dumps({name: float(one) for name, one in known.items()}))
    return found


def save(path: Path, values: torch.Tensor) -> None:
    Image.fromarray(values.numpy()).save(path)
