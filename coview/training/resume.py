"""The state of a run to and from a checkpoint."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from coview import processes
from coview.contrast import ShardedBank
from coview.contrast.negatives.sharded import stretch
from coview.data import Dataset
from coview.training.checkpoint import last_checkpoint, load_checkpoint, part_of, save_checkpoint, tidy
from coview.training.recipe import Recipe, describe
from coview.training.run import RunFolder
from coview.training.state import Training

MAY_CHANGE = (
    "epochs",
    "steps",
    "log_every",
    "save_every",
    "probe_layer",
    "probe_every",
    "compile",
    "capture",
)  # between a run and its resumption
KEPT = 2  # checkpoints


def save(training: Training, run: RunFolder, data: Dataset) -> Path:
    """Write everything that changes training: parts and random states of all processes, the rest from the first."""
    path, sharded = run.checkpoints / f"step-{training.step:08d}.pt", _sharded(training)
    if sharded:
        part = part_of(path, processes.rank())
        save_checkpoint(part, {"step": training.step, "held": [bank.part() for bank in sharded]})
    state = {
        "step": training.step,
        "recipe": describe(training.recipe),
        "samples": len(data),
        "encoders": training.encoders.state_dict(),
        "objective": training.objective.state_dict(),
        "slow": training.slow.state_dict() if training.slow else None,
        "optimiser": training.optimiser.state_dict(),
        "generator": processes.gather(training.generator.get_state()[None]),
        "random": processes.gather(torch.get_rng_state()[None]),
        "cuda_random": processes.gather(torch.cuda.get_rng_state()[None])
        if torch.cuda.is_available()
        else None,
        "parts": processes.count() if sharded else 0,
    }
    processes.wait()  # with all its parts there the checkpoint is whole
    if run.write:
        save_checkpoint(path, state)
        tidy(run.checkpoints, KEPT)
    processes.wait()
    return path


def restore(training: Training, run: RunFolder, data: Dataset) -> None:
    """Go back to the last checkpoint of a run folder, or to the start where it has none yet."""
    path = last_checkpoint(run.checkpoints)
    if path is None:
        run.forget_after(-1)  # not even a look before the first step: the recipe may be another
        return
    state = load_checkpoint(path)
    _check_same(state, training.recipe, data, path)
    training.encoders.load_state_dict(state["encoders"])
    training.objective.load_state_dict(state["objective"])
    if training.slow:
        training.slow.load_state_dict(state["slow"])
    for place, bank in enumerate(_sharded(training)):
        bank.load_parts(_read_parts(bank, place, path, state))
    rates = [group["lr"] for group in training.optimiser.param_groups]
    training.optimiser.load_state_dict(state["optimiser"])
    for group, rate in zip(training.optimiser.param_groups, rates, strict=True):
        group["lr"] = rate  # where it was kept; every step sets its value
    rank = training.fabric.global_rank
    if rank < len(state["random"]):  # more processes than before: the new ones start from their own seeds
        training.generator.set_state(state["generator"][rank].clone())  # a row in place makes torch crash
        torch.set_rng_state(state["random"][rank].clone())
        if state["cuda_random"] is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(state["cuda_random"][rank].clone())
    training.step = state["step"]
    run.forget_after(training.step)


def _sharded(training: Training) -> list[ShardedBank]:
    """The parts of the objective of which each process holds its own."""
    return [part for part in training.objective.modules() if isinstance(part, ShardedBank)]


def _read_parts(
    bank: ShardedBank, place: int, path: Path, state: dict[str, Any]
) -> Iterator[tuple[int, dict[str, Tensor]]]:
    """What a process now holds of a bank, from the parts of those that held it, however many they were."""
    for number in range(state["parts"]):
        first, last = stretch(bank.samples, number, state["parts"])
        if first < bank.last and bank.first < last:
            part = load_checkpoint(part_of(path, number))
            if part["step"] != state["step"]:
                raise ValueError(
                    f"{part_of(path, number)} is of step {part['step']}, {path} of {state['step']}"
                )
            yield first, part["held"][place]


def _check_same(state: dict[str, Any], recipe: Recipe, data: Dataset, path: Path) -> None:
    if state["samples"] != len(data):
        raise ValueError(
            f"{path} was trained on {state['samples']} samples, but dataset '{data.name}' has {len(data)}: "
            "bring the data back, or train into another folder with --run"
        )
    old, new = state["recipe"], describe(recipe)
    for name in new:
        if name not in MAY_CHANGE and old.get(name) != new[name]:
            raise ValueError(
                f"{path} was trained with {name} = {old.get(name)}, the recipe now says {new[name]}: set it back, "
                "or train into another folder with --run"
            )
