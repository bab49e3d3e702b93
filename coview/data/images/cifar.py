"""CIFAR-10 as its authors packed it: pickled batches of rows, each a picture's red, green and blue values."""

import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from coview.data.resident import Resident

FILES = {"train": tuple(f"data_batch_{number}" for number in range(1, 6)), "test": ("test_batch",)}
META = "batches.meta"


class _Array:
    """What a pickle says of an array; NumPy itself would believe it, and crash on what is damaged."""

    def __init__(self, *_: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def rows(self) -> np.ndarray:
        """Rows of bytes, as many as there are."""
        _, (count, size), _, columns_first, data = self.state
        values = np.frombuffer(data.encode("latin1") if isinstance(data, str) else data, np.uint8)
        return values.reshape((count, size), order="F" if columns_first else "C")


def _encoded(text: str, _: str) -> bytes:
    return text.encode("latin1")


MADE = {  # by what the pickle calls; of an array's kind its size tells enough
    ("multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Array,
    ("_codecs", "encode"): _encoded,
}


def read_cifar10(folder: Path, split: str) -> Resident:
    """The pictures of a split; torchvision would refuse files that hold the same pictures in other bytes."""
    batches = [_batch(folder / name) for name in FILES[split]]
    pixels = np.concatenate([rows for rows, _ in batches]).reshape(-1, 3, 32, 32)
    label = torch.tensor([one for _, labels in batches for one in labels])
    classes = tuple(_unpickled(folder / META)["label_names"])
    return Resident(f"CIFAR-10 {split}", {"rgb": torch.from_numpy(pixels)}, label, classes)


def _batch(path: Path) -> tuple[np.ndarray, list[int]]:
    """Rows of a batch, and their labels."""
    batch = _unpickled(path)
    with suppress(AttributeError, LookupError, TypeError, ValueError):  # where it has not what a batch has
        rows, labels = batch["data"].rows(), list(batch["labels"])
        if rows.shape == (len(labels), 3072) and all(type(one) is int and 0 <= one < 256 for one in labels):
            return rows, labels
    raise ValueError(f"{path} is no batch of CIFAR-10: wanted rows of 3,072 bytes, with a label each")


def _unpickled(path: Path) -> Any:
    with path.open("rb") as file:
        try:
            return _Arrays(file, encoding="latin1").load()
        except Exception as error:  # a damaged pickle makes its reader fail in any way it can
            raise ValueError(f"{path} is cut off or no file of CIFAR-10 ({error}): get it again") from error


class _Arrays(pickle._Unpickler):  # in Python: the one in C believes what sizes a file claims
    """A pickle can run anything; one of CIFAR-10 needs arrays, lists and strings alone."""

    def find_class(self, module: str, name: str) -> Any:
        kind = module.rpartition(".")[2], name
        if kind not in MADE or module.split(".")[0] not in ("numpy", "_codecs"):
            raise pickle.UnpicklingError(f"it wants to call {module}.{name}")
        return MADE[kind]
