"""The state of a run to and from a checkpoint."""

from pathlib import Path
from typing import Any

import torch

from coview.data import Dataset
from coview.training.checkpoint import checkpoints, last_checkpoint, load_checkpoint, save_checkpoint
from coview.training.recipe import Recipe, describe
from coview.training.run import RunFolder
from coview.training.state import Training, gather

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


def save(training: Training, run: RunFolder, data: Dataset) -> None:
    """Write everything that changes training: random states of all processes, the rest from the first."""
    state = {
        "step": training.step,
        "recipe": describe(training.recipe),
        "samples": len(data),
        "encoders": training.encoders.state_dict(),
        "objective": training.objective.state_dict(),
        "slow": training.slow.state_dict() if training.slow else None,
        "optimiser": training.optimiser.state_dict(),
        "generator": gather(training.fabric, training.generator.get_state()[None]),
        "random": gather(training.fabric, torch.get_rng_state()[None]),
        "cuda_random": gather(training.fabric, torch.cuda.get_rng_state()[None])
        if torch.cuda.is_available()
        else None,
    }
    if run.write:
        save_checkpoint(run.checkpoints / f"step-{training.step:08d}.pt", state)
        for old in checkpoints(run.checkpoints)[:-KEPT]:
            old.unlink()
    training.fabric.barrier()


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


def _check_same(state: dict[str, Any], recipe: Recipe, data: Dataset, path: Path) -> None:
    if state["samples"] != len(data):
        raise ValueError(
            f"{path} was trained on {state['samples']} samples, but dataset '{data.name}' has {len(data)}"
        )
    old, new = state["recipe"], describe(recipe)
    for name in new:
        if name not in MAY_CHANGE and old.get(name) != new[name]:
            raise ValueError(
                f"{path} was trained with {name} = {old.get(name)}, the recipe now says {new[name]}: set it back, "
                "or train into another folder with --run"
            )
