"""JPEGs decoded by the batch on a CUDA device, by nvJPEG itself: by the engines of the chip, or else by kernels.

Torchvision's call prepares one picture after the other. With engines that is now slower and now as fast; without them,
decoding one by one is fifteen times slower than by the batch (docs/performance.md).
"""

import ctypes
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

BACKENDS = {"engines": 3, "kernels": 2}  # nvJPEG's numbers; chips for games have no engines
RGB, CHANNELS = 3, 3  # its number for three planes of colour, and how many that are
MAPPED = Path("/proc/self/maps")  # which files this process has loaded

Size = tuple[int, int]


class Batched:
    """Pictures [3 H W] on a device, by one call for all that nvJPEG takes by the batch; others go to `otherwise`."""

    def __init__(
        self, library: "NvJpeg", device: torch.device, otherwise: Callable[[list[Tensor]], list[Tensor]]
    ) -> None:
        self.library, self.device, self.otherwise = library, device, otherwise
        self.lock = Lock()  # one decoder, and perhaps two streams of batches

    def __call__(self, jpegs: list[Tensor]) -> list[Tensor]:
        with self.lock, _on(self.device):
            sizes = [self.library.size(jpeg) for jpeg in jpegs]
            own = [place for place, size in enumerate(sizes) if size is not None]
            found = dict(zip(own, self._decode(jpegs, sizes), strict=True)) if own else {}
        others = [place for place in range(len(jpegs)) if place not in found]
        if others:
            found |= dict(zip(others, self.otherwise([jpegs[place] for place in others]), strict=True))
        return [found[place] for place in range(len(jpegs))]

    def _decode(self, jpegs: list[Tensor], sizes: list[Size | None]) -> list[Tensor]:
        """All that have a size, into one stretch of memory; RuntimeError if one cannot be decoded."""
        mine = [(jpeg, size) for jpeg, size in zip(jpegs, sizes, strict=True) if size is not None]
        starts = np.cumsum([0, *(CHANNELS * height * width for _, (height, width) in mine)])
        memory = torch.empty(int(starts[-1]), dtype=torch.uint8, device=self.device)
        widths = np.array([width for _, (_, width) in mine])
        areas = np.array([height * width for _, (height, width) in mine])
        planes = starts[:-1, None] + areas[:, None] * np.arange(CHANNELS) + memory.data_ptr()
        self.library.decode([jpeg for jpeg, _ in mine], planes, widths)
        return [
            memory[start:end].view(CHANNELS, *size)
            for start, end, (_, size) in zip(starts[:-1], starts[1:], mine, strict=True)
        ]


class NvJpeg:
    """What is needed of nvJPEG, for the device that is the current one when it is made."""

    def __init__(self, path: str, backend: str) -> None:
        self.at_once = ctypes.PyDLL(path)  # short calls: other threads need not be let in between
        self.waiting = ctypes.CDLL(path)
        self.handle, self.state, self.header = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        made = self.waiting.nvjpegCreateEx(BACKENDS[backend], None, None, 0, ctypes.byref(self.handle))
        _check(made, f"it has no {backend} here")
        _check(self.waiting.nvjpegJpegStateCreate(self.handle, ctypes.byref(self.state)), "no state")
        _check(self.waiting.nvjpegJpegStreamCreate(self.handle, ctypes.byref(self.header)), "no headers")
        self.batch = 0  # for which it is prepared

    def size(self, jpeg: UInt8[Tensor, "bytes"]) -> Size | None:
        """Height and width of a picture, None if it is not for batches."""
        call, header = self.at_once, self.header
        data, length = ctypes.c_void_p(jpeg.data_ptr()), ctypes.c_size_t(jpeg.numel())
        refused, planes, width, height = (kind() for kind in (ctypes.c_int, *[ctypes.c_uint] * 3))
        failed = (
            call.nvjpegJpegStreamParseHeader(self.handle, data, length, header)
            or call.nvjpegDecodeBatchedSupported(self.handle, header, ctypes.byref(refused))
            or call.nvjpegJpegStreamGetComponentsNum(header, ctypes.byref(planes))
            or call.nvjpegJpegStreamGetFrameDimensions(header, ctypes.byref(width), ctypes.byref(height))
        )
        if failed or refused.value or planes.value != CHANNELS:  # of a grey picture only one plane is written
            return None
        return height.value, width.value

    def decode(self, jpegs: list[Tensor], planes: np.ndarray, widths: np.ndarray) -> None:
        """Write each picture to the addresses of its three planes, on the current stream, and wait for it."""
        count = len(jpegs)
        if self.batch != count:
            ready = self.waiting.nvjpegDecodeBatchedInitialize(self.handle, self.state, count, 1, RGB)
            _check(ready, f"not ready for {count} pictures")
        self.batch = 0  # until it has gone well
        images = np.zeros((count, 8), np.uint64)  # nvjpegImage_t: four addresses, and how long their rows are
        images[:, :CHANNELS], images[:, 4 : 4 + CHANNELS] = planes, widths[:, None]
        data = (ctypes.c_void_p * count)(*[jpeg.data_ptr() for jpeg in jpegs])
        lengths = (ctypes.c_size_t * count)(*[jpeg.numel() for jpeg in jpegs])
        stream = torch.cuda.current_stream()
        address = ctypes.c_void_p(images.ctypes.data)
        queue = ctypes.c_void_p(stream.cuda_stream)
        done = self.waiting.nvjpegDecodeBatched(self.handle, self.state, data, lengths, address, queue)
        stream.synchronize()  # the files are read where they are
        _check(done, "a picture cannot be decoded")
        self.batch = count


def loaded_library() -> str | None:
    """The nvJPEG that torchvision has brought, if this process has loaded one."""
    try:
        found = re.search(r"(/.*/libnvjpeg[^/\n]*)$", MAPPED.read_text(), re.MULTILINE)
    except OSError:
        return None
    return found.group(1) if found else None


def _check(status: int, meaning: str) -> None:
    if status:
        raise RuntimeError(f"nvJPEG: {meaning} (status {status})")


def _on(device: torch.device) -> AbstractContextManager:
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
