"""A critic learns to tell right pairs from wrong ones, until pairs that it does not learn from gain no more."""

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor, nn

from coview.information.bounds import Bound, Choices, log_mean_exp
from coview.information.critic import MakeCritic
from coview.information.pairs import AT_ONCE, Pairs, fetch_many

SLOWER = 0.2  # what the learning rate is multiplied by when nothing is gained any more
GAIN = 1e-3  # nats, or that share of the value, that count as a gain
SHOWN = 2**26  # numbers of each view that a fresh critic is fitted to


@dataclass(frozen=True)
class Schedule:
    """How a critic is trained; most settle before they have taken all `steps`."""

    steps: int = 3000
    batch: int = 512
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    look_every: int = 50  # steps between looks at the pairs that decide when to stop
    patience: int = 4  # looks without a gain before the learning rate falls
    falls: int = 2  # of the learning rate, before training ends
    memory: float = 0.99  # of the moving average that normalises MINE's gradient
    clip: float = 1.0  # largest norm of the gradient

    def __post_init__(self) -> None:
        for name, least in {"steps": 1, "batch": 2, "look_every": 1, "patience": 1}.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be {least} or more, got {getattr(self, name)}")


class Split(NamedTuple):
    """The samples that a critic learns from, those that decide when it stops, and those it is judged by."""

    training: Int[Tensor, "T"]
    selection: Int[Tensor, "S"]
    held_out: Int[Tensor, "H"]


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
    watch = _Watch(critic, schedule)
    log_z = torch.zeros((), device=pairs.device)
    for step, index in enumerate(_batches(split.training, schedule, generator)):
        if step % schedule.look_every == 0 or step == schedule.steps:
            watch.look(step, *_values(critic, pairs, split, bound, log_z))
            if watch.done or step == schedule.steps:
                break
        query, key = critic.encode(*pairs.fetch(index, generator))
        choices = critic.choices(query, key, generator)
        log_z = _moving_average(log_z, choices, 0.0 if step == 0 else schedule.memory)
        watch.optimiser.zero_grad()
        (-bound.raised(choices, log_z)).backward()
        nn.utils.clip_grad_norm_(critic.parameters(), schedule.clip)
        watch.optimiser.step()
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


def _batches(index: Int[Tensor, "T"], schedule: Schedule, generator: torch.Generator) -> Iterator[Tensor]:
    """Batches without end, shuffled anew each time around; what fills no batch waits for another time."""
    full = len(index) // schedule.batch * schedule.batch
    while True:
        order = torch.randperm(len(index), generator=generator, device=index.device)[:full]
        yield from index[order].split(schedule.batch)


def _values(critic: Any, pairs: Pairs, split: Split, bound: Bound, log_z: Tensor) -> tuple[float, float]:
    """The bound on as many pairs that are learned from as there are that are not, and on those."""
    found = (
        judge(critic, pairs, index) for index in (split.training[: len(split.selection)], split.selection)
    )
    training, selection = (float(bound.value(choices, log_z)) for choices in found)
    return training, selection


def _moving_average(log_z: Tensor, choices: Choices, memory: float) -> Tensor:
    """Of the mean of exp(score) over wrong pairs, in logs."""
    now = log_mean_exp(choices.wrong.detach())
    if not memory:
        return now
    return torch.logaddexp(log_z + math.log(memory), now + math.log1p(-memory))


class _Watch:
    """Remembers the best weights, slows training down where nothing is gained, and says when it is done."""

    def __init__(self, critic: Any, schedule: Schedule) -> None:
        self.critic, self.schedule = critic, schedule
        self.optimiser = torch.optim.AdamW(
            critic.parameters(),
            schedule.learning_rate,
            weight_decay=schedule.weight_decay,
            fused=next(critic.parameters()).is_cuda,
        )
        self.curve: list[Look] = []
        self.highest, self.best = -math.inf, deepcopy(critic.state_dict())
        self.without_gain = self.fallen = 0

    def look(self, step: int, training: float, selection: float) -> None:
        self.curve.append(Look(step, training, selection))
        value = min(training, selection)  # a rare pair that a critic is wildly wrong about may be in either
        gained = value > self.highest + GAIN * max(1.0, abs(self.highest))
        if value > self.highest:
            self.highest, self.best = value, deepcopy(self.critic.state_dict())
        self.without_gain = 0 if gained else self.without_gain + 1
        if self.without_gain >= self.schedule.patience and not self.done:
            self._slow_down()

    @property
    def done(self) -> bool:
        return self.fallen > self.schedule.falls

    @property
    def settled(self) -> bool:
        """Whether the last looks gained nothing."""
        return self.done or self.without_gain >= self.schedule.patience

    def _slow_down(self) -> None:
        """From the best weights there were."""
        self.critic.load_state_dict(self.best)
        self.fallen, self.without_gain = self.fallen + 1, 0
        for group in self.optimiser.param_groups:
            group["lr"] *= SLOWER
