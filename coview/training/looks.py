"""Looks at the encoders between epochs, whose numbers are logged; training goes on as if there had been none."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import torch
from torch import nn

from coview.data import Dataset
from coview.training.progress import Observer
from coview.training.run import RunFolder
from coview.training.state import Training

LookIn = Callable[[Training, Dataset], Mapping[str, float]]
"""Called between epochs with what a run holds and what it trains on; gives numbers by name."""


class Looks:
    """Looks before the first step, every `probe_every` epochs, and at the end; a run that goes on makes up for one."""

    def __init__(
        self,
        training: Training,
        data: Dataset,
        run: RunFolder,
        look_in: LookIn | None,
        observe: Observer | None,
    ) -> None:
        self.training, self.data, self.run = training, data, run
        self.look_in, self.observe = look_in, observe
        self.done = steps_with_a_look(run) if look_in is not None and run.write else set()

    def due(self, epoch_steps: int) -> bool:
        """Whether it is time, which depends on the step alone."""
        recipe, (epoch, rest) = self.training.recipe, divmod(self.training.step, epoch_steps)
        if recipe.probe_every is None or rest:
            return False
        return epoch % recipe.probe_every == 0 or epoch == recipe.epochs

    def take(self, epoch_steps: int, last: int) -> float:
        """Look where it is time, the first process for all, and log what is seen; gives the seconds it took."""
        begun, step = time.perf_counter(), self.training.step
        if self.look_in is None or not self.due(epoch_steps):
            return 0.0
        if self.run.write and step not in self.done:
            with undisturbed(self.training):
                seen = {name: float(value) for name, value in self.look_in(self.training, self.data).items()}
            row = {"step": step, "epoch": step / epoch_steps, "probes": seen}
            self.run.log(row)
            self.done.add(step)
            if self.observe is not None:
                self.observe({**row, "steps": last})
        self.training.fabric.barrier()
        return time.perf_counter() - begun


@contextmanager
def undisturbed(training: Training) -> Iterator[None]:
    """Random generators and modes are afterwards what they were; no gradient, and nothing compiled anew."""
    cuda = training.fabric.device.type == "cuda"
    parts = [*training.encoders.modules(), *training.objective.modules()]
    modes, drawn = [part.training for part in parts], training.generator.get_state()
    try:
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng([training.fabric.device] if cuda else []))
            if training.recipe.compile:  # evaluation would be compiled anew, for a minute
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            stack.enter_context(torch.no_grad())
            yield
    finally:
        training.generator.set_state(drawn)
        _restore(parts, modes)


def steps_with_a_look(run: RunFolder) -> set[int]:
    """The steps at which a run folder has a look already."""
    if not run.metrics.exists():
        return set()
    rows = (json.loads(line) for line in run.metrics.read_text().splitlines())
    return {row["step"] for row in rows if "probes" in row}


def _restore(parts: list[nn.Module], modes: list[bool]) -> None:
    for part, mode in zip(parts, modes, strict=True):
        part.training = mode
