"""Training: step by step through the epochs, looked at now and then, and saved."""

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from coview import processes
from coview.data import Dataset, Ordered
from coview.training.capture import Steps
from coview.training.fabric import make_fabric
from coview.training.heartbeat import Heartbeat
from coview.training.looks import LookIn, Looks
from coview.training.optim import learning_rate, set_rate
from coview.training.progress import Observer, Seen, Watch
from coview.training.recipe import Recipe, describe
from coview.training.resume import restore, save
from coview.training.run import RunFolder
from coview.training.state import Training, check_divides, prepare
from coview.training.stop import Stopped, Wish
from coview.types import Sample
from coview.views import augmented


def fit(
    recipe: Recipe,
    folder: Path,
    *,
    resume: bool = False,
    origin: dict[str, Any] | None = None,
    observe: Observer | None = None,
    look_in: LookIn | None = None,
) -> Training:
    """Train a recipe into a run folder, or go on with what is there.

    `origin` is written beside the recipe's fields, so that the run can be opened again; `observe` is given
    every row that is logged: those of `look_in`, every `probe_every` epochs, have "probes" and no terms.
    """
    check_looks(recipe, look_in)
    fabric = make_fabric(recipe)
    run = RunFolder(folder, write=fabric.is_global_zero)
    with Heartbeat(), run:
        before = processes.of_first(lambda: run.enter(resume))
        record = {**(before or {}), **(origin or {}), "fields": describe(recipe)}
        data = recipe.data("train").to(fabric.device)
        check_divides(recipe, data, fabric.world_size)
        training = prepare(recipe, data, fabric)
        if before is None:
            processes.of_first(lambda: run.create(record, recipe.seed))
        else:
            restore(training, run, data)
            run.write_json("recipe.json", record)
        processes.wait()
        with Wish() as wish:
            looks = Looks(training, data, run, look_in, observe)
            _train(training, data, Watch(training, data, run, observe), looks, wish)
    return training


def order_of(data: Dataset, batch_size: int, seed: int, epoch: int) -> Iterator[Tensor]:
    """Batches of an epoch, in the order that the dataset is best read in, if there is one."""
    if isinstance(data, Ordered):
        return data.order(batch_size, seed=seed, epoch=epoch)
    return epoch_order(len(data), batch_size, seed, epoch)


def epoch_order(samples: int, batch_size: int, seed: int, epoch: int) -> Iterator[Tensor]:
    """Batches of sample numbers, shuffled anew each epoch; those that fill no batch wait for another epoch."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    order = torch.randperm(samples, generator=generator)
    full = max(samples // batch_size, 1) * batch_size
    yield from order[:full].split(batch_size)


def _train(training: Training, data: Dataset, watch: Watch, looks: Looks, wish: Wish) -> None:
    recipe, run = training.recipe, watch.run
    epoch_steps = max(len(data) // recipe.batch_size, 1)
    last = int(min(recipe.epochs * epoch_steps, recipe.steps or math.inf))
    take = Steps(training)
    watch.clock += looks.take(epoch_steps, last)
    for epoch in range(training.step // epoch_steps, recipe.epochs):
        if training.step >= last:
            break
        first = epoch * epoch_steps
        order = order_of(data, recipe.batch_size, recipe.seed, epoch)
        order = islice(order, training.step - first, min(last - first, epoch_steps))  # what is not done yet
        for sample in data.epoch(processes.deal(index) for index in order):
            rate = learning_rate(recipe, training.step, epoch_steps)
            set_rate(training.optimiser, rate)
            seen = advance(training, take, sample)
            watch.note(seen, rate, training.step / epoch_steps)
            whole = training.step == last or training.step % (epoch_steps * recipe.save_every) == 0
            stop = wish.granted() and training.step < last
            if stop or whole or looks.due(epoch_steps) or training.step % recipe.log_every == 0:
                watch.report(last)
            if stop or whole:
                path = save(training, run, data)
                if stop:
                    raise Stopped(wish.by, training.step, path)
        watch.clock += looks.take(epoch_steps, last)
    training.hindrance = take.hindrance


def advance(training: Training, take: Steps, sample: Sample) -> Seen:
    """One step on a batch of samples, augmented here: what is random about them is drawn before the step."""
    crops = training.recipe.crops
    seen = take(augmented(sample, training.augment, training.generator, crops=crops))
    training.step += 1
    return seen


def check_looks(recipe: Recipe, look_in: LookIn | None) -> None:
    """Refuse looks that are wanted by one side and not by the other."""
    if recipe.probe_every is not None and look_in is None:
        raise ValueError(
            f"probe_every is {recipe.probe_every}, but nothing looks: "
            "fit(..., look_in=coview.recipes.measure.look_in(recipe)), or probe_every=None"
        )
    if look_in is not None and recipe.probe_every is None:
        raise ValueError("there is a look_in, but the recipe does not say when to look: set its probe_every")
