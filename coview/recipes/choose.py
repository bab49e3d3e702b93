"""Which views to contrast, by how much every pair of them shares (section 4.4): advice, not proof."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from coview.contrast import PairGraph, core_graph, full_graph
from coview.information import Estimate, Pairs
from coview.types import Fields, View

NOTHING = 0.05  # nats below which two views share nothing that an estimate can tell from its noise
ENOUGH = 0.75  # share of what all pairs share that a core view must have in its own pairs
MOST_VIEWS = 12  # of which all ways to cut them in two are looked at

CAVEATS = (
    "These are lower bounds by networks of a certain size on so many samples; where one is at its ceiling, pairs "
    "are not told apart.",
    "Information does not say what it is about: views are good that share what matters and have their own noise. The "
    "paper finds the colour spaces best whose parts share least, HSV excepted (its hue is an angle), and for patches "
    "at a distance an optimum between too much and too little.",
    "What three views share is counted by each of their pairs, so sums over pairs say more than there is.",
)
"""What the paper, and arithmetic, hold against reading too much into estimates."""


@dataclass(frozen=True)
class Sharing:
    """What every pair of some views shares."""

    views: tuple[str, ...]
    estimates: Mapping[frozenset[str], Estimate]

    def nats(self, first: str, second: str) -> float:
        return max(self.estimates[frozenset((first, second))].nats, 0.0)

    def shares(self, first: str, second: str) -> bool:
        """Whether two views share more than nothing, beyond the spread."""
        found = self.estimates[frozenset((first, second))]
        return found.nats > max(NOTHING, found.spread)

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        return combinations(self.views, 2)

    @property
    def alone(self) -> tuple[str, ...]:
        """Views that share nothing with any other."""
        return tuple(
            view for view in self.views if not any(self.shares(view, o) for o in self.views if o != view)
        )

    @property
    def same(self) -> tuple[tuple[str, str], ...]:
        """Pairs of which one fixes the other: contrast between them discards nothing."""
        return tuple(pair for pair in self.pairs if math.isinf(self.nats(*pair)))


@dataclass(frozen=True)
class Advice:
    """A pair graph, or none where there is nothing to contrast, and why."""

    graph: PairGraph | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Cut:
    """Views in two groups, each to be one view of its own, and the mean of what pairs across share."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    across: float

    @property
    def name(self) -> str:
        return f"{' '.join(self.first)} | {' '.join(self.second)}"


def survey(
    views: Sequence[str], pairs: Callable[[str, str], Pairs], ask: Callable[[Pairs], Estimate]
) -> Iterator[tuple[tuple[str, str], Estimate]]:
    """The estimate of every pair of views, one after the other."""
    if len(set(views)) < 2 or len(set(views)) < len(views):
        raise ValueError(f"wanted two or more different views to choose from, got {list(views)}")
    for first, second in combinations(views, 2):
        yield (first, second), ask(pairs(first, second))


def advise(sharing: Sharing) -> Advice:
    """The core view or the full graph, whichever the estimates favour, without what shares nothing."""
    views = [view for view in sharing.views if view not in sharing.alone]
    reasons = [f"{view} shares nothing with any other view: left out" for view in sharing.alone]
    reasons += [
        f"{a} and {b} fix each other: contrast between them discards nothing" for a, b in sharing.same
    ]
    if len(views) < 2:
        return Advice(None, (*reasons, "no two views share anything: there is nothing to learn by contrast"))
    if len(views) == 2:
        return Advice(full_graph(views), (*reasons, f"{views[0]} and {views[1]} are the only pair"))
    core, share = best_core(sharing, views)
    told = f"the pairs of {core}, the best core view, have {share:.0%} of what all pairs share"
    if share >= ENOUGH:
        others = [view for view in views if view != core and sharing.shares(core, view)]
        left = [view for view in views if view != core and view not in others]
        reasons += [f"{view} shares nothing with {core}: left out of its pairs" for view in left]
        return Advice(core_graph(core, others), (*reasons, f"core view {core}: {told}"))
    idle = [(a, b) for a, b in combinations(views, 2) if not sharing.shares(a, b)]
    reasons += [f"{a} and {b} share nothing: no edge between them" for a, b in idle]
    edges = [pair for pair in combinations(views, 2) if pair not in idle]
    return Advice(PairGraph(edges), (*reasons, f"full graph: {told}, the rest is between the others"))


def best_core(sharing: Sharing, views: Sequence[str]) -> tuple[str, float]:
    """The view whose pairs share most, and what share of all pairs' sum that is; ties go to the first."""
    finite = max(
        (n for pair in combinations(views, 2) if not math.isinf(n := sharing.nats(*pair))), default=1.0
    )
    nats = {frozenset(pair): min(sharing.nats(*pair), finite) for pair in combinations(views, 2)}
    sums = {view: sum(value for pair, value in nats.items() if view in pair) for view in views}
    core = max(views, key=sums.__getitem__)
    return core, sums[core] / sum(nats.values())


def cuts(sharing: Sharing) -> list[Cut]:
    """Every way to make two views of all, those first whose groups share least; what shares nothing is left out."""
    views = [view for view in sharing.views if view not in sharing.alone]
    if len(views) > MOST_VIEWS:
        raise ValueError(
            f"{len(views)} views can be cut in two in too many ways: choose {MOST_VIEWS} at most"
        )
    found = []
    for size in range(1, len(views)):
        for first in combinations(views, size):
            second = tuple(view for view in views if view not in first)
            if views[0] in first:  # each cut once
                found.append(Cut(first, second, _mean_across(sharing, first, second)))
    return sorted((cut for cut in found if cut.across > NOTHING), key=lambda cut: cut.across)


def joined(views: Sequence[View]) -> View:
    """Several views as one: maps by their channels, tables by their columns."""

    def view(fields: Fields) -> Tensor:
        parts = [one(fields) for one in views]
        return torch.cat(parts, 1 if parts[0].ndim == 2 else -3)

    return view


def channels(view: View, name: str, count: int) -> dict[str, View]:
    """Each channel of a view as a view, by its number."""
    return {f"{name}{number}": _channel(view, number) for number in range(count)}


def _channel(view: View, number: int) -> View:
    def one(fields: Fields) -> Tensor:
        values = view(fields)
        return values.narrow(1 if values.ndim == 2 else -3, number, 1)

    return one


def _mean_across(sharing: Sharing, first: Sequence[str], second: Sequence[str]) -> float:
    values = [sharing.nats(a, b) for a in first for b in second]
    return sum(values) / len(values)
