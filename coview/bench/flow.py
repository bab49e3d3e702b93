"""TV-L1 flow of rendered clips, whose true flow is known: how fast, and how far off, beside OpenCV's."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from coview.bench.measure import Row, measure, row
from coview.data.scenes import render
from coview.flow import FAST, TVL1, grey


@dataclass(frozen=True)
class Size:
    """Pairs that are measured for their error, and how large a batch and its pictures are for the clock."""

    pairs: int
    side: int
    batch: int
    height: int
    width: int


SIZES = {"cuda": Size(64, 192, 64, 240, 320), "cpu": Size(16, 96, 2, 120, 160)}
WAYS: dict[str, TVL1] = {
    "TV-L1": TVL1(),
    "TV-L1, 1 round a warp": TVL1(outer=1),
    "TV-L1, fast": FAST,
}


def bench_flow(device: torch.device) -> Iterator[Row]:
    """OpenCV's defaults where it is installed, then ours; on CUDA compiled too."""
    size = SIZES[device.type]
    rendered = render(torch.arange(size.pairs), size=size.side, frames=2)
    pair = grey(rendered["rgb"][:, 0]), grey(rendered["rgb"][:, 1])
    true = rendered["flow"][:, 0]
    work = f"{size.width}x{size.height}"
    large = [_stretched(one[: size.batch], size) for one in pair]
    yield from _opencv(pair, large, true, work)
    for name, flow in _ways(device):
        first, second = (one.to(device) for one in pair)
        error = _error(flow(first, second).cpu(), true)
        batch = [one.to(device) for one in large]
        times, memory = measure(lambda flow=flow, batch=batch: flow(*batch), device, repeats=10, warm=1)
        found = row(work, name, times, memory, images=len(batch[0]))
        yield replace(found, note=f"error {error:.4f}")


def _ways(device: torch.device) -> Iterator[tuple[str, TVL1]]:
    yield from WAYS.items()
    if device.type == "cuda":
        yield from ((f"{name}, compiled", replace(flow, compile=True)) for name, flow in WAYS.items())


def _opencv(pair: tuple[Tensor, Tensor], large: list[Tensor], true: Tensor, work: str) -> Iterator[Row]:
    """One pair after the other, on all cores that OpenCV takes."""
    try:
        import cv2
    except ModuleNotFoundError:
        return
    flow = cv2.optflow.DualTVL1OpticalFlow_create()  # pyright: ignore[reportAttributeAccessIssue]
    error = _error(torch.stack(_each(flow.calc, *pair)), true)
    begun = time.perf_counter()
    found = _each(flow.calc, *large)
    times = [1000 * (time.perf_counter() - begun)]
    note = f"error {error:.4f}, {cv2.getNumThreads()} threads"
    yield replace(row(work, "OpenCV's DualTVL1", times, images=len(found)), note=note)


def _each(calc: Callable, first: Tensor, second: Tensor) -> list[Tensor]:
    pictures = [[one[0].round().byte().numpy() for one in side] for side in (first, second)]
    return [torch.from_numpy(calc(*two, None)).movedim(-1, 0) for two in zip(*pictures, strict=True)]


def _stretched(pictures: Tensor, size: Size) -> Tensor:
    """Pictures of the size that the clock is for, as many as a batch has."""
    many = pictures.repeat(-(-size.batch // len(pictures)), 1, 1, 1)[: size.batch]
    return functional.interpolate(many, (size.height, size.width), mode="bilinear")


def _error(flow: Tensor, true: Tensor) -> float:
    """The mean endpoint error in pixels."""
    return (flow - true).norm(dim=1).mean().item()
