"""Rendered rooms in motion as clips: nine motions to tell apart, and the true flow."""

import torch

from coview.data.scenes import MOTIONS, SPLITS, render
from coview.data.video.clips import Clips
from coview.data.video.memory import MemorySource
from coview.data.video.takes import Takes
from coview.flow import to_eight_bits

COUNTS = {"train": 2048, "test": 512, "held-out": 512}
SPARE = 3  # moments that a clip has beyond the first


def rendered_clips(split: str, *, samples: int | None, takes: Takes, size: int = 64, seed: int = 0) -> Clips:
    """Clips just long enough for a few moments; each is a video of its own."""
    if split not in COUNTS:
        raise ValueError(f"no split '{split}' of scenes: choose one of {', '.join(COUNTS)}")
    if takes.second:
        raise ValueError("scenes have one camera: take second=False")
    count, frames = samples or COUNTS[split], takes.shortest + SPARE
    shots = [
        render(part + SPLITS[split], seed=seed, size=size, frames=frames)
        for part in torch.arange(count).split(64)
    ]
    rgb = torch.cat([shot["rgb"] for shot in shots])
    flow = torch.cat([to_eight_bits(shot["flow"]) for shot in shots])
    flow = torch.cat([flow, torch.zeros_like(flow[:, :1])], 1)  # the last frame leads nowhere
    every = torch.arange(count)
    source = MemorySource({"rgb": rgb.flatten(0, 1), "flow": flow.flatten(0, 1)}, every * frames)
    label = torch.cat([shot["motion"] for shot in shots])
    return Clips(
        f"scenes {split} clips", source, every, torch.full((count,), frames), every, takes, label, MOTIONS
    )
