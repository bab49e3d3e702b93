"""Clips in packs on a disk: of each sample the few frames it is made of are read, while an earlier batch is used."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from coview.data.stream.ahead import made_ahead
from coview.data.stream.broken import Broken, Fault, all_broken, stand_ins
from coview.data.video.decode import BrokenClip
from coview.data.video.pack import Pack
from coview.data.video.takes import Takes
from coview.types import Fields


@dataclass(frozen=True)
class Request:
    """A batch that is wanted: its samples, their clips, and a moment of each."""

    index: Int[Tensor, "B"]
    clip: Int[Tensor, "B"]
    moment: Int[Tensor, "B"]

    def rows(self, places: Sequence[int]) -> "Request":
        return Request(self.index[places], self.clip[places], self.moment[places])


@dataclass(frozen=True)
class Taken:
    """A batch that is there."""

    request: Request
    fields: Fields


@dataclass(frozen=True)
class PackedSource:
    """Packs by clip, and those of a second camera; fields are read by threads, the next batches ahead."""

    name: str
    packs: Sequence[Path]
    second: Sequence[Path] = ()
    size: tuple[int, int] = (0, 0)
    device: torch.device = torch.device("cpu")
    workers: int = 8
    ahead: int = 2
    tolerate: float = 0.01  # the share of clips that may be broken
    broken: Broken = field(default_factory=Broken, repr=False, compare=False)

    def to(self, device: torch.device | str) -> "PackedSource":
        return replace(self, device=torch.empty(0, device=device).device)

    def read(self, what: str, clip: int, frames: Sequence[int]) -> Tensor:
        """Some frames of a field of a clip."""
        pack = Pack((self.second if what == "second" else self.packs)[clip])
        return pack.flow(frames) if what == "flow" else pack.frames(frames)

    def stream(self, requests: Iterable[Request], takes: Takes, *, stand_in: bool) -> Iterator[Taken]:
        """Batch after batch; in the place of a broken clip stands the next good one, or nothing."""

        def read(wanted: list[tuple[int, int]]) -> Iterator[Mapping[str, Tensor] | Fault]:
            return (self._take(*one, takes) for one in wanted)

        waiting: list[Request] = []

        def listed() -> Iterator[list[Any]]:
            for request in requests:
                waiting.append(request)
                yield list(zip(request.clip.tolist(), request.moment.tolist(), strict=True))

        def assemble(wanted: list[Any], found: list[Any]) -> Any:
            return found

        made = made_ahead(listed(), read, assemble, workers=self.workers, ahead=self.ahead)
        with closing(made):
            for found in made:
                taken = self._together(waiting.pop(0), found, stand_in)
                if taken is not None:
                    yield taken
        self.broken.tell(self.name, len(self.packs))

    def _take(self, clip: int, moment: int, takes: Takes) -> dict[str, Tensor] | Fault:
        if clip in self.broken.faults:
            return self.broken.faults[clip]
        try:
            return {
                name: self.read(name, clip, [moment + offset for offset in offsets])
                for name, offsets in takes.by_field.items()
            }
        except (BrokenClip, OSError, ValueError) as error:
            return Fault.of(clip, self.packs[clip], error)

    def _together(self, request: Request, found: list[Any], stand_in: bool) -> Taken | None:
        faults = [one for one in found if isinstance(one, Fault)]
        self.broken.note(faults, self.name, len(self.packs), self.tolerate)
        good = [place for place, one in enumerate(found) if not isinstance(one, Fault)]
        if not good:
            if stand_in:
                raise all_broken(faults, self.name)
            return None
        places = stand_ins(good, len(found)) if stand_in else good
        fields = {
            name: torch.stack([found[place][name] for place in places]).to(self.device)
            for name in found[good[0]]
        }
        return Taken(request.rows(places), fields)
