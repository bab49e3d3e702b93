"""Clips in memory: the frames of all clips one after the other, on the device, and taken from there."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int
from torch import Tensor

from coview.data.video.packs import PackedSource, Request, Taken
from coview.data.video.takes import Takes
from coview.types import Fields

READ = 8  # clips read at a time


@dataclass(frozen=True)
class MemorySource:
    """Every field one tensor [all frames, C H W]; `begin` says where each clip begins in it."""

    tracks: Fields
    begin: Int[Tensor, "N"]

    @property
    def device(self) -> torch.device:
        return self.begin.device

    def to(self, device: torch.device | str) -> "MemorySource":
        tracks = {name: values.to(device) for name, values in self.tracks.items()}
        return replace(self, tracks=tracks, begin=self.begin.to(device))

    def stream(self, requests: Iterable[Request], takes: Takes, *, stand_in: bool) -> Iterator[Taken]:
        for request in requests:
            row = self.begin[request.clip.to(self.device)] + request.moment.to(self.device)
            fields = {
                name: self.tracks[name][row[:, None] + torch.tensor(offsets, device=self.device)]
                for name, offsets in takes.by_field.items()
            }
            yield Taken(request, fields)


def bytes_in_memory(source: PackedSource, lengths: Int[Tensor, "N"], takes: Takes) -> int:
    """How many bytes the frames of packed clips take."""
    height, width = source.size
    channels = {"rgb": 3, "flow": 2, "second": 3}
    return int(lengths.sum()) * height * width * sum(channels[name] for name in takes.by_field)


def into_memory(source: PackedSource, lengths: Int[Tensor, "N"], takes: Takes) -> MemorySource:
    """All frames of packed clips; the flow of a clip's last frame, which leads nowhere, is zero."""
    begin = lengths.cumsum(0) - lengths
    height, width = source.size
    kinds = {"rgb": (3, torch.uint8), "flow": (2, torch.int8), "second": (3, torch.uint8)}
    tracks = {
        name: torch.zeros(int(lengths.sum()), kinds[name][0], height, width, dtype=kinds[name][1])
        for name in takes.by_field
    }

    def read(clip: int) -> None:
        first, count = int(begin[clip]), int(lengths[clip])
        for name, track in tracks.items():
            frames = range(count - (name == "flow"))
            track[first : first + len(frames)] = source.read(name, clip, frames)

    with ThreadPoolExecutor(READ) as pool:
        list(pool.map(read, range(len(lengths))))
    return MemorySource(tracks, begin)
