"""What is known of shards without opening one: `shards.json`, and beside it labels and gaps in `known.npz`."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from coview.data.npy import read_npz

FORMAT = "coview shards 1"
INDEX, KNOWN = "shards.json", "known.npz"
MANY = 2**32  # samples in a shard; more are refused
LABEL, PRESENT = "label", "present."  # names in KNOWN; which samples have a view is kept as bits


@dataclass(frozen=True)
class Index:
    """How many samples are in each shard, one after the other, and which fields they have."""

    name: str
    fields: tuple[str, ...]
    counts: Int[Tensor, "S"]
    classes: tuple[str, ...] = ()
    alike: bool = False  # whether every field has one shape throughout

    def __len__(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def ends(self) -> Int[Tensor, "S"]:
        """For each shard the first sample that comes after it."""
        return self.counts.cumsum(0)

    @property
    def starts(self) -> Int[Tensor, "S"]:
        """The first sample of each shard."""
        return self.ends - self.counts

    def shard_of(self, number: int) -> int:
        """Which shard a sample is in."""
        return int(np.searchsorted(self.ends.numpy(), number, side="right"))

    def shards_of(self, index: Int[Tensor, "B"]) -> Int[Tensor, "B"]:
        """Which shard each sample is in."""
        return torch.searchsorted(self.ends, index.cpu(), right=True)

    def write(self) -> str:
        said = {"format": FORMAT, "name": self.name, "fields": self.fields, "classes": self.classes}
        more = {"alike": self.alike, "samples": self.counts.tolist()}
        return json.dumps({**said, **more}, ensure_ascii=False)


def shard_name(number: int) -> str:
    """Names follow from numbers: none is read from a file, so none can lead elsewhere."""
    return f"shard-{number:06d}.tar"


def read_index(data: bytes, where: str) -> Index:
    """An index that this package wrote, or a message."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is no index of shards: {error}") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        kind = said.get("format", "no format") if isinstance(said, dict) else type(said).__name__
        raise ValueError(f"{where} is no index of shards: wanted '{FORMAT}', got {kind}")
    name, fields, classes = said.get("name"), _words(said.get("fields")), _words(said.get("classes"))
    counts = said.get("samples")
    if not isinstance(name, str) or classes is None or not fields or len(set(fields)) < len(fields):
        raise ValueError(f"{where} is damaged: wanted a name, different fields, and a list of classes")
    if not isinstance(counts, list) or not counts or not all(type(n) is int and 0 < n < MANY for n in counts):
        raise ValueError(f"{where} is damaged: wanted how many samples each shard has")
    return Index(name, fields, torch.tensor(counts), classes, said.get("alike") is True)


def write_known(label: Tensor | None, present: Mapping[str, Tensor]) -> bytes:
    """Labels, and which samples have which view, as a NumPy archive."""
    arrays = {} if label is None else {LABEL: label.numpy()}
    arrays |= {f"{PRESENT}{view}": np.packbits(have.numpy()) for view, have in present.items()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, values, allow_pickle=False)
    return file.getvalue()


def read_known(data: bytes, samples: int, where: str) -> tuple[Tensor | None, dict[str, Tensor]]:
    """The other way; nothing in it is unpickled, and nothing is unpacked that claims to be larger than it must be."""
    try:
        arrays = read_npz(data, largest=16 * samples + 4096)
        label = arrays.pop(LABEL, None)
        if label is not None and (label.shape != (samples,) or not np.issubdtype(label.dtype, np.integer)):
            raise ValueError(f"the label has shape {label.shape} and type {label.dtype}")
        present = {name.removeprefix(PRESENT): _bits(one, samples) for name, one in arrays.items()}
    except ValueError as error:
        raise ValueError(f"{where} cannot be read: {error}") from error
    return None if label is None else torch.from_numpy(label.astype(np.int64)), present


def _bits(packed: np.ndarray, samples: int) -> Tensor:
    if packed.dtype != np.uint8 or packed.shape != (-(-samples // 8),):
        raise ValueError(f"wanted {samples:,} bits, got {packed.dtype} of shape {packed.shape}")
    return torch.from_numpy(np.unpackbits(packed, count=samples).astype(bool))


def _words(value: Any) -> tuple[str, ...] | None:
    """A list of texts; None for anything else."""
    return tuple(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else None
