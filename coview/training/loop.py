"""Training: a sample is cut into views, encoded, contrasted, descended on, and then remembered."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coview.data import Dataset
from coview.training.optim import learning_rate
from coview.training.progress import Observer, Watch
from coview.training.recipe import Recipe, describe
from coview.training.resume import restore, save
from coview.training.run import RunFolder
from coview.training.state import Training, check_divides, gather, make_fabric, prepare
from coview.types import Batch
from coview.views import cut


def train_step(training: Training, batch: Batch) -> dict[str, Tensor]:
    """One step of the method; gives the loss of every directed pair."""
    embeddings = training.encoders(batch.views, batch.present)
    terms = training.objective(embeddings, batch.index, batch.present)
    training.optimiser.zero_grad()
    training.fabric.backward(sum(terms.values()) + _touch(training, embeddings))
    descend(training)
    remember(training, embeddings, batch)
    return {name: term.detach() for name, term in terms.items()}


def descend(training: Training) -> None:
    """Clip the gradient where the recipe says so, and follow it."""
    if training.fabric.world_size > 1:  # the encoders' gradients are averaged already
        for parameter in training.objective.parameters():  # a pair may have no anchors on one of them
            grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = training.fabric.all_reduce(grad)
    if training.recipe.clip is not None:
        nn.utils.clip_grad_norm_(training.parameters, training.recipe.clip)
    training.optimiser.step()


def remember(training: Training, embeddings: dict[str, Tensor], batch: Batch) -> None:
    """Write the batch of every process into memory, in the same order everywhere."""
    fabric = training.fabric
    gathered = {name: gather(fabric, embedding.detach()) for name, embedding in embeddings.items()}
    present = {name: gather(fabric, have) for name, have in (batch.present or {}).items()}
    training.objective.remember(gathered, gather(fabric, batch.index), present or None)
    if fabric.world_size > 1:  # batch norms and normalisers have seen a part each
        for buffer in [*training.encoders.buffers(), *training.objective.stateful.buffers()]:
            torch.distributed.broadcast(buffer, 0)


def _touch(training: Training, embeddings: dict[str, Tensor]) -> Tensor | float:
    """Nothing, from every embedding: processes wait for the gradient of a view that no anchor of theirs has."""
    return 0.0 if training.fabric.world_size == 1 else sum(0 * one.sum() for one in embeddings.values())


def fit(
    recipe: Recipe,
    folder: Path,
    *,
    resume: bool = False,
    origin: dict[str, Any] | None = None,
    observe: Observer | None = None,
) -> Training:
    """Train a recipe into a run folder, or go on with what is there.

    `origin` is written beside the recipe's fields, so that the run can be opened again; `observe` is given
    every row that is logged.
    """
    fabric = make_fabric(recipe)
    run = RunFolder(folder, write=fabric.is_global_zero)
    record = {
        **(run.read_json("recipe.json") if resume else {}),
        **(origin or {}),
        "fields": describe(recipe),
    }
    if run.write and not resume:
        run.check_free()
    data = recipe.data("train").to(fabric.device)
    check_divides(recipe, data, fabric.world_size)
    training = prepare(recipe, data, fabric)
    if resume:
        restore(training, run, data)
        run.write_json("recipe.json", record)
    elif run.write:
        run.create(record, recipe.seed)
    fabric.barrier()
    try:
        _train(training, data, run, Watch(training, data, run, observe))
    finally:
        run.close()
    return training


def epoch_order(samples: int, batch_size: int, seed: int, epoch: int) -> Iterator[Tensor]:
    """Batches of sample numbers, shuffled anew each epoch; those that fill no batch wait for another epoch."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    order = torch.randperm(samples, generator=generator)
    full = max(samples // batch_size, 1) * batch_size
    yield from order[:full].split(batch_size)


def _train(training: Training, data: Dataset, run: RunFolder, watch: Watch) -> None:
    recipe = training.recipe
    epoch_steps = max(len(data) // recipe.batch_size, 1)
    last = int(min(recipe.epochs * epoch_steps, recipe.steps or math.inf))
    for epoch in range(training.step // epoch_steps, recipe.epochs):
        order = epoch_order(len(data), recipe.batch_size, recipe.seed, epoch)
        for step, index in enumerate(order, epoch * epoch_steps):
            if step < training.step:  # done before the run was stopped
                continue
            if step >= last:
                return
            rate = learning_rate(recipe, step, epoch_steps)
            for group in training.optimiser.param_groups:
                group["lr"] = rate
            batch = _batch(training, data, index)
            terms = train_step(training, batch)
            training.step = step + 1
            watch.note(batch, terms, rate, training.step / epoch_steps)
            whole = training.step == last or training.step % (epoch_steps * recipe.save_every) == 0
            if whole or training.step % recipe.log_every == 0:
                watch.report(last)
            if whole:
                save(training, run, data)


def _batch(training: Training, data: Dataset, index: Tensor) -> Batch:
    """This process's part of the batch, cut into views."""
    fabric, recipe = training.fabric, training.recipe
    mine = index[fabric.global_rank :: fabric.world_size].to(fabric.device)
    return cut(data.fetch(mine), recipe.views, recipe.augment, training.generator)
