"""A dataset in tar shards, near or far: streamed shard by shard, shuffled, its samples numbered like any other's."""

import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd
from os import PathLike
from pathlib import Path
from typing import Any, overload

import torch
from jaxtyping import Int
from torch import Tensor

from coview import processes
from coview.data.shards.index import INDEX, KNOWN, Index, read_index, read_known, shard_name
from coview.data.shards.order import shuffled_batches
from coview.data.shards.read import is_remote, read_bytes, read_shard
from coview.data.shards.record import ARRAY, GAP, Record, member_name, read_array, read_gap
from coview.data.shards.shelf import Shelf
from coview.data.stream import OverStream, Stream
from coview.types import Sample

READERS = 4  # shards that are read at a time


def packed(split: str, *, root: str | PathLike[str], streams: int = 8, tolerate: float = 0.01) -> "Shards":
    """What `coview pack` wrote: below `root` for each split, or at `root` itself; a folder or an address.

    So many `streams` of shards are mixed, and about twice as many shards are in memory; a multiple of the number of
    processes lets each read its own alone.
    """
    place = str(root).rstrip("/") if is_remote(str(root)) else str(Path(root).expanduser())
    where = place if _is_here(place) else f"{place}/{split}"
    index = read_index(_beside(where, INDEX), f"{where}/{INDEX}")
    label, present = read_known(_beside(where, KNOWN), len(index), f"{where}/{KNOWN}")
    shelf = Shelf(_Load(where, index), most=2 * min(streams, len(index.counts)) + 2, readers=READERS)
    files = {field: Members(where, index, field) for field in index.fields}
    known = {"label": label, "classes": index.classes, "present": present}
    kept = {"opener": _Open(shelf), "alike": index.alike, "tolerate": tolerate}
    stream = Stream(index.name, files, **known, **kept)
    return Shards(stream, index, shelf, streams)


@dataclass(frozen=True)
class Shards(OverStream):
    """A `Stream` out of shards, which are read whole and ahead of their use."""

    index: Index
    shelf: Shelf
    streams: int = 8

    def to(self, device: torch.device | str) -> "Shards":
        """The same samples, arriving on another device."""
        return replace(self, stream=self.stream.to(device))

    def subset(self, index: Int[Tensor, "S"]) -> Stream:
        """Some of the samples, counted anew from 0."""
        return self.stream.subset(index)

    def fetch(self, index: Int[Tensor, "B"]) -> Sample:
        """A batch of samples, by index; each shard that has one of them is read."""
        return self.stream.fetch(index)

    def order(self, batch_size: int, *, seed: int, epoch: int) -> Iterator[Tensor]:
        """Batches of an epoch, random, and such that few shards are open at a time."""
        return shuffled_batches(self.index, batch_size, seed=seed, epoch=epoch, streams=self.streams)

    def epoch(self, batches: Iterable[Tensor]) -> Iterator[Sample]:
        """Batches of samples by index, best in the order of `order`; the shards of those to come are on their way."""
        if self.streams % processes.count():
            warnings.warn(
                f"{processes.count()} processes share {self.streams} streams of shards, so some read the same ones: "
                f"packed(..., streams={processes.count()}) or a multiple lets each read its own",
                stacklevel=2,
            )
        return self.stream.deliver(self._ahead(batches), stand_in=True)

    def batches(self, size: int) -> Iterator[Sample]:
        """Every sample once, in order, without those that are broken."""
        return self.stream.deliver(self._ahead(torch.arange(len(self)).split(size)), stand_in=False)

    def _ahead(self, batches: Iterable[Tensor]) -> Iterator[Tensor]:
        """The same batches, looked through as far ahead as a shard of each stream is long."""
        mine = self.streams // gcd(self.streams, processes.count())
        reach = mine * int(self.index.counts.max())
        waiting: deque[Tensor] = deque()
        seen = 0
        for batch in batches:
            waiting.append(batch)
            seen += len(batch)
            for shard in self.index.shards_of(batch).unique().tolist():
                self.shelf.want(shard)
            while seen > reach:
                seen -= len(waiting[0])
                yield waiting.popleft()
        yield from waiting


@dataclass(frozen=True)
class Member:
    """A field of a sample in a shard: a path that only the shelf can open."""

    root: str
    shard: int
    number: int
    field: str

    def __fspath__(self) -> str:
        return f"{self.root}/{shard_name(self.shard)}/{member_name(self.number, self.field, 'file')}"

    def __str__(self) -> str:
        return f"{self.root}/{shard_name(self.shard)}, {self.field} of sample {self.number}"


@dataclass(frozen=True)
class Members(Sequence[Any]):
    """That of every sample, made when it is asked for."""

    root: str
    numbered: Index
    field: str

    def __len__(self) -> int:
        return len(self.numbered)

    @overload
    def __getitem__(self, number: int) -> Member: ...
    @overload
    def __getitem__(self, number: slice) -> list[Member]: ...
    def __getitem__(self, number: int | slice) -> Member | list[Member]:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        return Member(self.root, self.numbered.shard_of(number), number, self.field)


@dataclass(frozen=True)
class _Load:
    """Reads a shard by its number."""

    root: str
    index: Index

    def __call__(self, shard: int) -> dict[int, Record]:
        first, count = int(self.index.starts[shard]), int(self.index.counts[shard])
        return read_shard(self.root, shard_name(shard), range(first, first + count))


@dataclass(frozen=True)
class _Open:
    """The bytes of a picture, or the values of an array, or zeros in the place of a gap."""

    shelf: Shelf

    def __call__(self, member: Member) -> bytes | Tensor:
        record = self.shelf.record(member.shard, member.number)
        if member.field not in record:
            raise OSError(f"the shard has no {member.field} of it")
        kind, data = record[member.field]
        if kind == ARRAY:
            return read_array(data)
        return read_gap(data) if kind == GAP else data


def has_shards(place: str | PathLike[str]) -> bool:
    """Whether shards are at a place, or below it for its splits; of an address that is taken for granted."""
    if is_remote(str(place)):
        return True
    folder = Path(place).expanduser()
    return any(True for pattern in (INDEX, f"*/{INDEX}") for _ in folder.glob(pattern))


def _is_here(root: str) -> bool:
    """Whether the index is at a place itself; of an address it must be tried."""
    if not is_remote(root):
        return (Path(root) / INDEX).is_file()
    try:
        read_bytes(root, INDEX)
    except OSError:
        return False
    return True


def _beside(root: str, name: str) -> bytes:
    try:
        return read_bytes(root, name)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"no shards at {root}: it has no {name}; `coview pack RECIPE {Path(root).parent}` writes some"
        ) from error
