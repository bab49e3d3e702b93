"""How much two views share: bounds by critics that are trained on samples, and judged by others."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from coview.information.bounds import BOUNDS, INFONCE, MINE, Bound, Choices
from coview.information.check import known_beforehand
from coview.information.critic import MakeCritic, separable
from coview.information.pairs import Pairs, TensorPairs, fetch_many
from coview.information.train import Look, Schedule, Split, Trained, judge, train_critic

LOOKED_AT = 2000  # samples, for what needs no estimate
HELD_OUT, SELECTION = 1 / 4, 1 / 8  # of the samples
MOST_HELD_OUT, MOST_SELECTION = 32_768, 4096
NEAR = 1.0  # nats from the ceiling within which a bound falls noticeably short of the information


@dataclass(frozen=True)
class Estimate:
    """A lower bound on the information that two views share, on held-out pairs, as the mean over seeds."""

    bound: str
    nats: float
    spread: float  # standard deviation over the seeds, of which each holds out other samples
    samples: int
    held_out: int  # of each seed
    by_seed: tuple[float, ...] = ()
    training: float = math.nan  # the same on as many pairs that were learned from
    ceiling: float = math.inf
    others: Mapping[str, float] = field(
        default_factory=dict
    )  # other bounds, by the same critics on the same pairs
    curves: tuple[tuple[Look, ...], ...] = ()  # by seed
    warnings: tuple[str, ...] = ()

    @property
    def bits(self) -> float:
        return self.nats / math.log(2)

    @property
    def spread_bits(self) -> float:
        return self.spread / math.log(2)

    def __str__(self) -> str:
        text = f"{self.nats:.3f} ± {self.spread:.3f} nats ({self.bits:.3f} ± {self.spread_bits:.3f} bits)"
        said = f"{self.bound} on {self.held_out:,} of {self.samples:,} samples, {len(self.by_seed)} seeds"
        return "\n".join([f"{text}, {said}", *(f"! {warning}" for warning in self.warnings)])


@dataclass(frozen=True)
class _Judged:
    """What one seed came to."""

    trained: Trained
    held_out: Choices
    nats: float
    training: float


def estimate(
    pairs: Pairs,
    *,
    bound: Bound = MINE,
    critic: MakeCritic = separable,
    schedule: Schedule | None = None,
    seeds: int | Sequence[int] = 3,
) -> Estimate:
    """Train a critic for each seed on some of the pairs, and judge it by others; `seeds` says how many, or which.

    MINE is the sharpest of the bounds and can be too high where `ceiling` is near, InfoNCE never is but
    cannot exceed the log of how many there are to choose from.
    """
    schedule = schedule or Schedule()
    seeds = range(seeds) if isinstance(seeds, int) else seeds
    if not seeds:
        raise ValueError("wanted one seed or more, got none")
    _check_size(pairs, schedule)
    shown = fetch_many(pairs, torch.arange(min(len(pairs), LOOKED_AT), device=pairs.device), seed=0)
    if known := known_beforehand(*shown):
        return Estimate(bound.name, known[0], 0.0, len(pairs), 0, warnings=(known[1],))
    found = []
    for seed in seeds:
        split = (
            split_groups(pairs.group, seed) if pairs.group is not None else split_samples(len(pairs), seed)
        )
        split = Split(*(part.to(pairs.device) for part in split))
        trained = train_critic(critic, pairs, split, bound=bound, schedule=schedule, seed=seed)
        found.append(_judged(trained, pairs, split, bound))
    return _together(found, len(pairs), bound)


def mine(
    first: Shaped[Tensor, "N ..."],
    second: Shaped[Tensor, "_ ..."],
    *,
    critic: MakeCritic = separable,
    schedule: Schedule | None = None,
    seeds: int | Sequence[int] = 3,
) -> Estimate:
    """Mutual information neural estimation (Belghazi et al. 2018) of two tensors with a row for each sample."""
    return estimate(TensorPairs(first, second), bound=MINE, critic=critic, schedule=schedule, seeds=seeds)


def split_samples(samples: int, seed: int) -> Split:
    """Each seed holds out other samples, as long as there are some: after four it starts again."""
    held_out, selection = round(samples * HELD_OUT), round(samples * SELECTION)
    order = torch.randperm(samples, generator=torch.Generator().manual_seed(0)).roll(-seed * held_out)
    return _parts(order, held_out, selection)


def split_groups(group: Int[Tensor, "N"], seed: int) -> Split:
    """The same by whole groups, so that nothing of a held-out one has been seen."""
    names, group = group.cpu().unique(return_inverse=True)
    if len(names) < 3:
        raise ValueError(
            f"the samples are of {len(names)} groups, wanted are 3 or more: some are to be held out"
        )
    held_out, selection = max(round(len(names) * HELD_OUT), 1), max(round(len(names) * SELECTION), 1)
    place = torch.randperm(len(names), generator=torch.Generator().manual_seed(0))
    place = (place - seed * held_out) % len(names)  # of each group in the order in which they are dealt out
    shuffled = torch.randperm(len(group), generator=torch.Generator().manual_seed(1))
    order = shuffled[place[group[shuffled]].argsort(stable=True)]
    sizes = place[group].bincount(minlength=len(names)).cumsum(0)
    ends = int(sizes[held_out - 1]), int(sizes[held_out + selection - 1])
    return _parts(order, ends[0], ends[1] - ends[0])


def _parts(order: Int[Tensor, "N"], held_out: int, selection: int) -> Split:
    """Held out, selection and training, in this order; of very many not all are needed to judge by."""
    parts = order.split([held_out, selection, len(order) - held_out - selection])
    shuffled = [part[torch.randperm(len(part), generator=torch.Generator().manual_seed(2))] for part in parts]
    return Split(shuffled[2], shuffled[1][:MOST_SELECTION], shuffled[0][:MOST_HELD_OUT])


def _check_size(pairs: Pairs, schedule: Schedule) -> None:
    training = len(pairs) - round(len(pairs) * HELD_OUT) - round(len(pairs) * SELECTION)
    if training < schedule.batch or round(len(pairs) * SELECTION) < 2:
        raise ValueError(
            f"{len(pairs)} samples leave {training} to learn from, which fill no batch of {schedule.batch}: "
            "give more samples, or a schedule with a smaller batch"
        )


def _judged(trained: Trained, pairs: Pairs, split: Split, bound: Bound) -> _Judged:
    held_out = judge(trained.critic, pairs, split.held_out)
    training = judge(trained.critic, pairs, split.training[: len(split.held_out)])
    nats, learned = (float(bound.value(choices, trained.log_z)) for choices in (held_out, training))
    return _Judged(trained, held_out, nats, learned)


def _together(found: list[_Judged], samples: int, bound: Bound) -> Estimate:
    values = tuple(one.nats for one in found)
    others = {
        other.name: fmean(float(other.value(one.held_out, one.trained.log_z)) for one in found)
        for other in BOUNDS
        if other.name != bound.name
    }
    plain = Estimate(
        bound.name,
        nats=fmean(values),
        spread=stdev(values) if len(values) > 1 else 0.0,
        samples=samples,
        held_out=len(found[0].held_out.match),
        by_seed=values,
        training=fmean(one.training for one in found),
        ceiling=bound.ceiling(found[0].held_out),
        others=others,
        curves=tuple(one.trained.curve for one in found),
    )
    return replace(plain, warnings=tuple(_warnings(plain, settled=all(one.trained.settled for one in found))))


def _warnings(found: Estimate, *, settled: bool) -> Iterator[str]:
    if found.nats > found.ceiling - NEAR:
        yield (
            f"at its ceiling: {found.held_out:,} held-out samples tell {found.ceiling:.2f} nats at most, and the "
            "information may be far more, or infinite; give more samples"
        )
    if not settled:
        yield "has not settled: the second half of the steps still gained; raise steps"
    safe = found.others.get(INFONCE.name, -math.inf)
    if safe > 1.1 * found.nats + 0.05:
        yield f"a few wrong pairs spoil it: InfoNCE, by the same critics, proves {safe:.2f} nats"
    if found.training > 1.5 * max(found.nats, 0.0) + 0.1:
        yield (
            f"the critics know the pairs they learned from by heart ({found.training:.2f} nats there): "
            "with more samples the estimate would be higher"
        )
