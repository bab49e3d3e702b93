"""A critic learns to tell right pairs from wrong ones; kept is how it was when it did best on others."""

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor, nn

from coview.information.bounds import Bound, Choices, log_mean_exp
from coview.information.critic import MakeCritic
from coview.information.pairs import AT_ONCE, Pairs, fetch_many

SHOWN = 2**26  # numbers of each view that a fresh critic is fitted to
TRIFLE = 0.01  # share of the value, or nats, that training must add to what a critic starts with
GAIN = 0.05  # share of the value, or nats, that the second half of the steps gains where a critic has not settled


@dataclass(frozen=True)
class Schedule:
    """How a critic is trained; the learning rate rises over the first `warmup` steps and falls along a cosine."""

    steps: int = 1500
    batch: int = 512  # or all samples that are learned from, where there are fewer
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    warmup: int = 50
    looks: int = 30  # at pairs that are not learned from, evenly over the steps
    memory: float = 0.99  # of the moving average that normalises MINE's gradient
    clip: float = 5.0  # largest norm of the gradient

    def __post_init__(self) -> None:
        for name, least in {"steps": 1, "batch": 2, "looks": 1, "warmup": 0}.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be {least} or more, got {getattr(self, name)}")
        if not 0 < self.memory < 1:
            raise ValueError(f"memory is a share between 0 and 1, got {self.memory}")

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        risen = min((step + 1) / (self.warmup + 1), 1.0)
        return self.learning_rate * risen * 0.5 * (1 + math.cos(math.pi * step / self.steps))


class Split(NamedTuple):
    """The samples that a critic learns from, those that decide when it stops, and those it is judged by."""

    training: Int[Tensor, "N"]
    selection: Int[Tensor, "S"]
    held_out: Int[Tensor, "M"]


class Look(NamedTuple):
    """What a bound came to at a step, on some pairs that were learned from and on pairs that were not."""

    step: int
    training: float
    selection: float


@dataclass(frozen=True)
class Trained:
    """A critic as it was when it did best on pairs that it had not learned from."""

    critic: Any
    curve: tuple[Look, ...]
    settled: bool
    log_z: Tensor  # normaliser, from pairs that it had not learned from


def train_critic(
    make: MakeCritic, pairs: Pairs, split: Split, *, bound: Bound, schedule: Schedule, seed: int
) -> Trained:
    """Raise a bound; nothing but the looks waits for the device."""
    generator = torch.Generator(pairs.device).manual_seed(seed)
    critic = _fresh(make, pairs, split, seed)
    lesson = _Lesson(critic, bound, schedule, generator)
    watch = _Watch(critic, schedule)
    for step, index in enumerate(_batches(split.training, schedule, generator)):
        if watch.due(step):
            watch.look(step, *_values(critic, pairs, split, bound, lesson.log_z))
        lesson(step, *pairs.fetch(index, generator))
    watch.look(schedule.steps, *_values(critic, pairs, split, bound, lesson.log_z))
    critic.load_state_dict(watch.best)
    selection = judge(critic, pairs, split.selection)
    return Trained(critic, tuple(watch.curve), watch.settled, log_mean_exp(selection.wrong))


@torch.no_grad()
def judge(critic: Any, pairs: Pairs, index: Int[Tensor, "N"]) -> Choices:
    """What a critic says of these samples when each is to be found among all of them."""
    generator = torch.Generator(pairs.device).manual_seed(0)
    critic.eval()
    said = [critic.encode(*pairs.fetch(part, generator)) for part in index.split(AT_ONCE)]
    query, key = (torch.cat(side) for side in zip(*said, strict=True))
    choices = critic.choices(query, key, generator)
    critic.train()
    return choices


def _fresh(make: MakeCritic, pairs: Pairs, split: Split, seed: int) -> Any:
    """A critic whose weights depend on the seed alone, and the caller's random numbers as they were."""
    one = fetch_many(pairs, split.training[:1], seed=seed)
    most = max(SHOWN // max(view.numel() for view in one), 1000)
    shown = fetch_many(pairs, split.training[:most], seed=seed)
    with torch.random.fork_rng([pairs.device] if pairs.device.type == "cuda" else []):
        torch.manual_seed(seed)
        return make(*shown).to(pairs.device).train()


def _batches(index: Int[Tensor, "N"], schedule: Schedule, generator: torch.Generator) -> Iterator[Tensor]:
    """One batch a step, shuffled anew each time around; what fills no batch waits for another time."""
    size = min(schedule.batch, len(index))
    around = len(index) // size
    for first in range(0, schedule.steps, around):
        order = torch.randperm(len(index), generator=generator, device=index.device)[: around * size]
        yield from index[order].split(size)[: schedule.steps - first]


def _values(critic: Any, pairs: Pairs, split: Split, bound: Bound, log_z: Tensor) -> tuple[float, float]:
    """The bound on as many pairs that are learned from as there are that are not, and on those."""
    found = (
        judge(critic, pairs, index) for index in (split.training[: len(split.selection)], split.selection)
    )
    training, selection = (float(bound.value(choices, log_z)) for choices in found)
    return training, selection


class _Lesson:
    """Takes one step after another."""

    def __init__(self, critic: Any, bound: Bound, schedule: Schedule, generator: torch.Generator) -> None:
        self.critic, self.bound, self.schedule, self.generator = critic, bound, schedule, generator
        parameters = list(critic.parameters())
        self.optimiser = torch.optim.AdamW(
            parameters, weight_decay=schedule.weight_decay, fused=parameters[0].is_cuda
        )
        self.log_z = parameters[0].new_zeros(())  # log of the moving average of exp(score) over wrong pairs

    def __call__(self, step: int, first: Tensor, second: Tensor) -> None:
        choices = self.critic.choices(*self.critic.encode(first, second), self.generator)
        now = log_mean_exp(choices.wrong.detach())
        memory = self.schedule.memory
        mixed = torch.logaddexp(self.log_z + math.log(memory), now + math.log1p(-memory))
        self.log_z = mixed if step else now
        self.optimiser.zero_grad()
        (-self.bound.raised(choices, self.log_z)).backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), self.schedule.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = self.schedule.rate(step)
        self.optimiser.step()


class _Watch:
    """Looks now and then, and remembers the best weights."""

    def __init__(self, critic: Any, schedule: Schedule) -> None:
        self.critic = critic
        self.steps = {schedule.steps * look // schedule.looks for look in range(schedule.looks)}
        self.curve: list[Look] = []
        self.highest, self.best = -math.inf, deepcopy(critic.state_dict())

    def due(self, step: int) -> bool:
        return step in self.steps

    def look(self, step: int, training: float, selection: float) -> None:
        self.curve.append(Look(step, training, selection))
        value = min(training, selection)  # a rare pair that a critic is wildly wrong about may be in either
        if value > self.highest:
            # What a critic starts with is sound; for next to nothing it is not given up.
            self.highest = value if step else value + TRIFLE * max(abs(value), 1.0)
            self.best = deepcopy(self.critic.state_dict())

    @property
    def settled(self) -> bool:
        """Whether the second half of the steps gained little; at the very end a falling rate gains nothing."""
        best = list(accumulate((min(look.training, look.selection) for look in self.curve), max))
        return best[-1] - best[len(best) // 2] < GAIN * max(abs(best[-1]), 1.0)
