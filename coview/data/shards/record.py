"""One sample in a shard: members `0000000012.depth.npy`, which are the fields, or say that one is missing."""

import io
import json
import re
from collections.abc import Mapping

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from coview.data.npy import read_npy

Record = dict[str, tuple[str, bytes]]
"""The fields of a sample: what kind of file each is ("png", "npy", "gap"), and its bytes."""

GAP, ARRAY, CLASS = "gap", "npy", "cls"
MEMBER = re.compile(r"(\d{10,19})\.([A-Za-z0-9_-]+)\.([a-z0-9]+)")
KINDS = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
LARGEST = 2**28  # bytes of an array; more are refused


def as_file(values: Tensor) -> tuple[str, bytes]:
    """Values as a file that holds them without loss: colour pictures as PNG, all others as NumPy arrays."""
    file = io.BytesIO()
    if values.dtype == torch.uint8 and values.ndim == 3 and len(values) == 3:
        picture = np.ascontiguousarray(values.permute(1, 2, 0).cpu().numpy())
        Image.fromarray(picture).save(file, "PNG", compress_level=1)
        return "png", file.getvalue()
    np.lib.format.write_array(file, values.cpu().numpy(), allow_pickle=False)
    return ARRAY, file.getvalue()


def as_gap(values: Tensor) -> tuple[str, bytes]:
    """In place of values that are missing: their type and shape, since batches need something to stand there."""
    kind = str(values.dtype).removeprefix("torch.")
    return GAP, json.dumps([kind, list(values.shape)]).encode()


def read_array(data: bytes, largest: int = LARGEST) -> Tensor:
    """A NumPy file that holds as many plain numbers as it claims."""
    values = read_npy(data, largest=largest)
    _check(values.dtype.name, values.shape, largest)
    return torch.from_numpy(np.array(values.astype(values.dtype.newbyteorder("=")), order="C"))


def read_gap(data: bytes, largest: int = LARGEST) -> Tensor:
    """Zeros where something is missing."""
    try:
        kind, shape = json.loads(data)
        _check(kind, shape, largest)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"a gap that cannot be read: {error}") from error
    return torch.zeros(torch.Size(shape), dtype=getattr(torch, kind))


def member_name(number: int, field: str, kind: str) -> str:
    return f"{number:010d}.{field}.{kind}"


def check_fields(fields: Mapping[str, object]) -> None:
    """Refuse names that cannot stand in the name of a member."""
    for field in fields:
        if not MEMBER.fullmatch(member_name(0, field, ARRAY)) or field == CLASS:
            raise ValueError(
                f"field '{field}' cannot be packed: names are letters, digits, _ and -, and not '{CLASS}'"
            )


def _check(kind: object, shape: object, largest: int) -> None:
    if kind not in KINDS:
        raise ValueError(f"wanted numbers ({', '.join(KINDS)}), got {kind}")
    sides = list(shape) if isinstance(shape, list | tuple) else [-1]
    if len(sides) > 8 or not all(type(side) is int and 0 <= side <= largest for side in sides):
        raise ValueError(f"{shape} is no shape")
    size = np.dtype(str(kind)).itemsize
    for side in sides:
        size *= side
    if size > largest:
        raise ValueError(f"{kind} {sides} is more than {largest:,} bytes")
