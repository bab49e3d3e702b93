"""A dataset in files: workers read, JPEGs are decoded on the device where it can, the next batches are on their way."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from coview.data.stream.ahead import made_ahead
from coview.data.stream.beside import Beside
from coview.data.stream.broken import Broken, Fault, all_broken, stand_ins
from coview.data.stream.bulk import POSSIBLE, Bulk
from coview.data.stream.picture import BROKEN, PIXELS, SIDE, Data, Decoder, decode_picture, read_file
from coview.data.stream.reading import goes_together
from coview.data.stream.stack import EXTENT, extent_of, stack
from coview.data.stream.together import Jpeg, Together, decode_together, device_decoder
from coview.names import did_you_mean
from coview.types import Sample

Opener = Callable[[Any], Data | Tensor]
"""From what `files` holds for a field of a sample to the bytes of its file, or to what they would be decoded to."""

READERS = 4  # that only read
JPEGS = ("", ".jpg", ".jpeg", ".jpe", ".jfif")

Row = dict[str, Tensor | Jpeg | Exception]
"""What a worker found for a sample, by field; an exception where a file is broken."""


@dataclass(frozen=True)
class Stream:
    """N samples in files: paths by field name, and where known a label and which views are there.

    Files are colour pictures unless `decoders` has a function of their bytes for the field. Broken samples
    are left out and remembered in `broken`; more than the share `tolerate` of all samples stops the run.
    """

    name: str
    files: Mapping[str, Sequence[str | PathLike[str]]]
    label: Int[Tensor, "N"] | None = None
    classes: tuple[str, ...] = ()
    present: Mapping[str, Bool[Tensor, "N"]] = field(default_factory=dict)
    _: KW_ONLY
    decoders: Mapping[str, Decoder] = field(default_factory=dict)
    device: torch.device = torch.device("cpu")
    workers: int | None = None  # threads that read; None: few, or if they also decode, one for each core
    ahead: int = 2  # batches in the making while one is used
    opener: Opener = read_file
    alike: bool = False  # every field has one shape throughout; only then may maps of a sample differ in size
    tolerate: float = 0.01
    pixels: int = PIXELS  # a larger picture counts as broken
    side: int = SIDE  # a wider or higher one too
    together: Together | None = (
        None  # decodes JPEGs by the batch; None: the device's own decoder, if it has one
    )
    broken: Broken = field(default_factory=Broken, repr=False, compare=False)

    def __post_init__(self) -> None:
        sizes = {f"field '{name}'": len(paths) for name, paths in self.files.items()}
        sizes |= {f"present '{name}'": len(values) for name, values in self.present.items()}
        if self.label is not None:
            sizes["label"] = len(self.label)
        if not self.files or 0 in sizes.values():
            raise ValueError(f"dataset '{self.name}' has no samples: give at least one field with one file")
        if len(set(sizes.values())) > 1:
            listing = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise ValueError(
                f"dataset '{self.name}': all fields need one file a sample, but came with {listing}"
            )
        _check_settings(self)

    def __len__(self) -> int:
        return len(next(iter(self.files.values())))

    def to(self, device: torch.device | str) -> "Stream":
        """The same samples, arriving on another device."""
        place = torch.empty(0, device=device).device  # of several of its kind, which
        return replace(self, device=place, **self._known(lambda values: values.to(place)))

    def subset(self, index: Int[Tensor, "S"]) -> "Stream":
        """Some of the samples, counted anew from 0."""
        numbers = self._numbers(index)
        files = {name: [paths[number] for number in numbers] for name, paths in self.files.items()}
        known = self._known(lambda values: values[index.to(values.device)])
        return replace(self, files=files, broken=Broken(), **known)

    def fetch(self, index: Int[Tensor, "B"]) -> Sample:
        """A batch of samples, by index, without those that are broken."""
        samples = list(self.deliver([index], stand_in=False))
        if not samples:
            raise all_broken([self.broken.faults[number] for number in index.tolist()], self.name)
        return samples[0]

    def epoch(self, batches: Iterable[Tensor]) -> Iterator[Sample]:
        """Batches of samples, by index; in the place of a broken sample stands the next good one of its batch."""
        return self.deliver(batches, stand_in=True)

    def batches(self, size: int) -> Iterator[Sample]:
        """Every sample once, in order, without those that are broken."""
        return self.deliver(torch.arange(len(self)).split(size), stand_in=False)

    def deliver(self, batches: Iterable[Tensor], *, stand_in: bool) -> Iterator[Sample]:
        """Files -> bytes -> pictures (`_read`, by many threads) -> a batch on the device (`_assemble`, by one)."""
        beside, together = Beside(self.device), self.together or device_decoder(self.device)

        def assemble(numbers: list[int], rows: list[Row]) -> Any:
            return beside.make(partial(self._assemble, numbers, rows, together, stand_in=stand_in))

        decoding = together is None or bool(self.decoders)
        workers = self.workers or (max(READERS, os.cpu_count() or 1) if decoding else READERS)
        in_bulk = POSSIBLE and stand_in and self.opener is read_file and not decoding
        settings: dict[str, Any] = {"requests": self.ahead + 1, "pixels": self.pixels, "side": self.side}

        def read(part: list[int]) -> Iterator[Row]:
            found = {} if bulk is None else bulk.read(self._jpegs(part))
            return (self._read(number, found, wait=together is not None) for number in part)

        numbers = (self._numbers(index) for index in batches)
        with (
            Bulk(workers, **settings) if in_bulk else nullcontext() as bulk,
            closing(made_ahead(numbers, read, assemble, workers=workers, ahead=self.ahead)) as made,
        ):
            for sample, event in made:
                if sample is not None:
                    yield beside.arrive(sample, event)
        self.broken.tell(self.name, len(self))

    def _jpegs(self, numbers: list[int]) -> list[str]:
        """Files of these samples that may well be JPEGs."""
        paths = [os.fspath(paths[number]) for paths in self.files.values() for number in numbers]
        return [path for path in paths if os.path.splitext(path)[1].lower() in JPEGS]

    def _read(self, number: int, found: Mapping[str, Jpeg], *, wait: bool) -> Row:
        """The fields of one sample; JPEGs may `wait` to be decoded with the others of their batch, or are read."""
        if number in self.broken.faults:
            return {}
        return {
            name: found.get(os.fspath(paths[number])) or self._open(name, paths[number], wait)
            for name, paths in self.files.items()
        }

    def _open(self, name: str, path: str | PathLike[str], wait: bool) -> Tensor | Jpeg | Exception:
        try:
            data = self.opener(path)
            if isinstance(data, Tensor):
                return data
            if name in self.decoders:
                return self.decoders[name](bytes(data))
            if wait and goes_together(data, self.pixels, self.side):
                return Jpeg(data)
            return decode_picture(data, self.pixels, self.side)
        except BROKEN as error:
            return error

    def _assemble(
        self, numbers: list[int], rows: list[Row], together: Together | None, *, stand_in: bool
    ) -> Sample | None:
        """A batch of the samples that are good; None if there are none, and none is needed."""
        if together is not None:
            self._decode(rows, together)
        found = [self._judge(number, row) for number, row in zip(numbers, rows, strict=True)]
        faults = [one for one in found if isinstance(one, Fault)]
        self.broken.note(faults, self.name, len(self), self.tolerate)
        good = {place: one for place, one in enumerate(found) if not isinstance(one, Fault)}
        if not good and stand_in:
            raise all_broken(faults, self.name)
        if not good:
            return None
        places = stand_ins(list(good), len(rows)) if stand_in else list(good)
        fields = stack([good[place] for place in places], self.device, alike=self.alike)
        index = torch.tensor([numbers[place] for place in places])
        known = self._known(lambda values: values[index.to(values.device)].to(self.device))
        return Sample(fields, index.to(self.device), known["present"] or None, known["label"])

    def _decode(self, rows: list[Row], together: Together) -> None:
        """Put pictures in the place of all JPEGs that wait, by one call."""
        waiting = [(row, name, one) for row in rows for name, one in row.items() if isinstance(one, Jpeg)]
        alone = partial(decode_picture, pixels=self.pixels, side=self.side)
        pictures = decode_together([jpeg for *_, jpeg in waiting], together, alone)
        if self.device.type == "cuda":  # the files are read where they are, perhaps still now
            torch.cuda.current_stream(self.device).synchronize()
        for (row, name, _), picture in zip(waiting, pictures, strict=True):
            row[name] = picture

    def _judge(self, number: int, row: Row) -> dict[str, Tensor] | Fault:
        """The fields of a sample, or what is wrong with it."""
        if number in self.broken.faults:
            return self.broken.faults[number]
        for name, value in row.items():
            if isinstance(value, Exception):
                return Fault.of(number, self.files[name][number], value)
        fields = {name: value for name, value in row.items() if isinstance(value, Tensor)}
        try:
            if not self.alike:
                extent_of(fields)
        except ValueError as error:
            return Fault.of(number, next(iter(self.files.values()))[number], error)
        return fields

    def _known(self, change: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        """Label and presence, changed alike."""
        present = {name: change(values) for name, values in self.present.items()}
        return {"label": None if self.label is None else change(self.label), "present": present}

    def _numbers(self, index: Int[Tensor, "B"]) -> list[int]:
        numbers = index.tolist()
        outside = [number for number in numbers if not 0 <= number < len(self)]
        if outside or not numbers:
            what = f"index {outside[0]}" if outside else "an empty index"
            last = len(self) - 1
            raise IndexError(f"{what} is out of bounds: samples of dataset '{self.name}' are 0 to {last:,}")
        return numbers


def _check_settings(stream: Stream) -> None:
    for name in stream.decoders:
        if name not in stream.files:
            raise ValueError(
                f"dataset '{stream.name}' has a decoder for '{name}', but its fields are "
                f"{', '.join(stream.files)}{did_you_mean(name, stream.files)}"
            )
    if EXTENT in stream.files:
        raise ValueError(f"a field cannot be called '{EXTENT}': that one tells the sizes of pictures")
    for name in ("workers", "ahead"):
        if (count := getattr(stream, name)) is not None and count < 1:
            raise ValueError(f"{name} counts from 1, got {count}")
