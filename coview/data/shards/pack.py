"""Any dataset written as tar shards: all fields of a sample in one record, gaps allowed, in random order."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from coview.data.dataset import Dataset
from coview.data.shards.index import INDEX, KNOWN, Index, shard_name, write_known
from coview.data.shards.record import CLASS, Record, as_file, as_gap, check_fields
from coview.data.stream import Stream
from coview.data.stream.picture import read_file
from coview.data.stream.stack import EXTENT
from coview.files import write_text, write_whole
from coview.types import Sample

MEGABYTES = 64.0
BATCH = 64  # samples that are read at a time

Observer = Callable[[int, int], None]
"""Told how many samples have been written, of how many."""


def pack(
    dataset: Dataset,
    folder: Path,
    *,
    megabytes: float = MEGABYTES,
    shuffle: bool = True,
    observe: Observer | None = None,
) -> Index:
    """Write shards of about so many megabytes; the index comes last, so a folder that has one is whole.

    Samples are shuffled once here, since reading mixes only a few shards at a time, and numbered in their new order.
    Pictures in files go in as they are. Broken files are left out, as in training.
    """
    if (folder / INDEX).exists():
        raise FileExistsError(f"{folder} holds shards already: name another folder, or delete it")
    luck = torch.Generator().manual_seed(0)
    order = torch.randperm(len(dataset), generator=luck) if shuffle else torch.arange(len(dataset))
    book, records, size = _Book(), [], 0
    for record in _records(dataset, order, book):
        size += sum(len(data) for _, data in record.values())
        records.append(record)
        if size >= megabytes * 1e6:
            _write(folder, book, records)
            records, size = [], 0
            if observe is not None:
                observe(sum(book.counts), len(dataset))
    if records:
        _write(folder, book, records)
    return book.close(dataset, folder)


class _Book:
    """What is written down of samples while they are packed."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.labels: list[Tensor] = []
        self.present: dict[str, list[Tensor]] = {}
        self.shapes: dict[str, set[torch.Size]] = {}

    def note(self, sample: Sample, fields: Mapping[str, Tensor]) -> None:
        """Labels and gaps of a batch."""
        for name, values in fields.items():
            shapes = values.shape[1:] if EXTENT not in sample.fields else torch.Size([-1])
            self.shapes.setdefault(name, set()).update([shapes, values.shape[1:]])
        if sample.label is not None:
            self.labels.append(sample.label.cpu())
        for view, have in (sample.present or {}).items():
            self.present.setdefault(view, []).append(have.cpu())

    def close(self, dataset: Dataset, folder: Path) -> Index:
        """Write what is known, and at last the index."""
        label = torch.cat(self.labels) if self.labels else None
        present = {view: torch.cat(parts) for view, parts in self.present.items()}
        alike = all(len(shapes) == 1 for shapes in self.shapes.values())
        classes, counts = tuple(dataset.classes), torch.tensor(self.counts)
        index = Index(dataset.name, tuple(self.shapes), counts, classes, alike)
        known = write_known(label, present)
        write_whole(folder / KNOWN, lambda file: file.write(known))
        write_text(folder / INDEX, index.write())
        return index


def _records(dataset: Dataset, order: Tensor, book: _Book) -> Iterator[Record]:
    """Sample by sample, in that order, without those that are broken."""
    for index in order.split(BATCH):
        sample = dataset.fetch(index)
        fields = {name: values for name, values in sample.fields.items() if name != EXTENT}
        check_fields(fields)
        book.note(sample, fields)
        for row, number in enumerate(sample.index.tolist()):
            record = {name: _file(dataset, sample, name, row=row, number=number) for name in fields}
            if sample.label is not None:
                record[""] = CLASS, str(int(sample.label[row])).encode()
            yield record


def _file(dataset: Dataset, sample: Sample, name: str, *, row: int, number: int) -> tuple[str, bytes]:
    """A field of a sample as a file: the one that it came from if that is a picture, else one that holds its values."""
    values = sample.fields[name][row]
    if EXTENT in sample.fields and values.ndim >= 3:
        height, width = sample.fields[EXTENT][row].tolist()
        values = values[..., :height, :width]
    have = (sample.present or {}).get(name)
    if have is not None and not have[row]:
        return as_gap(values)
    if isinstance(dataset, Stream) and name not in dataset.decoders and dataset.opener is read_file:
        path = Path(dataset.files[name][number])
        return path.suffix.lower().lstrip(".") or "img", bytes(read_file(path))
    return as_file(values)


def _write(folder: Path, book: _Book, records: list[Record]) -> None:
    """One more shard."""
    first, name = sum(book.counts), shard_name(len(book.counts))
    write_whole(folder / name, partial(_fill, records=records, first=first))
    book.counts.append(len(records))


def _fill(file: IO[bytes], *, records: list[Record], first: int) -> None:
    writer = _writer()(file, encoder=False, mtime=0)
    for number, record in enumerate(records, start=first):
        members = {f"{field}.{kind}".lstrip("."): data for field, (kind, data) in record.items()}
        writer.write({"__key__": f"{number:010d}", **members})
    writer.close()


def _writer() -> Any:
    try:
        return importlib.import_module("webdataset.writer").TarWriter
    except ImportError as error:
        raise ModuleNotFoundError("packing shards needs webdataset: pip install 'coview[shards]'") from error
