"""The whole training step on samples that lie on the device: every way to run it, beside the paper's."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from coview.bench.measure import MIB, Row, row
from coview.contrast import Bank, CosineCritic, PairGraph
from coview.data import Resident
from coview.encoders import ResNet, imagenet_half, stl10_half
from coview.recipes.measure import fastest_device
from coview.training import Recipe
from coview.training.capture import Steps
from coview.training.fabric import make_fabric
from coview.training.loop import advance
from coview.training.state import Training, prepare
from coview.types import Sample
from coview.views import (
    chroma,
    colour_jitter,
    crop_and_flip,
    cut,
    in_turn,
    lightness,
    rand_augment,
    random_resized_crop,
)

CHANNELS = {"L": 1, "ab": 2}
VIEWS = {"L": lightness, "ab": chroma}
WAYS = {
    "compiled, captured": {},
    "captured": {"compile": False},
    "compiled": {"capture": False},
    "one by one": {"compile": False, "capture": False},
}
PAPERS = "as released"  # float32, 16,384 own draws from a float32 bank


@dataclass(frozen=True)
class Repeated(Resident):
    """As many samples as are wanted, of which the pictures repeat: they need not all fit on the device."""

    samples: int = 0

    def __len__(self) -> int:
        return self.samples

    def fetch(self, index: Tensor) -> Sample:
        index = index.to(self.device)
        pictures = len(self.fields["rgb"])
        return Sample({"rgb": self.fields["rgb"][index % pictures]}, index)


def noise_pictures(split: str, *, name: str, samples: int, pictures: int, side: int) -> Repeated:
    """Random pictures; what is in them does not change the time."""
    device = fastest_device()
    generator = torch.Generator(device).manual_seed(0)
    shape = (pictures, 3, side, side)
    rgb = torch.randint(256, shape, dtype=torch.uint8, generator=generator, device=device)
    return Repeated(name, {"rgb": rgb}, samples=samples)


def work(
    *,
    samples: int,
    pictures: int,
    side: int,
    size: int,
    encoder: Callable[..., nn.Module],
    dim: int,
    batch_size: int = 256,
    resized: bool = True,
    padding: int = 0,
) -> Recipe:
    """Two colour views, SGD, the softmax over the whole memory."""
    crop = partial(random_resized_crop, size=size, scale=(0.2, 1.0))
    if not resized:
        crop = partial(crop_and_flip, size=size, padding=padding)
    return Recipe(
        data=partial(noise_pictures, name="noise", samples=samples, pictures=pictures, side=side),
        views=VIEWS,
        augment=crop,
        encoders={name: partial(encoder, channels, dim=dim) for name, channels in CHANNELS.items()},
        graph=PairGraph([("L", "ab")]),
        critic=partial(CosineCritic, temperature=0.07),
        negatives=partial(Bank, draw="all"),
        batch_size=batch_size,
        compile=True,
    )


def works(device: torch.device) -> dict[str, Recipe]:
    """What the time of a step is taken of: the paper's encoders at the paper's sizes, or in small on a CPU."""
    large = device.type == "cuda"
    few: dict[str, Any] = {} if large else {"samples": 20_000, "pictures": 256, "batch_size": 16}
    imagenet: dict[str, Any] = {"samples": 1_281_167, "pictures": 4096, "side": 256, "size": 224, "dim": 128}
    stl: dict[str, Any] = {"samples": 105_000, "pictures": 105_000, "side": 96, "size": 64, "dim": 64}
    cifar: dict[str, Any] = {"samples": 50_000, "pictures": 50_000, "side": 32, "size": 32, "dim": 128}
    small = partial(
        work, encoder=partial(ResNet, depth=18, width=0.75, stem="cifar"), resized=False, padding=4
    )
    found = {
        "half-AlexNets at 224": work(encoder=imagenet_half, **imagenet | few),
        "STL-10 halves at 64": partial(work, resized=False)(encoder=stl10_half, **stl | few),
    }
    for batch_size in (256, 512, 1024) if large else (16,):
        name = f"ResNet-18 halves at 32, batch {batch_size}"
        found[name] = small(**{**cifar, **few, "batch_size": batch_size})
    if large:
        found["ResNet-50 pair at 224"] = work(encoder=partial(ResNet, depth=50), **imagenet)
    for name in ("half-AlexNets at 224", "STL-10 halves at 64"):
        found[f"{name}, RandAugment"] = with_rand_augment(found[name])
    return found


def with_rand_augment(recipe: Recipe) -> Recipe:
    """The same with random operations in the crop, and colour jitter."""
    assert isinstance(recipe.augment, partial)
    crop = partial(rand_augment, size=recipe.augment.keywords["size"], magnitude=9.0)
    return replace(recipe, augment=partial(in_turn, crop=crop, jitter=partial(colour_jitter)))


def bench_step(
    device: torch.device, only: Sequence[str] = (), ways: Sequence[str] = (), *, repeats: int = 40
) -> Iterator[Row]:
    """Every work in every way there is on the device, each beside the paper's."""
    for name, recipe in works(device).items():
        if only and not any(one in name for one in only):
            continue
        papers = None
        for way, found in variants(recipe, device).items():
            if not ways or way in ways:
                one = run(name, way, found, device, repeats=repeats)
                papers = one.milliseconds if way == PAPERS else papers
                yield one if papers is None else replace(one, ratio=papers / one.milliseconds)


def variants(recipe: Recipe, device: torch.device) -> dict[str, Recipe]:
    """The ways to run a step that differ on the device, the paper's first."""
    ways = WAYS if device.type == "cuda" else {"compiled": {}, "one by one": {"compile": False}}
    found = {way: replace(recipe, **changes) for way, changes in ways.items()}
    drawn = 16_384 if device.type == "cuda" else 4_096
    bank = partial(Bank, draw=drawn, shared=False, exclude_self=False, precision="float32")
    plain: dict[str, Any] = {
        "compile": False,
        "capture": False,
        "channels_last": False,
        "precision": "32-true",
    }
    return {PAPERS: replace(recipe, negatives=bank, **plain), **found}


def run(name: str, way: str, recipe: Recipe, device: torch.device, *, repeats: int) -> Row:
    """The time of a step, from one to the next, and the memory that training needs beside the pictures."""
    found = _run(name, way, recipe, device, repeats)
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return found


def _run(name: str, way: str, recipe: Recipe, device: torch.device, repeats: int) -> Row:
    training, take, samples, held = start(recipe)
    began = time.perf_counter()
    for _ in range(6):
        advance(training, take, next(samples))
    first = time.perf_counter() - began
    times = intervals(lambda: advance(training, take, next(samples)), device, repeats)
    memory = (torch.cuda.max_memory_allocated() - held) / MIB if device.type == "cuda" else None
    note = f"{first:.0f} s until it runs" if recipe.compile else ""
    if device.type == "cuda" and recipe.capture and take.recording is None:
        note = f"not captured: {take.hindrance}"
    floor = least_milliseconds(training, next(samples)) if way == next(iter(WAYS)) else None
    return replace(row(name, way, times, memory, images=recipe.batch_size), note=note, floor=floor)


def start(recipe: Recipe) -> tuple[Training, Steps, Iterator[Sample], int]:
    """All that a step needs, batches without end, and the memory that the data takes."""
    torch._dynamo.reset()
    fabric = make_fabric(recipe)
    data = recipe.data("train").to(fabric.device)
    held = 0
    if fabric.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    training = prepare(recipe, data, fabric)

    def batches() -> Iterator[Sample]:
        while True:
            yield data.fetch(torch.randint(len(data), (recipe.batch_size,)))

    return training, Steps(training), batches(), held


def intervals(call: Callable[[], object], device: torch.device, repeats: int) -> list[float]:
    """Milliseconds from the end of one call to the end of the next, none of them waited for."""
    if device.type != "cuda":
        times = []
        for _ in range(max(repeats // 8, 5)):
            began = time.perf_counter()
            call()
            times.append(1000 * (time.perf_counter() - began))
        return times
    events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    events[0].record()
    for event in events[1:]:
        call()
        event.record()
    torch.cuda.synchronize()
    return [one.elapsed_time(other) for one, other in pairwise(events)]


def least_milliseconds(training: Training, sample: Sample) -> float | None:
    """What a chip of this rate and bandwidth needs for the encoders alone: operations, or activations in bfloat16."""
    from coview.bench.machine import ceilings

    device = training.fabric.device
    if device.type != "cuda":
        return None
    operations, moved = count(training, sample)
    rate, bandwidth = ceilings(device)
    return max(operations / rate / 1e9, moved / bandwidth / 1e6)


def count(training: Training, sample: Sample) -> tuple[float, float]:
    """Operations of the encoders' step, and bytes of what flows between their layers, each read or written six times.

    A layer's input is read forward and for the weights' gradient, and its own gradient written; its output is
    written, and its gradient read twice.
    """
    recipe = training.recipe
    views = cut(sample, recipe.views, recipe.augment, training.generator).views
    moved = 0

    def add(module: nn.Module, inputs: Any, output: Any) -> None:
        nonlocal moved
        moved += 2 * 3 * (inputs[0].numel() + output.numel())

    encoders = {name: make().to(training.fabric.device) for name, make in recipe.encoders.items()}
    for encoder in encoders.values():
        for module in encoder.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                module.register_forward_hook(add)
    with FlopCounterMode(display=False) as counter, torch.autocast("cuda", torch.bfloat16):
        torch.stack(
            [encoder(views[name]).float().sum() for name, encoder in encoders.items()]
        ).sum().backward()
    return counter.get_total_flops(), moved
