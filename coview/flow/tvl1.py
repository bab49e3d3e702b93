"""TV-L1 optical flow (Zach, Pock, Bischof 2007) of many pairs of pictures at once.

Numbers and their names are those of OpenCV's DualTVL1: grey values from 0 to 255, flow in pixels to the right and down.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from coview.flow.median import median_filter

SMALLEST = 16  # pixels that a side of the coarsest scale has at the least
UNROLLED = 5  # iterations that are compiled as one
GREY = (0.299, 0.587, 0.114)


@dataclass(frozen=True)
class TVL1:
    """Finds the flow u that is smooth by its total variation and keeps grey values, by absolute difference."""

    tau: float = 0.25  # step of the dual variables
    attachment: float = 0.15  # lambda: how much grey values weigh against smoothness
    theta: float = 0.3  # how tightly the two are coupled
    scales: int = 5
    factor: float = 0.8  # from each scale to the next coarser
    warps: int = 5  # at each scale
    outer: int = 2  # rounds after each warp; a median filter stands before each
    inner: int = 30  # iterations of a round
    median: int = 5  # window of the filter, 1: none
    compile: bool = False  # iterations and filter through torch.compile

    @torch.no_grad()
    def __call__(
        self, first: Float[Tensor, "B 1 H W"], second: Float[Tensor, "B 1 H W"]
    ) -> Float[Tensor, "B 2 H W"]:
        """The flow of each pair: where what is seen in the first picture is in the second."""
        pyramid = self._pyramid(torch.cat([first, second], 1))
        flow = first.new_zeros(len(first), 2, *pyramid[-1].shape[-2:])
        for pair in reversed(pyramid):
            flow = self._at_scale(_grown(flow, pair.shape[-2:]), pair)
        return flow

    def _pyramid(self, pair: Float[Tensor, "B 2 H W"]) -> list[Tensor]:
        """The pairs from their own size down to the coarsest."""
        if min(pair.shape[-2:]) < SMALLEST:
            raise ValueError(f"flow wants pictures of {SMALLEST} pixels or more, got {list(pair.shape[-2:])}")
        found = [pair]
        while len(found) < self.scales:
            size = [round(side * self.factor) for side in found[-1].shape[-2:]]
            if min(size) < SMALLEST:
                break
            found.append(_resized(found[-1], size))
        return found

    def _at_scale(
        self, flow: Float[Tensor, "B 2 H W"], pair: Float[Tensor, "B 2 H W"]
    ) -> Float[Tensor, "B 2 H W"]:
        """The flow made better by one scale's pictures."""
        dual = flow.new_zeros(len(flow), 2, 2, *flow.shape[-2:])
        iterate, smooth = _parts(compiled=self.compile)
        numbers = {"tau": self.tau, "attachment": self.attachment, "theta": self.theta}
        maps = torch.cat([pair[:, :1], _slope(pair[:, :1]), pair[:, 1:], _slope(pair[:, 1:])], 1)
        for _ in range(self.warps):
            slope, rest = _linearised(maps, flow)
            for _ in range(self.outer):
                flow = smooth(flow, self.median)
                for begun in range(0, self.inner, UNROLLED):
                    steps = min(UNROLLED, self.inner - begun)
                    flow, dual = iterate(flow, dual, slope, rest, steps=steps, **numbers)
        return flow


FAST = TVL1(scales=6, factor=0.7, outer=1, inner=20)
"""A fourth of the default's work."""


def iterations(
    flow: Float[Tensor, "B 2 H W"],
    dual: Float[Tensor, "B 2 2 H W"],
    slope: Float[Tensor, "B 2 H W"],
    rest: Float[Tensor, "B 1 H W"],
    *,
    steps: int,
    tau: float,
    attachment: float,
    theta: float,
) -> tuple[Float[Tensor, "B 2 H W"], Float[Tensor, "B 2 2 H W"]]:
    """By turns the flow follows the grey values as far as `attachment` lets it, and is smoothed by its dual."""
    steepness = slope.square().sum(1, keepdim=True).clamp(min=1e-10)
    limit = attachment * theta
    for _ in range(steps):
        difference = rest + (slope * flow).sum(1, keepdim=True)
        step = (-difference / steepness).clamp(-limit, limit)
        flow = flow + step * slope + theta * _divergence(dual)
        rise = _rise(flow)
        dual = (dual + (tau / theta) * rise) / (1 + (tau / theta) * rise.square().sum(2, keepdim=True).sqrt())
    return flow, dual


def grey(pictures: Tensor) -> Float[Tensor, "B 1 H W"]:
    """Pictures of one or three channels, uint8 or from 0 to 255, as grey values."""
    if pictures.shape[-3] == 1:
        return pictures.float()
    weights = pictures.new_tensor(GREY, dtype=torch.float32)
    return (pictures.float() * weights[:, None, None]).sum(-3, keepdim=True)


def _rise(flow: Float[Tensor, "B 2 H W"]) -> Float[Tensor, "B 2 2 H W"]:
    """Differences to the next pixel, across and down; none beyond the border."""
    across = functional.pad(flow[..., 1:] - flow[..., :-1], (0, 1))
    down = functional.pad(flow[..., 1:, :] - flow[..., :-1, :], (0, 0, 0, 1))
    return torch.stack([across, down], 2)


def _divergence(dual: Float[Tensor, "B 2 2 H W"]) -> Float[Tensor, "B 2 H W"]:
    """The adjoint of `_rise` with its sign turned; at the last pixel the dual is zero and stays so."""
    across, down = dual[:, :, 0], dual[:, :, 1]
    return (across - functional.pad(across[..., :-1], (1, 0))) + (
        down - functional.pad(down[..., :-1, :], (0, 0, 1, 0))
    )


def _slope(picture: Float[Tensor, "B 1 H W"]) -> Float[Tensor, "B 2 H W"]:
    """Central differences, across and down; borders are repeated."""
    padded = functional.pad(picture, (1, 1, 1, 1), mode="replicate")
    across = (padded[..., 1:-1, 2:] - padded[..., 1:-1, :-2]) / 2
    down = (padded[..., 2:, 1:-1] - padded[..., :-2, 1:-1]) / 2
    return torch.cat([across, down], 1)


def _linearised(
    maps: Float[Tensor, "B 6 H W"], flow: Float[Tensor, "B 2 H W"]
) -> tuple[Float[Tensor, "B 2 H W"], Float[Tensor, "B 1 H W"]]:
    """The difference of grey values as slope * flow + rest, from both pictures and their gradients."""
    height, width = flow.shape[-2:]
    x = torch.arange(width, device=flow.device) + flow[:, 0]
    y = torch.arange(height, device=flow.device)[:, None] + flow[:, 1]
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
    moved = functional.grid_sample(
        maps[:, 3:], grid, mode="bicubic", padding_mode="border", align_corners=False
    )
    # OpenCV takes the second picture's gradient alone, and black where the flow leads out of the picture.
    inside = ((x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1))[:, None]
    slope = (moved[:, 1:] + maps[:, 1:3]) / 2 * inside
    difference = (moved[:, :1] - maps[:, :1]) * inside
    return slope, difference - (slope * flow).sum(1, keepdim=True)


def _grown(flow: Float[Tensor, "B 2 h w"], size: torch.Size) -> Float[Tensor, "B 2 H W"]:
    """The flow of a coarser scale at the size of a finer one."""
    if flow.shape[-2:] == size:
        return flow
    ratio = flow.new_tensor([size[1] / flow.shape[-1], size[0] / flow.shape[-2]])
    return _resized(flow, size) * ratio[:, None, None]


def _resized(maps: Tensor, size: Sequence[int]) -> Tensor:
    """Maps at another size; on the way down each pixel is a mean, where OpenCV's lets fine patterns through."""
    return functional.interpolate(maps, tuple(size), mode="bilinear", align_corners=False, antialias=True)


@lru_cache(maxsize=2)
def _parts(*, compiled: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The iterations and the filter; compiled for pictures of any size, since every scale has another."""
    if not compiled:
        return iterations, median_filter
    return torch.compile(iterations, dynamic=True), torch.compile(median_filter, dynamic=True)
