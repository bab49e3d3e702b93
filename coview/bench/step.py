"""The whole training step on samples that lie on the device: every way to run it, beside the paper's."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from coview.bench.measure import MIB, Row, row
from coview.bench.works import works
from coview.contrast import Bank
from coview.encoders.each import parts
from coview.training import Recipe
from coview.training.capture import Steps
from coview.training.fabric import make_fabric
from coview.training.loop import advance
from coview.training.state import Training, prepare
from coview.types import Sample
from coview.views import cut

WAYS = {
    "compiled, captured": {},
    "captured": {"compile": False},
    "compiled": {"capture": False},
    "one by one": {"compile": False, "capture": False},
}
PAPERS = "as released"  # float32, 16,384 own draws from a float32 bank
PLAIN = "float32, plain"  # where no code was released


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
                papers = one.milliseconds if way in (PAPERS, PLAIN) else papers
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
    if any(":" in node for node in recipe.graph.nodes):  # of cells there is no bank
        return {PLAIN: replace(recipe, **plain), **found}
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
            [
                said.float().sum()
                for name, encoder in encoders.items()
                for said in parts(encoder(views[name])).values()
            ]
        ).sum().backward()
    return counter.get_total_flops(), moved
