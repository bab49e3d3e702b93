"""A dataset of clips: a sample is a clip at a moment, which in training is another one each time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.data.video.packs import Request, Taken
from coview.data.video.takes import Takes
from coview.types import Sample


@runtime_checkable
class Source(Protocol):
    """Where the frames of clips come from."""

    @property
    def device(self) -> torch.device: ...

    def to(self, device: torch.device | str) -> Any: ...

    def stream(self, requests: Iterable[Request], takes: Takes, *, stand_in: bool) -> Iterator[Taken]: ...


@dataclass(frozen=True)
class Clips:
    """N clips: fields rgb uint8 [2 3 H W] (frames t and t + k), flow int8 [10 2 H W], second uint8 [1 3 H W].

    `video` numbers the video that each clip was cut from: clips of one video are never negatives of each other.
    """

    name: str
    source: Source
    clip: Int[Tensor, "N"]  # their numbers in the source
    length: Int[Tensor, "N"]  # frames
    video: Int[Tensor, "N"]
    takes: Takes
    label: Int[Tensor, "N"] | None = None
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.clip):
            raise ValueError(f"dataset '{self.name}' has no clips")
        if int(self.length.min()) < self.takes.shortest:
            raise ValueError(
                f"dataset '{self.name}' has a clip of {int(self.length.min())} frames, but a sample takes "
                f"{self.takes.shortest}: make `later` or `stack` smaller, or leave short clips out"
            )

    def __len__(self) -> int:
        return len(self.clip)

    @property
    def present(self) -> Mapping[str, Tensor]:
        return {}

    @property
    def device(self) -> torch.device:
        return self.source.device

    def to(self, device: torch.device | str) -> "Clips":
        """The same clips, arriving on another device."""
        label = None if self.label is None else self.label.to(device)
        return replace(self, source=self.source.to(device), label=label)

    def subset(self, index: Int[Tensor, "S"]) -> "Clips":
        """Some of the clips, counted anew from 0."""
        index = index.cpu()
        known = {name: getattr(self, name)[index] for name in ("clip", "length", "video")}
        label = None if self.label is None else self.label[index.to(self.label.device)]
        return replace(self, **known, label=label)

    def fetch(self, index: Int[Tensor, "B"]) -> Sample:
        """Some clips in their middle."""
        samples = list(self.at([(index, torch.full((len(index),), 0.5))]))
        if not samples:
            raise ValueError(f"none of the {len(index)} clips can be read")
        return samples[0]

    def epoch(self, batches: Iterable[Tensor]) -> Iterator[Sample]:
        """Batches of clips, each at a random moment."""
        cpu = (self._index(index) for index in batches)
        requests = (
            Request(index, self.clip[index], self.takes.drawn(self.length[index], index)) for index in cpu
        )
        return self._samples(requests, stand_in=True)

    def batches(self, size: int) -> Iterator[Sample]:
        """Every clip once, in order, in its middle."""
        every = torch.arange(len(self)).split(size)
        return self.at((index, torch.full((len(index),), 0.5)) for index in every)

    def at(self, wanted: Iterable[tuple[Int[Tensor, "B"], Float[Tensor, "B"]]]) -> Iterator[Sample]:
        """Batches of clips, each at a share of the way from its first moment to its last."""
        cpu = ((self._index(index), share.cpu()) for index, share in wanted)
        requests = (
            Request(index, self.clip[index], self.takes.at(self.length[index], share)) for index, share in cpu
        )
        return self._samples(requests, stand_in=False)

    def _samples(self, requests: Iterable[Request], *, stand_in: bool) -> Iterator[Sample]:
        for taken in self.source.stream(requests, self.takes, stand_in=stand_in):
            index = taken.request.index.to(self.device)
            yield Sample(taken.fields, index, None, None if self.label is None else self.label[index])

    def _index(self, index: Tensor) -> Tensor:
        index = index.cpu()
        outside = (index < 0) | (index >= len(self))
        if bool(outside.any()) or not len(index):
            what = f"index {int(index[outside][0])}" if len(index) else "an empty index"
            raise IndexError(
                f"{what} is out of bounds: clips of dataset '{self.name}' are 0 to {len(self) - 1:,}"
            )
        return index
