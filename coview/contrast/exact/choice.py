"""Which way is the fastest here: measured once a machine, so that every run on it goes the same way bit for bit."""

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import torch

from coview.files import write_text

REPEATS = 5


def fastest_first(ways: Sequence[str], make: Callable[[str], Callable[[], object]]) -> list[str]:
    """The ways sorted by what was measured on this machine, now or before."""
    order = _order(tuple(ways), make, torch.get_num_threads())
    return [*order]


@lru_cache
def _order(
    ways: tuple[str, ...], make: Callable[[str], Callable[[], object]], threads: int
) -> tuple[str, ...]:
    machine = f"{platform.processor() or platform.machine()}, {threads} threads, torch {torch.__version__}"
    path = cache_folder() / "exact-softmax.json"
    known = _read(path)
    if sorted(known.get(machine, ())) == sorted(ways):
        return tuple(known[machine])
    seconds = _times({way: make(way) for way in ways})
    order = sorted(ways, key=seconds.__getitem__)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({**_read(path), machine: order}, indent=2))
    except OSError:
        return tuple(ways)  # what cannot be kept must not change from run to run
    return tuple(order)


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "coview"


def _times(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least seconds of each, taken by turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(REPEATS):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def _read(path: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: ways for name, ways in found.items() if isinstance(ways, list) and set(map(type, ways)) == {str}
    }
