"""Whether rows that rank high in one column rank high, or low, in another: Spearman's correlation and its chance."""

from collections.abc import Callable, Sequence
from statistics import fmean

import torch

from coview.studies.claims import FAILS, HOLDS, OPEN, Lines, Missing, Verdict

SHUFFLES = 20_000
DRAWS = 1000
LEVEL = 0.05


def correlated(column: str, other: str, *, falling: bool = False) -> Callable[[Lines], Verdict]:
    """Rows rank alike in two columns, or the other way around; beyond what chance gives in one of twenty tries."""

    def check(lines: Lines) -> Verdict:
        both = [one.numbers for one in lines.values() if column in one.numbers and other in one.numbers]
        if len(both) < 4:
            raise Missing(f"{len(both)} rows have both {column} and {other}: ranks want four or more")
        rank, chance = rank_correlation([one[column].mean for one in both], [one[other].mean for one in both])
        low, high = resampled([one[column].mean for one in both], [one[other].mean for one in both])
        reason = (
            f"rank correlation {rank:.2f} ({low:.2f} to {high:.2f} for 95 % of draws of rows with replacement) over "
            f"{len(both)} rows, by chance as far from 0 in {chance:.1%} of tries"
        )
        if chance > LEVEL:
            return Verdict(OPEN, reason)
        return Verdict(HOLDS if (rank < 0) == falling else FAILS, reason)

    return check


def rank_correlation(values: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Spearman's correlation, and the share of random orders that give one as far from 0."""
    one, other = (_standard(ranks(found)) for found in (values, others))
    found = float(one @ other)
    generator = torch.Generator().manual_seed(0)
    orders = torch.rand(SHUFFLES, len(other), generator=generator).argsort(1)
    by_chance = (other[orders] @ one).abs() >= abs(found) - 1e-9
    return found, float(by_chance.double().mean())


def resampled(values: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """How far the correlation strays with the rows that happen to be there: the middle 95 % of bootstrap draws."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(len(values), (DRAWS, len(values)), generator=generator).tolist()
    found = []
    for rows in drawn:
        one, other = _standard(ranks([values[n] for n in rows])), _standard(ranks([others[n] for n in rows]))
        if bool(one.any()) and bool(other.any()):  # else all rows drawn have one value
            found.append(float(one @ other))
    low, high = torch.tensor(found, dtype=torch.float64).quantile(
        torch.tensor([0.025, 0.975], dtype=torch.float64)
    )
    return float(low), float(high)


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [fmean(place for place, one in enumerate(ordered, start=1) if one == value) for value in values]


def _standard(values: Sequence[float]) -> torch.Tensor:
    """Shifted and scaled so that a product of two is their correlation."""
    centred = torch.tensor(values, dtype=torch.float64)
    centred = centred - centred.mean()
    return centred / centred.norm().clamp(min=1e-12)
