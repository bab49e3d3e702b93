"""From JPEG files to trained encoders: streamed and decoded on the device, beside one picture at a time in workers."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from coview.bench.measure import Row, row
from coview.bench.step import PAPERS, variants
from coview.bench.works import noise_pictures, work
from coview.data import Stream
from coview.encoders import imagenet_half
from coview.training import Recipe
from coview.training.capture import Steps
from coview.training.fabric import make_fabric
from coview.training.loop import advance, epoch_order
from coview.training.machine import cores
from coview.training.state import Training, prepare
from coview.training.step import train_step
from coview.types import Batch, Sample

HEIGHT, WIDTH, SIZE = 375, 500, 224
FILES = {"cuda": 8192, "cpu": 256}
BATCH = {"cuda": 256, "cpu": 16}
WINDOW = 0.4  # seconds between looks at the clock: waiting for the device empties the pipe


def bench_data(device: torch.device, *, seconds: float = 12.0) -> Iterator[Row]:
    """Pictures a second: read alone, and read and trained on, ours and the paper's way."""
    with pictures(FILES[device.type]) as files:
        recipe = recipe_for(files, device)
        batch = recipe.batch_size
        name = f"JPEG {WIDTH}x{HEIGHT} to"
        papers = replace(variants(recipe, device)[PAPERS], augment=None)
        ways = {
            f"{name} batches": (released_batches(files, batch), streamed(files, device, recipe)),
            f"{name} trained half-AlexNets": (released(papers, files), trained(recipe)),
        }
        for one, (theirs, ours) in ways.items():
            slow = _rate(one, PAPERS, theirs, batch, seconds)
            yield replace(slow, ratio=1.0)
            fast = _rate(one, "streamed", ours, batch, seconds)
            yield replace(fast, ratio=slow.milliseconds / fast.milliseconds)


@contextmanager
def pictures(number: int) -> Iterator[list[Path]]:
    """JPEG files of about 70 kB that lie in the page cache: blurred noise, some of it fine."""
    with tempfile.TemporaryDirectory(prefix="coview-bench-") as folder:
        files = [Path(folder) / f"{one:06}.jpg" for one in range(number)]
        different = files[: min(number, 512)]
        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(_draw, different, range(len(different))))
        for one, file in enumerate(files[len(different) :]):
            file.write_bytes(different[one % len(different)].read_bytes())
        yield files


def recipe_for(files: Sequence[Path], device: torch.device) -> Recipe:
    """The half-AlexNets of the paper on these files."""
    few = BATCH[device.type]
    plan = work(
        samples=len(files), pictures=1, side=256, size=SIZE, encoder=imagenet_half, dim=128, batch_size=few
    )
    return replace(plan, data=partial(files_as_data, files=tuple(files)))


def files_as_data(split: str, *, files: Sequence[Path]) -> Stream:
    """A dataset of files."""
    return Stream("bench", {"rgb": list(files)})


def streamed(files: Sequence[Path], device: torch.device, recipe: Recipe) -> Iterator[Any]:
    """Batches on the device, cropped and mirrored."""
    data = files_as_data("train", files=files).to(device)
    generator = torch.Generator(device).manual_seed(0)
    for sample in _epochs(data, recipe):
        yield recipe.augment(sample.fields, generator) if recipe.augment else sample


def trained(recipe: Recipe) -> Iterator[Any]:
    """Steps of training, from files."""
    training, data = _prepare(recipe)
    take = Steps(training)
    for sample in _epochs(data, recipe):
        yield advance(training, take, sample)


def released_batches(files: Sequence[Path], batch: int) -> Iterator[Any]:
    """Batches of Lab pictures from worker processes."""
    from coview.bench.baseline import loader

    batches = loader(files, SIZE, batch, cores())
    return chain.from_iterable(batches for _ in count())


def released(recipe: Recipe, files: Sequence[Path]) -> Iterator[Any]:
    """Steps of training on them."""
    noise = partial(noise_pictures, name="noise", samples=len(files), pictures=2, side=SIZE)
    training, _ = _prepare(replace(recipe, data=noise))
    device = training.fabric.device
    for lab, index in released_batches(files, recipe.batch_size):
        lab, index = lab.to(device, non_blocking=True), index.to(device, non_blocking=True)
        yield train_step(training, Batch({"L": lab[:, :1], "ab": lab[:, 1:]}, index))


def _epochs(data: Stream, recipe: Recipe) -> Iterator[Sample]:
    for epoch in count():
        yield from data.epoch(epoch_order(len(data), recipe.batch_size, 0, epoch))


def _prepare(recipe: Recipe) -> tuple[Training, Any]:
    torch._dynamo.reset()
    fabric = make_fabric(recipe)
    data = recipe.data("train").to(fabric.device)
    return prepare(recipe, data, fabric), data


def _rate(work: str, way: str, batches: Iterator[Any], size: int, seconds: float) -> Row:
    """Milliseconds a batch over some seconds, after a few batches that start everything."""
    for _ in range(6):
        next(batches)
    _wait()
    times: list[float] = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds or len(times) < 5:
        start, taken = time.perf_counter(), 0
        while not taken or time.perf_counter() - start < WINDOW:
            next(batches)
            taken += 1
        _wait()
        times.append(1000 * (time.perf_counter() - start) / taken)
    close = getattr(batches, "close", None)
    if callable(close):
        close()
    return row(work, way, times, images=size)


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _draw(path: Path, seed: int) -> None:
    luck = np.random.default_rng(seed)
    coarse = Image.fromarray(luck.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize(
        (WIDTH, HEIGHT), Image.Resampling.BICUBIC
    )
    fine = luck.normal(0, 9, (HEIGHT, WIDTH, 1))
    picture = np.clip(np.asarray(coarse) + fine, 0, 255).astype(np.uint8)
    Image.fromarray(picture).save(path, quality=85)
