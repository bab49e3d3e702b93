"""Rank correlation, equal to scipy's, and what a claim makes of it."""

import pytest
import torch
from scipy.stats import spearmanr

from coview.reports.outcome import Line, Numbers
from coview.studies import Claim, correlated
from coview.studies.ranks import rank_correlation, ranks


def rows(pairs):
    return {
        f"row {number}": Line(f"row {number}", {"nats": Numbers((x,)), "top-1": Numbers((y, y + 1))})
        for number, (x, y) in enumerate(pairs)
    }


def test_it_equals_scipys_and_so_does_its_chance():
    torch.manual_seed(3)
    for size in (5, 9, 30):
        values, others = torch.randn(size).tolist(), torch.randn(size).mul(2).round().tolist()
        rank, chance = rank_correlation(values, others)
        theirs = spearmanr(values, others)
        assert rank == pytest.approx(theirs.statistic)
        assert chance == pytest.approx(theirs.pvalue, abs=0.05)


def test_equal_values_share_their_ranks():
    assert ranks([3.0, 1.0, 3.0, 2.0]) == [3.5, 1.0, 3.5, 2.0]


def test_of_a_few_rows_all_orders_count():
    _, chance = rank_correlation([1, 2, 3, 4], [10, 20, 30, 40])
    assert chance == pytest.approx(2 / 24, abs=0.01)  # this order and the reverse, of all 24


@pytest.mark.parametrize(
    ("pairs", "falling", "word"),
    [
        ([(n, 50 - n) for n in range(7)], True, "holds"),
        ([(n, 50 - n) for n in range(7)], False, "does not hold"),
        ([(n, 50 - n) for n in range(4)], True, "cannot be said"),  # four rows prove nothing
        ([(n, n * 3 % 7) for n in range(7)], True, "cannot be said"),
        ([(1, 2), (2, 3), (3, 4)], False, "cannot be said"),
    ],
)
def test_verdicts(pairs, falling, word):
    found = Claim("low information goes with high accuracy", correlated("nats", "top-1", falling=falling))
    verdict = found.verdict(rows(pairs))
    assert verdict.word == word
    assert f"{len(pairs)} rows" in verdict.reason


def test_rows_without_both_numbers_do_not_count():
    lines = rows([(n, n) for n in range(5)]) | {"lone": Line("lone", {"nats": Numbers((-50.0,))})}
    assert Claim("", correlated("nats", "top-1")).verdict(lines).word == "holds"
