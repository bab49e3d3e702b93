"""Frames of a clip by number: of a video file, without decoding what lies before the last key frame, or of a folder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from coview.data.stream.picture import BROKEN, PIXELS, RAISE, decode_picture
from coview.files import in_a_line

VIDEOS = (".avi", ".mp4", ".mkv", ".mov", ".webm", ".mpg", ".mpeg", ".m4v", ".wmv", ".flv", ".3gp", ".ogv")
PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")


class BrokenClip(ValueError):
    """A clip that cannot be used, and why."""


@runtime_checkable
class Clip(Protocol):
    """Frames by number, in the order in which they are shown."""

    def __len__(self) -> int: ...

    @property
    def rate(self) -> float:
        """Frames a second, 0 where it is not known."""
        ...

    def times(self) -> list[float]:
        """When each frame is shown, in seconds from the first."""
        ...

    def frames(self, numbers: Sequence[int]) -> UInt8[Tensor, "T 3 H W"]: ...


class VideoFile:
    """A video file, read by PyAV; its frames are counted from its packets, without decoding any."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path, self.av = Path(path), _pyav()
        with self._open() as container:
            stream = self._stream(container)
            self.rate = float(stream.average_rate or stream.guessed_rate or 0)
            self.unit = float(stream.time_base or 0)
            packets = [(one.pts, one.is_keyframe) for one in container.demux(stream) if one.size]
        if not packets:
            raise BrokenClip(f"{self.path}: there is no frame in it")
        # Some AVI files do not say when their packets are shown: their frames are counted from the first.
        stamped = all(pts is not None for pts, _ in packets) and len({pts for pts, _ in packets}) == len(
            packets
        )
        self.stamps = sorted(pts for pts, _ in packets) if stamped else None
        self.keys = sorted(pts for pts, key in packets if key) if stamped else []
        self.count = len(packets)

    def __len__(self) -> int:
        return self.count

    def times(self) -> list[float]:
        if self.stamps is None:
            return [number / (self.rate or 1.0) for number in range(self.count)]
        return [(stamp - self.stamps[0]) * self.unit for stamp in self.stamps]

    def frames(self, numbers: Sequence[int]) -> UInt8[Tensor, "T 3 H W"]:
        wanted = sorted({_within(number, self.count, self.path) for number in numbers})
        with self._open() as container:
            found = self._decode(container, wanted)
        lost = [number for number in wanted if number not in found]
        if lost:
            raise BrokenClip(f"{self.path}: frame {lost[0]} of {self.count} cannot be decoded")
        return torch.from_numpy(np.stack([found[number] for number in numbers])).movedim(-1, 1).contiguous()

    def _decode(self, container: Any, wanted: Sequence[int]) -> dict[int, np.ndarray]:
        """The wanted frames by number; between two that are far apart the file is read from a key frame."""
        stream, found = self._stream(container), {}
        stream.thread_type = (
            "NONE"  # of a damaged video, threads of ffmpeg and Python may wait for each other for ever
        )
        if self.stamps is None:
            for number, frame in enumerate(container.decode(stream)):
                if number in wanted:
                    found[number] = frame.to_ndarray(format="rgb24")
                if number >= wanted[-1]:
                    break
            return found
        place = {stamp: number for number, stamp in enumerate(self.stamps)}
        for run in _runs([self.stamps[number] for number in wanted], self.keys):
            container.seek(run[0], stream=stream)
            for frame in container.decode(stream):
                if frame.pts in run:
                    found[place[frame.pts]] = frame.to_ndarray(format="rgb24")
                if frame.pts is not None and frame.pts >= run[-1]:
                    break
        return found

    @contextmanager
    def _open(self) -> Iterator[Any]:
        try:
            with self.av.open(str(self.path)) as container:
                yield container
        except BrokenClip:
            raise
        except self.av.error.FFmpegError as error:
            raise BrokenClip(f"{self.path}: {error.strerror or error}") from error
        except Exception as error:  # of PyAV, for what it did not expect
            raise BrokenClip(f"{self.path}: {in_a_line(error)}") from error

    def _stream(self, container: Any) -> Any:
        if not container.streams.video:
            what = "only sound" if container.streams.audio else "no pictures"
            raise BrokenClip(f"{self.path}: there is {what} in it")
        stream = container.streams.video[0]
        size = stream.codec_context  # of a codec that nobody knows there is none
        if size is not None and size.width * size.height > PIXELS:
            raise BrokenClip(
                f"{self.path}: {size.width}x{size.height} is more than pixels={PIXELS:,} allow{RAISE}"
            )
        return stream


class FrameFolder:
    """A folder of pictures, in the order of their names."""

    rate = 0.0

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if not self.files:
            raise BrokenClip(f"{self.path}: there is no picture in it")

    @cached_property
    def files(self) -> list[Path]:
        return sorted(one for one in self.path.iterdir() if one.suffix.lower() in PICTURES)

    def __len__(self) -> int:
        return len(self.files)

    def times(self) -> list[float]:
        return [float(number) for number in range(len(self))]

    def frames(self, numbers: Sequence[int]) -> UInt8[Tensor, "T 3 H W"]:
        files = [self.files[_within(number, len(self), self.path)] for number in numbers]
        try:
            return torch.stack([decode_picture(file.read_bytes()) for file in files])
        except (*BROKEN, RuntimeError) as error:
            raise BrokenClip(f"{self.path}: {error}") from error


def at_rate(clip: Clip, rate: float | None) -> list[int]:
    """The frames that are shown at so many a second; all, where no rate is given or the clip has none."""
    times = clip.times()
    if rate is None or clip.rate == 0 or len(times) < 2:
        return list(range(len(clip)))
    ends = torch.tensor(times, dtype=torch.float64)
    ticks = torch.arange(0, times[-1] + 1e-6, 1 / rate, dtype=torch.float64)
    return (torch.searchsorted(ends, ticks + 1e-6) - 1).clamp(min=0).tolist()


def _runs(stamps: Sequence[int], keys: Sequence[int]) -> list[list[int]]:
    """Stamps in order, in runs that have no key frame between them: each run costs one seek."""
    found: list[list[int]] = []
    last = None
    for stamp in stamps:
        key = max((one for one in keys if one <= stamp), default=None)
        if found and key == last:
            found[-1].append(stamp)
        else:
            found.append([stamp])
        last = key
    return found


def _within(number: int, count: int, path: Path) -> int:
    if not 0 <= number < count:
        raise IndexError(f"{path} has frames 0 to {count - 1}, not {number}")
    return number


def _pyav() -> Any:
    try:
        import av
        import av.error
        import av.logging
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("videos are decoded by PyAV: pip install 'coview[video]'") from error
    av.logging.set_level(av.logging.PANIC)  # errors come as exceptions
    return av
