"""Many JPEGs decoded by one call, on the device; the few that it refuses are decoded one by one elsewhere."""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from coview.data.stream.nvjpeg import BACKENDS, Batched, NvJpeg, loaded_library
from coview.data.stream.picture import BROKEN, RGB, Data, Decoder, as_tensor, torchvision_operators

Together = Callable[[list[Tensor]], list[Tensor]]
"""Bytes of JPEGs -> pictures uint8 [3 H W], all or none: it raises RuntimeError if one of them cannot be decoded."""


@dataclass(frozen=True)
class Jpeg:
    """A picture that waits to be decoded together with others."""

    data: Data
    kept_by: Any = None  # as long as it is there, the bytes are


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
