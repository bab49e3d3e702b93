"""Where candidates come from: what may be among them, and how memory changes."""

import pytest
import torch
from torch.nn import functional as F

from coview.contrast import Bank, InBatch, NCELoss, Queue, softmax_loss
from coview.contrast.negatives.rows import OUT, WRITTEN
from coview.types import Candidates

SAMPLES, DIM, BATCH = 37, 5, 6


def tagged_bank(absent=(), **options) -> Bank:
    """A bank whose rows tell whose they are: row i has length 1 and a first number of i / 100."""
    present = torch.ones(SAMPLES, dtype=torch.bool)
    present[list(absent)] = False
    bank = Bank(["v", "w"], SAMPLES, DIM, present={"v": present}, **options)
    bank.rows("v")[:, 0] = torch.arange(SAMPLES) / 100 * present
    return bank


def owners(keys: torch.Tensor) -> torch.Tensor:
    return (keys[..., 0] * 100).round().long()


def chosen(bank: Bank, index: torch.Tensor) -> list[tuple[int, list[int]]]:
    """For each anchor, whose row the match is, and whose the negatives are."""
    candidates = bank.candidates("v", torch.randn(len(index), DIM), index)
    keys, found = candidates.keys, []
    for row in range(len(index)):
        mine = owners(keys if keys.ndim == 2 else keys[row]).tolist()
        match = int(candidates.match[row])
        valid = candidates.valid
        there = [True] * len(mine) if valid is None else (valid if valid.ndim == 1 else valid[row]).tolist()
        assert there[match]
        found.append((mine[match], [o for c, o in enumerate(mine) if there[c] and c != match]))
    return found


OPTIONS = [
    {"draw": "all"},
    {"draw": 9},
    {"draw": 9, "shared": False},
    {"draw": 500},
    {"draw": 500, "shared": False},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("absent", [(), (0, 3, 11, 36)])
def test_never_a_missing_or_self_row(options, absent):
    bank = tagged_bank(absent, **options)
    here = torch.tensor([i for i in range(SAMPLES) if i not in absent])
    for _ in range(30):
        index = here[torch.randperm(len(here))[:BATCH]]
        for own, (match, negatives) in zip(index.tolist(), chosen(bank, index), strict=True):
            assert match == own
            assert own not in negatives
            assert not set(absent) & set(negatives)


@pytest.mark.parametrize("options", OPTIONS)
def test_number_of_negatives(options):
    absent = (2, 5)
    bank = tagged_bank(absent, **options)
    there = SAMPLES - len(absent)
    wanted = {"all": there - 1, 9: 9, 500: there - 1 if options.get("shared", True) else 500}[options["draw"]]
    for _, negatives in chosen(bank, torch.tensor([0, 9, 1])):
        assert len(negatives) == wanted


def test_shared_draws_are_distinct_and_reach_every_row():
    bank = tagged_bank(draw=9)
    seen: set[int] = set()
    for _ in range(200):
        (_, first), (_, second) = chosen(bank, torch.tensor([4, 20]))
        assert len(set(first)) == 9
        seen |= set(first) | set(second)
    assert seen == set(range(SAMPLES))


def test_own_draws_are_uniform_over_the_others():
    bank = tagged_bank((7,), draw=2000, shared=False)
    counts = torch.bincount(torch.tensor(chosen(bank, torch.tensor([12]))[0][1]), minlength=SAMPLES)
    assert counts[12] == counts[7] == 0
    others = counts[counts > 0]
    assert len(others) == SAMPLES - 2
    assert others.max() < 2 * others.min()  # 57 expected each: five sigma


def test_paper_exact_draws_may_hold_the_match():
    bank = tagged_bank(draw=2000, shared=False, exclude_self=False)
    assert 12 in chosen(bank, torch.tensor([12]))[0][1]
    shared = tagged_bank(draw=30, exclude_self=False)
    assert any(12 in chosen(shared, torch.tensor([12]))[0][1] for _ in range(20))


def test_update_averages_and_renormalises():
    bank = Bank(["v"], SAMPLES, DIM, momentum=0.3)
    before, index, new = bank.rows("v").clone(), torch.tensor([30, 2]), torch.randn(2, DIM)
    bank.update({"v": new}, index)
    for row, sample in enumerate(index.tolist()):
        mixed = 0.3 * before[sample] + 0.7 * new[row] / new[row].norm()
        torch.testing.assert_close(bank.rows("v")[sample], mixed / mixed.norm())
    untouched = [i for i in range(SAMPLES) if i not in index]
    assert torch.equal(bank.rows("v")[untouched], before[untouched])


def test_rows_start_as_in_the_paper():
    rows = Bank(["v"], 3000, 48).rows("v")
    assert rows.abs().max() <= 1 / (48 / 3) ** 0.5
    assert rows.norm(dim=1).mean() == pytest.approx(1, abs=0.02)


def test_asking_changes_nothing():
    for options in OPTIONS:
        bank = tagged_bank((1,), start="empty", **options)
        bank.update({"v": torch.randn(3, DIM), "w": torch.randn(3, DIM)}, torch.tensor([0, 4, 8]))
        before = {name: value.clone() for name, value in bank.state_dict().items()}
        bank.candidates("v", torch.randn(2, DIM), torch.tensor([0, 2]))
        assert all(torch.equal(value, before[name]) for name, value in bank.state_dict().items())


def test_missing_views_stay_out_once_seen():
    bank = Bank(["v", "w"], SAMPLES, DIM)
    index, have = torch.tensor([3, 8, 5]), torch.tensor([True, False, True])
    bank.update({"v": torch.randn(3, DIM), "w": torch.randn(3, DIM)}, index, {"v": have})
    assert not bank.there("v")[8]
    assert bank.rows("v")[8].abs().sum() == 0
    assert bank.there("w").all()
    bank.update({"v": torch.randn(1, DIM)}, torch.tensor([8]))  # it turns up after all
    assert bank.there("v").all()


def test_a_written_row_outlives_a_batch_without_it():
    bank = Bank(["v"], SAMPLES, DIM)
    bank.update({"v": torch.randn(1, DIM)}, torch.tensor([8]))
    row = bank.rows("v")[8].clone()
    bank.update({"v": torch.zeros(1, DIM)}, torch.tensor([8]), {"v": torch.tensor([False])})
    assert torch.equal(bank.rows("v")[8], row)


def test_empty_start_uses_the_embedding_until_a_row_is_written():
    bank = Bank(["v"], SAMPLES, DIM, start="empty")
    embedding, index = torch.randn(3, DIM), torch.tensor([4, 9, 30])
    first = bank.candidates("v", embedding, index)
    torch.testing.assert_close(first.keys[index], F.normalize(embedding, dim=1))
    assert first.valid is not None
    assert first.valid.nonzero().squeeze(1).tolist() == [4, 9, 30]
    bank.update({"v": embedding}, index)
    torch.testing.assert_close(
        bank.rows("v")[index], F.normalize(embedding, dim=1)
    )  # nothing to average with
    later = bank.candidates("v", torch.randn(1, DIM), torch.tensor([4]))
    torch.testing.assert_close(later.keys[4], F.normalize(embedding[0], dim=0))
    state = bank.get_buffer("state_v")
    assert set(state.tolist()) == {OUT, WRITTEN}


def test_gaps_survive_a_checkpoint():
    bank = tagged_bank((2, 5))
    fresh = Bank(["v", "w"], SAMPLES, DIM)
    assert fresh.candidates("v", torch.randn(1, DIM), torch.tensor([0])).valid is None
    fresh.load_state_dict(bank.state_dict())
    valid = fresh.candidates("v", torch.randn(1, DIM), torch.tensor([0])).valid
    assert valid is not None
    assert valid.sum() == SAMPLES - 2


@pytest.mark.parametrize("index", [[0, SAMPLES], [-1, 3]])
def test_an_index_outside_the_bank(index):
    bank = Bank(["v"], SAMPLES, DIM)
    wrong = next(i for i in index if not 0 <= i < SAMPLES)
    with pytest.raises(IndexError, match=f"sample index {wrong} is outside the bank of 37 samples"):
        bank.candidates("v", torch.randn(2, DIM), torch.tensor(index))
    with pytest.raises(IndexError, match="outside the bank"):
        bank.update({"v": torch.randn(2, DIM)}, torch.tensor(index))


def test_bad_banks_say_why():
    with pytest.raises(ValueError, match="draw must be 'all' or a number of negatives, got 0"):
        Bank(["v"], SAMPLES, DIM, draw=0)
    with pytest.raises(ValueError, match="no view 'x': it was made for v"):
        Bank(["v"], SAMPLES, DIM).rows("x")
    with pytest.raises(ValueError, match="two samples"):
        Bank(["v"], 1, DIM, draw=3, shared=False).candidates("v", torch.randn(1, DIM), torch.tensor([0]))


def test_queue_keeps_the_latest_and_leaves_out_self():
    queue = Queue(["v"], 5, DIM)
    rows = torch.randn(7, DIM)
    queue.update({"v": rows[:4]}, torch.tensor([10, 11, 12, 13]))
    queue.update({"v": rows[4:]}, torch.tensor([14, 15, 16]))
    assert sorted(queue.get_buffer("index_v").tolist()) == [12, 13, 14, 15, 16]
    current = torch.randn(2, DIM)
    candidates = queue.candidates("v", current, torch.tensor([13, 40]))
    assert candidates.valid is not None
    assert candidates.valid.tolist() == [True] * 2 + [
        True,
        True,
        True,
        False,
        True,
    ]  # the row of 13 is in the third
    assert torch.equal(candidates.keys[candidates.match], current)
    there = candidates.keys[candidates.valid]
    assert sorted(there.tolist()) == sorted([*current.tolist(), rows[2].tolist(), *rows[4:].tolist()])
    nobody = queue.candidates("v", current[:0], torch.tensor([], dtype=torch.long))
    assert nobody.valid is not None
    assert nobody.valid.all()


@pytest.mark.parametrize("loss", [softmax_loss, NCELoss(20, "exact")])
def test_queue_has_each_sample_of_the_batch_once_and_newest(loss):
    """Written out: the batch's current keys, and the last five keys of all others."""
    queue = Queue(["v"], 5, DIM)
    earlier = F.normalize(torch.randn(9, DIM), dim=1)
    whose = [3, 1, 4, 15, 9, 2, 6, 5, 8]
    for first in (0, 3, 6):
        queue.update({"v": earlier[first : first + 3]}, torch.tensor(whose[first : first + 3]))
    index = torch.tensor([9, 7, 8, 2])
    query, current = 3 * torch.randn(4, DIM), F.normalize(torch.randn(4, DIM), dim=1)
    others = [key for key, owner in list(zip(earlier, whose, strict=True))[-5:] if owner not in (9, 7, 8, 2)]
    assert len(others) == 2
    keys = torch.stack([*current, *others])
    wanted = loss(query, Candidates(keys, torch.arange(4)))
    torch.testing.assert_close(loss(query, queue.candidates("v", current, index)), wanted)


def test_queue_keeps_rows_in_a_precision():
    assert Queue(["v"], 3, DIM, precision="bfloat16").get_buffer("rows_v").dtype == torch.bfloat16
    with pytest.raises(ValueError, match=r"precision must be .* got 'half'"):
        Queue(["v"], 3, DIM, precision="half")
    with pytest.raises(ValueError, match="a queue holds 1 row or more, got size=0"):
        Queue(["v"], 0, DIM)


def test_queue_skips_what_is_missing_and_takes_the_end_of_a_large_batch():
    queue = Queue(["v"], 3, DIM)
    have = torch.tensor([True, False, True, True, True])
    queue.update({"v": torch.randn(5, DIM)}, torch.arange(5), {"v": have})
    assert sorted(queue.get_buffer("index_v").tolist()) == [2, 3, 4]


def test_queue_that_holds_the_batch_gives_the_in_batch_loss():
    query, target, index = torch.randn(BATCH, DIM), torch.randn(BATCH, DIM), torch.arange(BATCH)
    queue = Queue(["v"], BATCH, DIM)
    queue.update({"v": target}, index)
    expected = softmax_loss(query, InBatch().candidates("v", target, index))
    torch.testing.assert_close(softmax_loss(query, queue.candidates("v", target, index)), expected)
