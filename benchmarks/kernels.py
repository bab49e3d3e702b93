"""Where the time of a training step goes: CUDA kernels by name, `python benchmarks/kernels.py OUT.json [WORK...]`."""

import json
import sys
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from coview.bench.step import start
from coview.bench.works import works
from coview.training import Recipe
from coview.training.loop import advance

STEPS = 5


def kernels(recipe: Recipe) -> dict[str, float]:
    """Milliseconds a step by kernel, of a warm step."""
    training, take, samples, _ = start(recipe)
    for _ in range(8):
        advance(training, take, next(samples))
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(STEPS):
            advance(training, take, next(samples))
        torch.cuda.synchronize()
    times = {one.key: one.self_device_time_total / 1000 / STEPS for one in seen.key_averages()}
    return dict(sorted(times.items(), key=lambda item: -item[1]))


def main(out: Path, wanted: list[str]) -> None:
    found = {}
    for name, recipe in works(torch.device("cuda")).items():
        if not wanted or any(one in name for one in wanted):
            found[name] = kernels(recipe)
            out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
