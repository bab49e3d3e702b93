"""What a process does in test_scale.py: the contrast of a step, and a note of what it told the others."""

import importlib.util
from functools import partial
from pathlib import Path

import torch

from coview import processes
from coview.contrast import Bank, CosineCritic, Objective, PairGraph, ShardedBank


def benchmark():
    """The script of benchmarks/scale.py as a module."""
    path = Path(__file__).parents[2] / "benchmarks/scale.py"
    spec = importlib.util.spec_from_file_location("scale_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def told_of_steps() -> dict[bool, list[tuple[str, int]]]:
    """With a bank in parts, and with copies of it."""
    return {sharded: told_of_a_step(sharded) for sharded in (True, False)}


def told_of_a_step(sharded: bool) -> list[tuple[str, int]]:
    """Both directions over a bank of 31 samples and 7 numbers, 5 anchors a process, and the update."""
    views = ("a", "b")
    negatives = (ShardedBank if sharded else partial(Bank, draw="all"))(views, 31, 7)
    objective = Objective(PairGraph([views]), CosineCritic(0.2), negatives)
    index = processes.deal(torch.arange(5 * processes.count()))
    said = {name: torch.randn(5, 7, requires_grad=True) for name in views}
    with benchmark().counted() as told:
        torch.stack(list(objective(said, index).values())).sum().backward()
        everyone = {name: processes.collect(one.detach()) for name, one in said.items()}
        objective.remember(everyone, processes.collect(index))
    return [(one.kind, one.size) for one in told]
