"""The contrast of a step on 1, 2 and 4 processes of this machine, over gloo, beside what the cost model says of it.

    python benchmarks/scale.py results/scale/gloo.json

First the rates are measured: sweeps of one process, and messages between processes. Then steps with a bank in parts
and with copies of it; what every process sent is counted. Times are the least of many, since others use the
cores, too; so beside the seconds of a step are those that a core was busy with it.
"""

import argparse
import json
import math
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # this copy, not one that is installed

import torch
from torch import distributed
from torch.nn import functional as F

from coview import processes
from coview.bench.scale import Machine, Message, Plan, bank, fit_line, messages, step, sweep
from coview.contrast import Bank, CosineCritic, Objective, PairGraph, ShardedBank
from coview.training.machine import cores, processor

PROCESSES, SAMPLES, ANCHORS, DIM = (1, 2, 4), (4_000, 40_000, 400_000), 64, 128
MESSAGES = (1_000, 100_000, 4_000_000)  # bytes
VIEWS = ("L", "ab")
REPEATS, SECONDS = 60, 8.0  # at the most


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("json", type=Path, help="a file for what was measured")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.json)
        return
    options.json.parent.mkdir(parents=True, exist_ok=True)
    found = [row for count in PROCESSES for row in crew(count, options.json)]
    machine = rates([row for row in found if row["work"] != "step"])
    steps = [beside(row, machine) for row in found if row["work"] == "step"]
    about = {
        "device": processor(),
        "cores": cores(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    kept = {
        "machine": about,
        "rates": vars(machine),
        "parts": [r for r in found if r["work"] != "step"],
        "steps": steps,
    }
    options.json.write_text(json.dumps(kept, indent=1) + "\n")
    for row in steps:
        what = f"{row['processes']} processes, {row['samples']:>9,} samples, {row['bank']:<10}"
        times = [row[name] * 1e3 for name in ("seconds", "model", "busy", "model_busy")]
        took = "{:8.1f} ms, model {:8.1f}; busy {:8.1f}, model {:8.1f}".format(*times)
        print(f"{what} {took}; sent {row['sent']:,} bytes, model {row['model_sent']:,}")


def crew(count: int, place: Path) -> list[dict[str, Any]]:
    """What so many processes measured together."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    there = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
    command = [sys.executable, __file__, str(place.with_suffix(".part")), "--worker"]
    all_of_them = [
        subprocess.Popen(command, env={**there, "RANK": str(rank), "OMP_NUM_THREADS": "1"})
        for rank in range(count)
    ]
    codes = [one.wait() for one in all_of_them]
    if any(codes):
        raise RuntimeError(f"a process of {count} failed")
    found = json.loads(place.with_suffix(".part").read_text())
    place.with_suffix(".part").unlink()
    return found


def work(place: Path) -> None:
    """One process of the crew; the first writes."""
    torch.set_num_threads(1)
    if int(os.environ["WORLD_SIZE"]) > 1:
        distributed.init_process_group("gloo")
    found = []
    if processes.count() > 1:
        found = [say("message", size=size, seconds=least(partial(tell, size))[0]) for size in MESSAGES]
    for samples in SAMPLES:
        for kind in (ShardedBank, partial(Bank, draw="all")):
            found.append(one_step(samples, kind))
    if processes.rank() == 0:
        place.write_text(json.dumps(found))
    processes.wait()
    if processes.count() > 1:
        distributed.destroy_process_group()


def one_step(samples: int, kind: Callable[..., Any]) -> dict[str, Any]:
    """Both directions of a batch of all processes, their gradient, and the bank's update."""
    torch.manual_seed(processes.rank())
    negatives = kind(VIEWS, samples, DIM)
    objective = Objective(PairGraph([VIEWS]), CosineCritic(0.07), negatives)
    each = ANCHORS // processes.count()
    index = processes.deal(torch.arange(ANCHORS))
    views = {name: F.normalize(torch.randn(each, DIM)).requires_grad_() for name in VIEWS}

    def take() -> None:
        torch.stack(list(objective(views, index).values())).sum().backward()
        everyone = {name: processes.collect(one.detach()) for name, one in views.items()}
        objective.remember(everyone, processes.collect(index))

    take()
    with counted() as told:
        take()
    held = sum(
        one.numel() * one.element_size()
        for name, one in negatives.named_buffers()
        if name[:3] in ("row", "sta")
    )
    seconds, busy = least(take)
    return say(
        "step",
        samples=samples,
        bank="in parts" if isinstance(negatives, ShardedBank) else "copied",
        seconds=seconds,
        busy=busy,
        told=[vars(one) for one in told],
        held=held,
    )


def say(what: str, **more: Any) -> dict[str, Any]:
    return {"work": what, "processes": processes.count(), **more}


def least(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of the fastest of many calls, all of which all processes make, and those that a core was busy with it."""
    best, busy, end = float("inf"), float("inf"), time.perf_counter() + SECONDS
    for number in range(REPEATS):
        if number >= 5 and bool(processes.greatest(torch.tensor(time.perf_counter() > end).to(torch.uint8))):
            break
        processes.wait()
        started, before = time.perf_counter(), time.process_time()
        call()
        best, busy = min(best, time.perf_counter() - started), min(busy, time.process_time() - before)
    found = processes.greatest(torch.tensor([best, busy])).tolist()
    return found[0], found[1]


def tell(size: int) -> None:
    """Rows of every process to all."""
    processes.gather(torch.zeros(size // 4 // processes.count()))


class counted:
    """What is told between processes meanwhile."""

    def __enter__(self) -> list[Message]:
        self.told: list[Message] = []
        self.before = {name: getattr(distributed, name) for name in KINDS}
        for name, (kind, whole) in KINDS.items():
            setattr(distributed, name, self._noted(self.before[name], kind, whole))
        return self.told

    def __exit__(self, *_: object) -> None:
        for name, call in self.before.items():
            setattr(distributed, name, call)

    def _noted(self, call: Callable[..., Any], kind: str, whole: int) -> Callable[..., Any]:
        def noted(*tensors: Any, **more: Any) -> Any:
            self.told.append(Message(kind, tensors[whole].numel() * tensors[whole].element_size()))
            return call(*tensors, **more)

        return noted


KINDS = {  # of torch.distributed: the kind of message, and which argument is the whole of it
    "all_gather_into_tensor": ("gather", 0),
    "reduce_scatter_tensor": ("scatter", 1),
    "all_reduce": ("reduce", 0),
    "broadcast": ("send", 0),
}


def rates(parts: list[dict[str, Any]]) -> Machine:
    """Sweeps as one process makes them, messages as two send them."""
    sweeps = [sweep_alone(samples) for samples in SAMPLES]
    start, slope = fit_line(sweeps)
    told = [(row["size"] / 2, row["seconds"]) for row in parts if row["processes"] == 2]
    link_start, link_slope = fit_line(told)
    return Machine(
        "two CPU cores", 1 / slope, start, 1 / link_slope, link_start, row_number=4, cores=float(cores())
    )


def sweep_alone(samples: int) -> tuple[float, float]:
    """Operations and seconds of one direction, as one process of one thread makes it."""
    from coview.bench.contrast import descend

    torch.set_num_threads(1)
    keys = F.normalize(torch.randn(samples, DIM))
    query, match = F.normalize(torch.randn(ANCHORS, DIM)) / 0.07, torch.arange(ANCHORS)
    return 4.0 * ANCHORS * samples * DIM, least(partial(descend, query, keys, match))[1]


def beside(row: dict[str, Any], machine: Machine) -> dict[str, Any]:
    """A measured step, and the same by the model."""
    count = row["processes"]
    plan = Plan(row["samples"], count, ANCHORS // count, DIM, sharded=row["bank"] == "in parts")
    told, said = [Message(**one) for one in row.pop("told")], messages(plan)
    sent = [round(sum(one.sent(count) for one in some)) for some in (told, said)]
    return {
        **row,
        "model": step(plan, machine),
        "model_busy": sweep(plan, replace(machine, cores=math.inf)),
        "sent": sent[0],
        "model_sent": sent[1],
        "model_held": bank(plan, machine),
    }


if __name__ == "__main__":
    main()
