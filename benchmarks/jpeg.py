"""Where the time from JPEG files to batches goes, part by part, in pictures a second: `python benchmarks/jpeg.py`."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import torch
from torch import Tensor

from coview.bench.data import pictures, recipe_for
from coview.data import Stream
from coview.data.stream.picture import as_tensor, read_file
from coview.data.stream.reading import goes_together
from coview.data.stream.stack import stack
from coview.data.stream.together import Together, _decode_jpegs, device_decoder
from coview.training.loop import epoch_order
from coview.types import Sample

BATCH, SECONDS = 256, 2.0


def rate(call: Callable[[], object], each: int) -> float:
    """Pictures a second, of calls that treat so many each."""
    call()
    wait()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        call()
        calls += 1
    wait()
    return calls * each / (time.perf_counter() - began)


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def parts(files: list[Path], device: torch.device) -> None:
    """Each part on its own, by one thread where nothing else is said."""
    data = [read_file(file) for file in files[: 4 * BATCH]]
    print(f"bytes a picture: {sum(map(len, data)) / len(data):,.0f}")
    tell("read", rate(lambda: [read_file(file) for file in files[:BATCH]], BATCH))
    tell("look at headers", rate(lambda: [goes_together(one, 10**9) for one in data[:BATCH]], BATCH))
    tell("as tensors", rate(lambda: [as_tensor(one) for one in data[:BATCH]], BATCH))
    decode = device_decoder(device)
    if decode is None:
        print("JPEGs are not decoded on this device")
        return
    jpegs = [as_tensor(one) for one in data]
    for name, way in (("torchvision's call", partial(_decode_jpegs, device=device)), ("ours", decode)):
        for size in (64, BATCH, 2 * BATCH):
            tell(f"decode {size} together, {name}", rate(partial(way, jpegs[:size]), size))
        tell(f"decode in 2 threads, {name}", at_once(way, jpegs, 2))
    samples = [{"rgb": picture} for picture in decode(jpegs[:BATCH])]
    tell("stack", rate(lambda: stack(samples, device), BATCH))
    augment = recipe_for(files, device).augment
    assert augment is not None
    fields, generator = stack(samples, device), torch.Generator(device).manual_seed(0)
    tell("crop", rate(lambda: augment(fields, generator), BATCH))


def at_once(decode: Together, jpegs: list[Tensor], threads: int) -> float:
    """Pictures a second of threads that each decode a batch."""
    batches = [jpegs[n * BATCH : (n + 1) * BATCH] for n in range(threads)]
    with ThreadPoolExecutor(threads) as crew:
        return rate(lambda: list(crew.map(decode, batches)), threads * BATCH)


def streams(files: list[Path], device: torch.device) -> None:
    """The whole stream without the crop, by threads that read and batches in the making."""
    for workers, ahead in ((1, 2), (2, 2), (4, 2), (8, 2), (16, 2), (4, 4)):
        batches = endless(Stream("bench", {"rgb": files}, workers=workers, ahead=ahead).to(device))
        for _ in range(4):
            next(batches)
        tell(f"stream, {workers} workers, {ahead} ahead", rate(partial(next, batches), BATCH))
        batches.close()


def reading(files: list[Path]) -> None:
    """What reading alone costs this process, nothing being decoded."""
    blank = torch.zeros(3, 8, 8, dtype=torch.uint8)
    # An opener of one's own is called by threads.
    for name, opener in (("processes", read_file), ("threads", partial(read_file))):
        stream = Stream(
            "bench", {"rgb": files}, workers=4, together=lambda jpegs: [blank] * len(jpegs), opener=opener
        )
        batches = endless(stream)
        for _ in range(4):
            next(batches)
        began, spent, count = time.perf_counter(), time.process_time(), 0
        while time.perf_counter() - began < SECONDS:
            next(batches)
            count += BATCH
        print(
            f"read by {name}: {1e6 * (time.process_time() - spent) / count:.0f} us of CPU time a picture",
            flush=True,
        )
        batches.close()


def endless(data: Stream) -> Generator[Sample, None, None]:
    for number in count():
        yield from data.epoch(epoch_order(len(data), BATCH, 0, number))


def tell(what: str, found: float) -> None:
    print(f"{what:44}{found:12,.0f} pictures/s", flush=True)


if __name__ == "__main__":
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with pictures(2048) as found:
        reading(found)
        parts(found, place)
        streams(found, place)
