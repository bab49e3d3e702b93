"""How time and memory are taken: warm, by turns of the clock that belongs to the device, as medians."""

import ctypes
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from coview.reports.tables import Table

MIB = 2**20
STATM = Path("/proc/self/statm")


@dataclass(frozen=True)
class Row:
    """One way of doing one work, and what it took."""

    work: str
    way: str
    milliseconds: float  # the median
    spread: float  # between the quartiles
    repeats: int
    images: float | None = None  # a second
    memory: float | None = None  # MiB above the inputs, at the most
    ratio: float | None = None  # of the baseline's time to this; above 1 is faster
    floor: float | None = None  # milliseconds that the chip needs at the least
    note: str = ""


def measure(
    call: Callable[[], object],
    device: torch.device,
    *,
    repeats: int = 20,
    warm: int = 3,
    seconds: float = 20.0,
) -> tuple[list[float], float | None]:
    """Milliseconds of each of five to `repeats` calls after some to warm up, and MiB above the start."""
    for _ in range(warm):
        call()
    with peak_memory(device) as memory:
        call()
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < repeats and (len(times) < 5 or time.perf_counter() - started < seconds):
        times.append(timed(call, device))
    return times, memory()


def captured(call: Callable[[], object]) -> Callable[[], object]:
    """The call as a CUDA graph, as it stands in a captured step: no waiting for Python between kernels."""
    for _ in range(3):
        call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def timed(call: Callable[[], object], device: torch.device) -> float:
    """Milliseconds of one call, by the device's own clock where it has one."""
    if device.type != "cuda":
        started = time.perf_counter()
        call()
        return 1000 * (time.perf_counter() - started)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)


@contextmanager
def peak_memory(device: torch.device) -> Iterator[Callable[[], float | None]]:
    """MiB at the most above those at the start; None where the system does not tell."""
    found: list[float | None] = [None]
    if device.type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        yield lambda: found[0]
        torch.cuda.synchronize()
        found[0] = (torch.cuda.max_memory_allocated() - before) / MIB
    else:
        watch = _Resident()
        with watch:
            yield lambda: found[0]
        found[0] = watch.above


class _Resident:
    """Looks at the memory of this process every millisecond; what was freed before goes back to the system first."""

    def __init__(self) -> None:
        self.above: float | None = None
        self.stop = threading.Event()

    def __enter__(self) -> "_Resident":
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        self.start = _pages()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()

    def _watch(self) -> None:
        while self.start is not None and not self.stop.wait(0.001):
            now = _pages()
            if now is not None:
                self.above = max(self.above or 0.0, now - self.start)


def _pages() -> float | None:
    try:
        return int(STATM.read_text().split()[1]) * 4096 / MIB
    except OSError:
        return None


def row(
    work: str, way: str, times: Sequence[float], memory: float | None = None, *, images: int | None = None
) -> Row:
    """What was measured, as medians."""
    median = statistics.median(times)
    quartiles = statistics.quantiles(times, n=4) if len(times) > 1 else [median] * 3
    rate = None if images is None else 1000 * images / median
    return Row(work, way, median, quartiles[2] - quartiles[0], len(times), rate, memory)


def table(rows: Sequence[Row], title: str, note: str) -> Table:
    """Rows as a table, with a column only where a row has something to say in it."""
    columns: dict[str, Callable[[Row], str | float | None]] = {
        "work": lambda one: one.work,
        "way": lambda one: one.way,
        "ms": lambda one: one.milliseconds,
        "+-": lambda one: one.spread,
        "images/s": lambda one: one.images,
        "MiB": lambda one: one.memory,
        "times faster": lambda one: one.ratio,
        "floor, ms": lambda one: one.floor,
        "": lambda one: one.note or None,
    }
    said = {name: read for name, read in columns.items() if any(read(one) is not None for one in rows)}
    cells = tuple(tuple(read(one) for read in said.values()) for one in rows)
    return Table(title, tuple(said), cells, note)
