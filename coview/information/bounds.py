"""Lower bounds on mutual information, from a loss or from a critic's scores of right and wrong pairs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

ANCHORS = 1024  # at a time


@dataclass(frozen=True)
class Choices:
    """What a critic says of N right pairs, and of the wrong pairs of each anchor taken together."""

    match: Float[Tensor, "N"]  # the score of the right pair
    wrong: Float[Tensor, "N"]  # log of the mean of exp(score) over the wrong ones
    count: int  # wrong ones that each anchor has


def choices_of(scores: Float[Tensor, "N N"]) -> Choices:
    """From the scores of all pairs of N samples; the right ones are on the diagonal."""
    own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    count = len(scores) - 1
    wrong = scores.masked_fill(own, -torch.inf).logsumexp(1) - math.log(count)
    return Choices(scores.diagonal(), wrong, count)


def infonce_bound(loss: Tensor | float, log_negatives: Tensor | float) -> Tensor | float:
    """I(V1; V2) >= log k - loss, for k negatives (equation 6); it cannot exceed log k."""
    return log_negatives - loss


def infonce(choices: Choices, log_z: Tensor | float = 0.0) -> Tensor:
    """Equation 6 for scores: the softmax needs no normaliser."""
    log_negatives = math.log(choices.count)
    loss = F.softplus(choices.wrong + log_negatives - choices.match).mean()
    return torch.as_tensor(infonce_bound(loss, log_negatives))


@torch.no_grad()
def infonce_over_all(
    query: Float[Tensor, "B D"], keys: Float[Tensor, "N D"], match: Int[Tensor, "B"] | None = None
) -> Tensor:
    """Equation 6 with all N keys in the denominator: its ceiling is log N. Without `match`, row n belongs to key n."""
    from coview.contrast.exact import exact_softmax  # the objective of that package shows our bound

    match = torch.arange(len(query), device=query.device) if match is None else match
    parts = zip(query.split(ANCHORS), match.split(ANCHORS), strict=True)
    loss = torch.cat([exact_softmax(some, keys, right) for some, right in parts]).mean()
    return torch.as_tensor(infonce_bound(loss, math.log(len(keys) - 1)))


def donsker_varadhan(choices: Choices, log_z: Tensor | float = 0.0) -> Tensor:
    """E[score] over right pairs - log E[exp(score)] over wrong ones; normalised by the very pairs it looks at."""
    return choices.match.mean() - log_mean_exp(choices.wrong)


def nwj(choices: Choices, log_z: Tensor | float = 0.0) -> Tensor:
    """Nguyen, Wainwright and Jordan: as above, normalised beforehand by a `log_z` that came from other pairs."""
    return (choices.match - log_z).mean() + 1 - (choices.wrong - log_z).exp().mean()


def interpolated(choices: Choices, log_z: Tensor | float = 0.0, *, alpha: float = 0.5) -> Tensor:
    """Poole et al. (2019): between NWJ (alpha 0) and InfoNCE (1) in bias and in variance; at most log k / alpha."""
    baseline = torch.as_tensor(log_z, device=choices.match.device) + math.log1p(-alpha)
    share = math.log(choices.count / (choices.count + 1))
    everyone = torch.logaddexp(choices.wrong + share, choices.match - math.log(choices.count + 1))
    right = choices.match - torch.logaddexp(everyone + math.log(alpha), baseline)
    wrong = choices.wrong - torch.logaddexp(choices.wrong + math.log(alpha), baseline)
    return 1 + right.mean() - wrong.exp().mean()


def log_mean_exp(values: Float[Tensor, "N"]) -> Float[Tensor, ""]:
    """log of the mean of exp."""
    return values.logsumexp(0) - math.log(len(values))


@dataclass(frozen=True)
class Bound:
    """A bound that critics are trained to raise, and what it comes to for a trained one."""

    name: str
    value: Callable[[Choices, Tensor], Tensor]
    raised: Callable[[Choices, Tensor], Tensor]
    ceiling: Callable[[Choices], float]  # what so many pairs cannot prove more than, or not reliably


def _all_choices(choices: Choices) -> float:
    return math.log(choices.count)


def _all_pairs(choices: Choices) -> float:
    """exp(information) / root(pairs) is how far the mean over wrong pairs of the best critic's exp(score) strays."""
    return 0.5 * math.log(choices.count * len(choices.match))


def interpolation(alpha: float = 0.5) -> Bound:
    """The bound of Poole et al. for one alpha."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 (that is NWJ) and 1 (that is InfoNCE), got {alpha}")
    bound = partial(interpolated, alpha=alpha)
    return Bound(
        f"interpolated {alpha:g}", bound, bound, lambda choices: _all_choices(choices) - math.log(alpha)
    )


# The slope of log E[exp(score)] is that of E[exp(score)] / E[exp(score)]; MINE takes a moving average for the latter,
# since that of a batch alone gives a biased slope (Belghazi et al. 2018). That is NWJ with the average as normaliser.
MINE = Bound("MINE", donsker_varadhan, nwj, _all_pairs)
NWJ = Bound("NWJ", nwj, nwj, _all_pairs)
INFONCE = Bound("InfoNCE", infonce, infonce, _all_choices)
BOUNDS = (MINE, INFONCE, NWJ, interpolation(0.5))
