"""CIFAR-10 as its authors packed it: pickled batches of rows, each a picture's red, green and blue values."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch

from coview.data.resident import Resident

FILES = {"train": tuple(f"data_batch_{number}" for number in range(1, 6)), "test": ("test_batch",)}
META = "batches.meta"
ARRAYS = frozenset(
    [("multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")]
)


def read_cifar10(folder: Path, split: str) -> Resident:
    """The pictures of a split; torchvision would refuse files that hold the same pictures in other bytes."""
    batches = [_batch(folder / name) for name in FILES[split]]
    pixels = np.concatenate([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32)
    label = torch.tensor([one for batch in batches for one in batch["labels"]])
    classes = tuple(_unpickled(folder / META)["label_names"])
    return Resident(f"CIFAR-10 {split}", {"rgb": torch.from_numpy(pixels)}, label, classes)


def _batch(path: Path) -> dict[str, Any]:
    batch = _unpickled(path)
    data, labels = (batch.get(name) if isinstance(batch, dict) else None for name in ("data", "labels"))
    if not isinstance(data, np.ndarray) or data.shape != (len(labels or ()), 3072) or data.dtype != np.uint8:
        raise ValueError(f"{path} is no batch of CIFAR-10: wanted rows of 3,072 bytes, with a label each")
    return batch


def _unpickled(path: Path) -> Any:
    with path.open("rb") as file:
        try:
            return _Arrays(file, encoding="latin1").load()
        except Exception as error:  # a damaged pickle makes its reader fail in any way it can
            raise ValueError(f"{path} is cut off or no file of CIFAR-10 ({error}): get it again") from error


class _Arrays(pickle.Unpickler):
    """A pickle can run anything; one of CIFAR-10 needs arrays, lists and strings alone."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.rpartition(".")[2], name) not in ARRAYS or module.split(".")[0] not in (
            "numpy",
            "_codecs",
        ):
            raise pickle.UnpicklingError(f"it wants to call {module}.{name}")
        return super().find_class(module, name)
