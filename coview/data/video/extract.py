"""Clips of any kind -> packed clips with their flow: each written whole, and what is there already left alone."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int8, UInt8
from torch import Tensor

from coview.data.video.decode import BrokenClip, at_rate
from coview.data.video.find import open_clip
from coview.data.video.pack import write_pack
from coview.data.video.size import cover
from coview.files import write_text
from coview.flow import LARGEST, TVL1, grey, to_eight_bits

SETTINGS = "flow.json"  # how the packs of a folder were made
NO_MATTER = ("compile",)  # of the flow's numbers


@dataclass(frozen=True)
class Extraction:
    """How packs are made."""

    size: tuple[int, int] = (128, 171)
    rate: float | None = None  # frames a second; None: all that a clip has
    flow: TVL1 | None = TVL1()  # None: frames alone
    lossless: bool = True  # flow as PNG
    pairs: int = 64  # whose flow is found at once
    workers: int = 4  # threads that decode, and threads that write

    def settings(self) -> dict[str, Any]:
        """What makes packs differ."""
        flow = (
            None if self.flow is None else {k: v for k, v in asdict(self.flow).items() if k not in NO_MATTER}
        )
        largest = None if self.flow is None else LARGEST
        known = {"size": list(self.size), "rate": self.rate, "lossless": self.lossless, "largest": largest}
        return {**known, "tvl1": flow}


@dataclass(frozen=True)
class Done:
    """A clip that has been dealt with."""

    name: str
    frames: int = 0
    fault: str | None = None


def left_to_do(clips: Mapping[str, Path], out: Path, how: Extraction) -> list[str]:
    """The clips that have no pack yet; a folder of packs that were made in another way is refused."""
    place = out / SETTINGS
    if place.is_file():
        old, new = json.loads(place.read_text()), how.settings()
        changed = [name for name in new if old.get(name) != new[name]]
        if changed:
            name = changed[0]
            raise ValueError(
                f"{out} was made with {name} = {old.get(name)}, wanted is {new[name]}: "
                "set it back, or take another --out"
            )
    else:
        write_text(place, json.dumps(how.settings(), indent=2) + "\n")
    return [name for name in clips if not _pack_path(out, name).is_file()]


def extract(clips: Mapping[str, Path], out: Path, how: Extraction, device: torch.device) -> Iterator[Done]:
    """Pack clip after clip, while threads decode the next ones and write the last ones."""
    names = iter(left_to_do(clips, out, how))
    with ThreadPoolExecutor(how.workers) as readers, ThreadPoolExecutor(how.workers) as writers:

        def start(name: str) -> tuple[str, Future]:
            return name, readers.submit(_read, clips[name], how)

        try:
            reading = deque(start(name) for name in islice(names, 2 * how.workers))
            writing: deque[Future] = deque()
            while reading:
                name, found = reading.popleft()
                reading.extend(start(name) for name in islice(names, 1))
                writing.append(_flow_then_write(name, found.result(), out, how, device, writers.submit))
                while len(writing) > 2 * how.workers:
                    yield writing.popleft().result()
            while writing:
                yield writing.popleft().result()
        finally:
            readers.shutdown(cancel_futures=True)


def flow_of(
    rgb: UInt8[Tensor, "T 3 H W"], flow: TVL1, device: torch.device, *, pairs: int = 64
) -> Int8[Tensor, "T1 2 H W"]:
    """The flow from each frame to the next in 8 bits, found so many pairs at once."""
    found = [
        to_eight_bits(flow(pictures[:-1], pictures[1:])).cpu()
        for first in range(0, len(rgb) - 1, pairs)
        for pictures in [grey(rgb[first : first + pairs + 1].to(device))]
    ]
    return torch.cat(found) if found else torch.zeros(0, 2, *rgb.shape[2:], dtype=torch.int8)


def _read(path: Path, how: Extraction) -> tuple[Tensor, dict[str, Any]] | BrokenClip:
    """The resized frames of a clip, or what is wrong with it."""
    try:
        clip = open_clip(path)
        numbers = at_rate(clip, how.rate)
        if len(numbers) < 2:
            raise BrokenClip(f"{path}: flow wants two frames or more, got {len(numbers)}")
        # A long clip is resized bit by bit: whole, it could fill the memory.
        parts = [numbers[first : first + 128] for first in range(0, len(numbers), 128)]
        rgb = torch.cat([cover(clip.frames(part), *how.size) for part in parts])
        return rgb, {"rate": how.rate or clip.rate, "source": path.name, "largest": LARGEST}
    except (BrokenClip, OSError) as error:
        return BrokenClip(str(error))


def _flow_then_write(
    name: str,
    found: tuple[Tensor, dict[str, Any]] | BrokenClip,
    out: Path,
    how: Extraction,
    device: torch.device,
    submit: Callable[..., Future],
) -> Future:
    if isinstance(found, BrokenClip):
        done: Future = Future()
        done.set_result(Done(name, fault=str(found)))
        return done
    rgb, meta = found
    flow = None if how.flow is None else flow_of(rgb, how.flow, device, pairs=how.pairs)
    return submit(_write, name, _pack_path(out, name), rgb, flow, meta, how.lossless)


def _write(
    name: str, path: Path, rgb: Tensor, flow: Tensor | None, meta: dict[str, Any], lossless: bool
) -> Done:
    write_pack(path, rgb, flow, meta, lossless=lossless)
    return Done(name, len(rgb))


def _pack_path(out: Path, name: str) -> Path:
    return out / f"{name}.zip"
