"""Your views as a dataset: in memory where they are small, streamed from their files where they are not."""

import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from coview.data.own.find import find
from coview.data.own.found import Found
from coview.data.own.joined import Joined
from coview.data.own.readers import decode_values, resized
from coview.data.resident import Resident
from coview.data.stream import Decoder, Stream
from coview.data.stream.picture import BROKEN

RESIDENT = 2**31  # bytes of maps that are kept in memory
READERS = 8  # threads
NAMED = 5  # broken files that a warning names


def own_data(
    split: str,
    *,
    path: str | PathLike[str],
    side: int | None = None,
    channels: Mapping[str, int] | None = None,
    held_out: float = 0.2,
    resident: int = RESIDENT,
) -> Resident | Stream | Joined:
    """The views found at a place; maps as squares of `side` pixels, grey pictures as colour where `channels` says 3.

    `split` is "train", "test" or "all"; where the place names no splits, the share `held_out` is to test on.
    """
    found = find(path)
    rows = found.part(split, held_out=held_out)
    return load(
        found, rows, f"{Path(path).name} {split}", side=side, channels=channels or {}, resident=resident
    )


def load(
    found: Found,
    rows: Int[np.ndarray, "S"],
    name: str,
    *,
    side: int | None,
    channels: Mapping[str, int],
    resident: int = RESIDENT,
) -> Resident | Stream | Joined:
    """Some of the samples that were found."""
    label = None if found.label is None else torch.from_numpy(found.label[rows]).long()
    decoders = {one: partial(decode_view, side=side, channels=channels.get(one)) for one in found.columns}
    present = {one: torch.from_numpy(column.present[rows]) for one, column in found.columns.items()}
    gaps = {one: have for one, have in present.items() if not have.all()}
    tables = {
        one: _in_memory(c.values[rows], side) for one, c in found.columns.items() if c.values is not None
    }
    files = {
        one: ([c.files[row] for row in rows], next(filter(None, c.files)))
        for one, c in found.columns.items()
        if c.files is not None
    }
    if files and _bytes(files, decoders) > resident:
        # a sample that lacks a view names another's file, which nobody looks at
        whole = {one: [path or other for path in paths] for one, (paths, other) in files.items()}
        stream = Stream(
            name, whole, label, found.classes, gaps, decoders={one: decoders[one] for one in files}
        )
        return Joined(stream, Resident(name, tables)) if tables else stream
    read = {one: _read_all(one, *files[one], decoders[one]) for one in files}
    fields = {one: tables[one] if one in tables else read[one][0] for one in found.columns}
    gaps |= {one: have for one, (_, have) in read.items() if not have.all()}
    return Resident(name, fields, label, found.classes, gaps)


def decode_view(data: bytes, *, side: int | None, channels: int | None) -> Tensor:
    """The values of one file, in the form that its view has."""
    values = decode_values(data, side=side)
    if channels is None or values.ndim == 1 or len(values) == channels:
        return values
    if len(values) == 1 and channels == 3 and values.dtype == torch.uint8:
        return values.repeat(3, 1, 1)
    raise ValueError(f"wanted {channels} channels, got {len(values)}")


def _in_memory(values: np.ndarray, side: int | None) -> Tensor:
    if values.ndim == 4:
        values = np.stack([resized(one, side) for one in values])
    return torch.from_numpy(np.ascontiguousarray(values))


def _bytes(files: Mapping[str, tuple[list[Path | None], Path]], decoders: Mapping[str, Decoder]) -> int:
    """How much memory all files would fill, judged by one of each view."""
    found = {name: (_try(decoders[name], other), len(paths)) for name, (paths, other) in files.items()}
    return sum(one.numel() * one.element_size() * n for one, n in found.values() if isinstance(one, Tensor))


def _read_all(name: str, paths: list[Path | None], other: Path, decode: Decoder) -> tuple[Tensor, Tensor]:
    """All files of a view, and which samples have it; what cannot be read counts as missing."""
    with ThreadPoolExecutor(READERS) as pool:
        read = list(pool.map(partial(_try, decode), paths))
    broken = [f"{path} ({one})" for path, one in zip(paths, read, strict=True) if isinstance(one, Exception)]
    good = {path: one for path, one in zip(paths, read, strict=True) if isinstance(one, Tensor)}
    if broken and not good:
        raise ValueError(f"no file of view '{name}' can be read: {broken[0]}")
    if broken:
        files = "1 file" if len(broken) == 1 else f"{len(broken):,} files"
        more = f" and {len(broken) - NAMED:,} more" if len(broken) > NAMED else ""
        warnings.warn(
            f"{files} of view '{name}' cannot be read and {'counts' if len(broken) == 1 else 'count'} as missing: "
            f"{', '.join(broken[:NAMED])}{more}",
            stacklevel=4,
        )
    like = next(iter(good.values())) if good else decode(other.read_bytes())
    _check_alike(name, like, good)
    values = like.new_zeros(len(paths), *like.shape)
    have = torch.tensor([isinstance(one, Tensor) for one in read])
    if good:
        values[have] = torch.stack([one for one in read if isinstance(one, Tensor)])
    return values, have


def _try(decode: Decoder, path: Path | None) -> Tensor | Exception | None:
    if path is None:
        return None
    try:
        return decode(path.read_bytes())
    except BROKEN as error:
        return error


def _check_alike(name: str, like: Tensor, read: Mapping[Path | None, Tensor]) -> None:
    for path, one in read.items():
        if one.shape != like.shape or one.dtype != like.dtype:
            raise ValueError(
                f"view '{name}' mixes {list(like.shape)} and {list(one.shape)} ({path}): save all files alike, or "
                "give `side` where only their sizes differ"
            )
