"""Frames in memory: fields rgb, depth, normal and segment, in few bytes, and the camera that took them."""

from dataclasses import dataclass, replace
from typing import cast

import torch
from jaxtyping import Float, Int, Int8, Integer
from torch import Tensor

from coview.data.resident import Resident

VOID = "void"  # segment 0: no class


@dataclass(frozen=True)
class Camera:
    """A pinhole camera in pixels; the middle of the first pixel is at (0.5, 0.5)."""

    fx: float
    fy: float
    cx: float
    cy: float
    depth_step: float = 0.0  # metres from one depth to the next that it can say, where that is coarse

    def resized(self, share: float) -> "Camera":
        """The same camera with so many pixels for each one before."""
        return replace(self, fx=self.fx * share, fy=self.fy * share, cx=self.cx * share, cy=self.cy * share)


def usual_camera(height: int, width: int) -> Camera:
    """A depth camera as most are, about 58 degrees across, with its axis through the middle."""
    return Camera(0.9 * width, 0.9 * width, width / 2, height / 2)


@dataclass(frozen=True)
class Frames(Resident):
    """N frames of one size: rgb uint8 [N 3 H W]; depth float16 [N 1 H W], metres, 0: a hole; normal int8 [N 3 H W],
    times 127, 0: a hole; segment [N 1 H W], 0: void, then the classes that `segments` names.
    """

    segments: tuple[str, ...] = ()  # with void as the first
    camera: Camera | None = None

    def to(self, device: torch.device | str) -> "Frames":
        """The same frames on another device."""
        return cast(Frames, super().to(device))

    def subset(self, index: Int[Tensor, "S"]) -> "Frames":
        """Some of the frames, counted anew from 0."""
        return cast(Frames, super().subset(index))

    def first(self, samples: int) -> "Frames":
        """The first so many frames, or all where there are fewer."""
        return self.subset(torch.arange(min(samples, len(self))))

    def regrouped(self, groups: Int[Tensor, "K"], names: tuple[str, ...]) -> "Frames":
        """The frames with each segment of number k in group `groups[k]`."""
        table = groups.to(self.device, torch.uint8 if len(names) <= 256 else torch.int16)
        segment = torch.cat([table[one.int()] for one in self.fields["segment"].split(64)])
        return replace(self, fields={**self.fields, "segment": segment}, segments=names)


def as_bytes(normal: Float[Tensor, "... 3 H W"]) -> Int8[Tensor, "... 3 H W"]:
    """Unit normals times 127: a third of a degree is kept."""
    return (normal * 127).round().to(torch.int8)


def check_depth(depth: Float[Tensor, "... H W"], what: str) -> None:
    """Refuse depths that cannot be metres."""
    if not bool(depth.isfinite().all()) or bool((depth < 0).any()):
        raise ValueError(f"the depth of {what} has NaN, infinite or negative values: a hole is 0")
    if bool((depth > 1000).any()):
        raise ValueError(
            f"the depth of {what} reaches {float(depth.max()):,.0f} metres: say how many of its units are a metre, "
            'as "depth_scale" in camera.json'
        )


def check_segment(segment: Integer[Tensor, "... H W"], segments: tuple[str, ...], what: str) -> None:
    """Refuse labels that no class has."""
    low, high = int(segment.min()), int(segment.max())
    if low < 0 or high >= len(segments):
        raise ValueError(
            f"the labels of {what} go from {low} to {high}, but there are {len(segments) - 1} classes, "
            "counted from 1; 0 is void"
        )
