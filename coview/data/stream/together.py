"""Many JPEGs decoded by one call, on the device; the few that it refuses are decoded one by one elsewhere."""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import torch
from PIL import Image
from torch import Tensor

from coview.data.stream.nvjpeg import BACKENDS, Batched, NvJpeg, loaded_library
from coview.data.stream.picture import BROKEN, RGB, SIDE, Data, Decoder, as_tensor, torchvision_operators

# Markers in a JPEG: the start of its pixels, their end, how they are stored, and in which colours.
SCAN, END = b"\xff\xda", b"\xff\xd9"
FRAMES = (b"\xff\xc0", b"\xff\xc1", b"\xff\xc2")  # baseline, extended, progressive
ADOBE = b"\xff\xee"

Together = Callable[[list[Tensor]], list[Tensor]]
"""Bytes of JPEGs -> pictures uint8 [3 H W], all or none: it raises RuntimeError if one of them cannot be decoded."""


@dataclass(frozen=True)
class Jpeg:
    """A picture that waits to be decoded together with others."""

    data: Data


@functools.cache
def device_decoder(device: torch.device) -> Together | None:
    """What decodes JPEGs on a device; None where nothing does, and the workers are to."""
    if device.type != "cuda":
        return None
    trial = BytesIO()
    Image.new("RGB", (32, 16)).save(trial, "JPEG")
    decode = functools.partial(_decode_jpegs, device=device)
    try:
        decode([as_tensor(trial.getvalue())])
    except (AttributeError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        warnings.warn(
            f"JPEGs cannot be decoded on {device} ({reason}): the workers decode them, which is slower",
            stacklevel=2,
        )
        return None
    return _batched(device, decode) or decode


def _batched(device: torch.device, otherwise: Together) -> Together | None:
    """The same, faster, if a trial gives the same pictures."""
    path = loaded_library()
    if path is None:
        return None
    trial = BytesIO()
    ramp = Image.linear_gradient("L")
    Image.merge("RGB", [ramp, ramp.rotate(90), ramp.rotate(180)]).save(trial, "JPEG", quality=90)
    jpegs = [as_tensor(trial.getvalue())] * 3
    for backend in BACKENDS:
        try:
            with torch.cuda.device(device):
                found = Batched(NvJpeg(path, backend), device, otherwise)
            if found.library.size(jpegs[0]) == ramp.size and all(map(_alike, found(jpegs), otherwise(jpegs))):
                return found
        except (AttributeError, OSError, RuntimeError):
            continue
    return None


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and bool((one.float() - other.float()).abs().mean() < 3)


def goes_together(data: Data, pixels: int, side: int = SIDE) -> bool:
    """Whether a file is surely a JPEG for the device; all others are judged by the decoder of the workers.

    Read here, since Pillow takes longer for the header than the disk for the file.
    """
    place, plain = 2, False
    while data.startswith(b"\xff\xd8") and place < len(data):
        marker, size = data[place : place + 2], int.from_bytes(data[place + 2 : place + 4], "big")
        if marker == SCAN:  # an end follows; the thumbnail in a header has an end of its own
            return plain and data.rfind(END, place) > 0
        if marker in FRAMES:
            plain = _is_plain(data[place + 4 : place + 2 + size], pixels, side)
        elif marker == ADOBE and data[place + 15 : place + 16] == b"\0":  # stored as RGB or CMYK
            return False
        place += 2 + size
    return False


def _is_plain(frame: Data, pixels: int, side: int) -> bool:
    """Whether a frame has 8 bits, a size that is allowed, and grey or YCbCr values."""
    height, width = (int.from_bytes(frame[place : place + 2], "big") for place in (1, 3))
    channels = frame[6::3]  # their names
    known = len(channels) in (1, 3) and channels != b"RGB"
    return known and frame[:1] == b"\x08" and 0 < height * width <= pixels and max(height, width) <= side


def decode_together(jpegs: list[Jpeg], together: Together, alone: Decoder) -> list[Tensor | Exception]:
    """A picture for each JPEG, or why there is none: of a batch that fails, halves are tried to find the culprit."""
    if not jpegs:
        return []
    try:
        return list(together([as_tensor(jpeg.data) for jpeg in jpegs]))
    except RuntimeError as error:
        if "out of memory" in str(error):
            raise
    if len(jpegs) == 1:
        return [_decode_alone(jpegs[0], alone)]
    half = len(jpegs) // 2
    return [one for part in (jpegs[:half], jpegs[half:]) for one in decode_together(part, together, alone)]


def _decode_alone(jpeg: Jpeg, alone: Decoder) -> Tensor | Exception:
    try:
        return alone(bytes(jpeg.data))
    except BROKEN as error:
        return error


def _decode_jpegs(jpegs: list[Tensor], device: torch.device) -> list[Tensor]:
    return torchvision_operators().decode_jpegs_cuda(jpegs, RGB, device)
