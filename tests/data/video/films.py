"""Small videos of rendered rooms, or of anything, for tests."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import torch

from coview.data.scenes import render


def film(number: int = 0, *, frames: int = 12, size: int = 36) -> torch.Tensor:
    """Frames [T 3 H W] of a rendered clip."""
    return render(torch.tensor([number]), size=size, frames=frames)["rgb"][0]


def write_video(path: Path, frames: torch.Tensor, *, rate: int = 15, stamps=None, keys: int = 5) -> Path:
    """Encode frames; with stamps, each is shown at that many 1/1000 of a second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    codec = "mpeg4" if path.suffix == ".avi" else "libx264"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.height, stream.width = frames.shape[-2:]
        odd = any(side % 2 for side in frames.shape[-2:])
        stream.pix_fmt = "yuv444p" if odd else "yuv420p"
        stream.gop_size = keys
        if stamps is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        for number, frame in enumerate(frames):
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame.movedim(0, -1)), format="rgb24")
            if stamps is not None:
                picture.pts, picture.time_base = stamps[number], Fraction(1, 1000)
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return path


def write_sound(path: Path) -> Path:
    """A file with nothing but sound."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        sound.rate = 8000
        container.mux(stream.encode(sound))
        container.mux(stream.encode())
    return path
