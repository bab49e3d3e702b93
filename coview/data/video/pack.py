"""A clip as one zip file of small pictures: resized frames, and flow in 8 bits; any of them is read on its own."""

import json
import zipfile
from collections.abc import Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int8, UInt8
from PIL import Image
from torch import Tensor

from coview.data.stream.picture import decode_picture
from coview.data.video.decode import BrokenClip
from coview.files import write_whole

META = "meta.json"
ZERO = 128  # the grey value of a flow of zero
QUALITY = 90  # of JPEGs


def write_pack(
    path: Path,
    rgb: UInt8[Tensor, "T 3 H W"],
    flow: Int8[Tensor, "T1 2 H W"] | None,
    meta: dict[str, Any],
    *,
    lossless: bool = True,
) -> None:
    """Write a clip whole: frames as JPEG, flow as PNG, or as JPEG too where it need not be exact."""

    def write(file: Any) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as pack:  # pictures are compressed already
            known = {
                "frames": len(rgb),
                "height": rgb.shape[2],
                "width": rgb.shape[3],
                "flow": flow is not None,
            }
            pack.writestr(META, json.dumps({**meta, **known}))
            for number, frame in enumerate(rgb):
                pack.writestr(_name("rgb", number), _encode(frame.movedim(0, -1), "JPEG"))
            for number, codes in enumerate(() if flow is None else flow):
                # Both components below each other are one grey picture.
                grey = (codes.to(torch.int16) + ZERO).to(torch.uint8).flatten(0, 1)
                pack.writestr(_name("flow", number), _encode(grey, "PNG" if lossless else "JPEG"))

    write_whole(path, write)


class Pack:
    """A packed clip; `flow` n leads from frame n to the next."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        try:
            with zipfile.ZipFile(self.path) as pack:
                self.meta: dict[str, Any] = json.loads(pack.read(META))
            self.count, self.rate = int(self.meta["frames"]), float(self.meta.get("rate", 0))
        except Exception as error:  # of zipfile and zlib, which raise whatever they stumble over
            raise BrokenClip(f"{self.path}: no packed clip ({error})") from error

    def __len__(self) -> int:
        return self.count

    def times(self) -> list[float]:
        return [number / (self.rate or 1.0) for number in range(self.count)]

    def frames(self, numbers: Sequence[int]) -> UInt8[Tensor, "T 3 H W"]:
        return torch.stack([decode_picture(data) for data in self._read("rgb", numbers)])

    def flow(self, numbers: Sequence[int]) -> Int8[Tensor, "T 2 H W"]:
        if not self.meta.get("flow"):
            raise BrokenClip(f"{self.path}: there is no flow in it: `coview flow` makes it")
        return torch.stack([_codes(data) for data in self._read("flow", numbers)])

    def _read(self, what: str, numbers: Sequence[int]) -> list[bytes]:
        try:
            with zipfile.ZipFile(self.path) as pack:
                return [pack.read(_name(what, number)) for number in numbers]
        except Exception as error:
            raise BrokenClip(f"{self.path}: {error}") from error


def _name(what: str, number: int) -> str:
    return f"{what}/{number:06d}"


def _encode(picture: Tensor, kind: str) -> bytes:
    file = BytesIO()
    options: dict[str, Any] = {"quality": QUALITY} if kind == "JPEG" else {}
    Image.fromarray(picture.contiguous().numpy()).save(file, kind, **options)
    return file.getvalue()


def _codes(data: bytes) -> Int8[Tensor, "2 H W"]:
    grey = torch.from_numpy(np.array(Image.open(BytesIO(data)))).to(torch.int16)
    return (grey - ZERO).clamp(-127, 127).to(torch.int8).unflatten(0, (2, -1))
