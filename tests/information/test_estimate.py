"""Estimates beside the truth: Gaussians, maps that keep information, views without any, and what is warned of."""

import math
import warnings
from dataclasses import replace
from functools import partial

import pytest
import torch

from coview.information import (
    INFONCE,
    MINE,
    Estimate,
    Schedule,
    TensorPairs,
    concatenated,
    estimate,
    gaussian_pairs,
    interpolation,
    mine,
    separable,
)
from coview.information.estimate import _warnings, split_groups, split_samples

SHORT = Schedule(steps=60, batch=256, looks=4, warmup=10)
PLAIN = partial(separable, gaussian=False, width=64, dim=16)  # the networks alone


def pairs(nats, dimensions, samples, seed=1):
    return gaussian_pairs(nats, dimensions, samples, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("nats", "dimensions"), [(0.5, 2), (2.0, 5), (4.0, 20), (8.0, 2), (8.0, 20)])
def test_gaussians(nats, dimensions):
    """Within 10 % and not above by more than 5 %, where the held-out samples reach so far."""
    found = mine(*pairs(nats, dimensions, 16_000), schedule=SHORT, seeds=1)
    assert 0.9 * nats < found.nats < 1.05 * nats
    assert found.others["NWJ"] == pytest.approx(nats, rel=0.1)
    if nats < 8:  # there they fall short by log(1 + exp(nats) / choices)
        assert found.others["InfoNCE"] == pytest.approx(nats, rel=0.1)
        assert found.others["interpolated 0.5"] == pytest.approx(nats, rel=0.1)
        assert found.warnings == ()
    assert max(found.others.values()) < 1.05 * nats


def test_networks_alone_find_it_too():
    schedule = replace(SHORT, steps=350, looks=7)
    found = mine(*pairs(2.0, 2, 8000), critic=PLAIN, schedule=schedule, seeds=1)
    assert 1.8 < found.nats < 2.1
    assert found.curves[0][0].selection == pytest.approx(0, abs=1e-5)


def test_a_concatenated_critic_trained_by_the_interpolated_bound():
    critic = partial(concatenated, width=32, shifts=4, gaussian=False)
    schedule = replace(SHORT, steps=150, looks=3)
    found = estimate(
        TensorPairs(*pairs(1.0, 2, 4000)), bound=interpolation(0.5), critic=critic, schedule=schedule, seeds=1
    )
    assert 0.8 < found.nats < 1.05
    assert found.bound == "interpolated 0.5"
    assert set(found.others) == {"MINE", "InfoNCE", "NWJ"}


def test_independent_views_share_nothing():
    first, second = torch.randn(4000, 3).exp(), torch.rand(4000, 6)
    for critic in (separable, PLAIN):
        assert abs(mine(first, second, critic=critic, schedule=SHORT, seeds=1).nats) < 0.05


def curved(view):
    """Invertible: each component is moved by what those before it are."""
    return torch.stack([view[:, 0], view[:, 1] + view[:, 0] ** 2], 1)


@pytest.mark.parametrize(
    ("keep", "tolerance"),
    [
        (lambda view: -3 * view @ torch.tensor([[2.0, 1.0], [0.5, -4.0]]) + 9, 0.01),
        (lambda view: view.flip(1).double() * 1e-4, 0.01),
        (torch.exp, 0.03),
        (lambda view: view**3, 0.03),
        (curved, 0.17),
    ],
    ids=["affine", "units", "exp", "cube", "curved"],
)
def test_a_map_that_keeps_information_keeps_the_estimate(keep, tolerance):
    first, second = pairs(2.0, 2, 5000)
    schedule = replace(SHORT, steps=250 if keep is curved else 60)
    plain = mine(first, second, schedule=SHORT, seeds=1).nats
    assert mine(first, keep(second), schedule=schedule, seeds=1).nats == pytest.approx(plain, rel=tolerance)


def test_what_is_shared_need_not_be_linear():
    """A point on a circle, and another within an arc from it on: log(1 / arc)."""
    arc, turns = 0.2, torch.rand(8000)
    later = turns + arc * torch.rand(8000)
    first, second = (
        torch.stack([(2 * math.pi * t).cos(), (2 * math.pi * t).sin()], 1) for t in (turns, later)
    )
    found = mine(first, second, schedule=replace(SHORT, steps=350), seeds=1)
    assert 0.84 * math.log(5) < found.nats < 1.02 * math.log(5)


def test_classes_in_common():
    label = torch.randint(4, (6000,))
    centre = 5 * torch.randn(4, 3)
    first, second = (centre[label] + 0.2 * torch.randn(6000, 3) for _ in range(2))
    found = mine(first, second, schedule=replace(SHORT, steps=200), seeds=1)
    assert 0.9 * math.log(4) < found.nats < 1.05 * math.log(4)


def test_pictures():
    """A bright spot at one of six places, in both pictures: log 6, whatever else is in them."""
    place = torch.randint(6, (3000,))

    def draw(channels):
        picture = 0.2 * torch.randn(3000, channels, 8, 12)
        picture[torch.arange(3000), :, 3, 2 * place] += 3
        return picture

    first, second = draw(1), draw(2)
    schedule = replace(SHORT, steps=80, batch=128)
    found = mine(first, second, schedule=schedule, seeds=1)
    assert 0.9 * math.log(6) < found.nats < 1.05 * math.log(6)
    mirrored = mine(1 - 40 * first, second.flip(3), schedule=schedule, seeds=1)
    assert mirrored.nats == pytest.approx(found.nats, rel=0.05)


def test_seeds_hold_out_other_samples_and_give_a_spread():
    found = mine(*pairs(1.0, 2, 3000), schedule=SHORT, seeds=3)
    assert len(found.by_seed) == len(found.curves) == 3
    assert found.nats == pytest.approx(sum(found.by_seed) / 3)
    assert found.spread == pytest.approx(float(torch.tensor(found.by_seed).double().std()))
    assert found.spread > 0
    assert found.bits == pytest.approx(found.nats / math.log(2))
    splits = [split_samples(3000, seed) for seed in range(3)]
    assert len(torch.cat([split.held_out for split in splits]).unique()) == 3 * found.held_out == 2250
    for split in splits:
        assert len(torch.cat(split).unique()) == 3000
    assert [look.step for look in found.curves[0]] == [0, 15, 30, 45, 60]


def test_whole_groups_are_held_out():
    group = torch.randint(40, (900,)) * 7
    splits = [split_groups(group, seed) for seed in range(4)]
    for split in splits:
        parts = [set(group[part].tolist()) for part in split]
        assert [len(part) for part in parts] == [25, 5, 10]
        assert len(set.union(*parts)) == 40
        assert len(torch.cat(split).unique()) == 900
        assert not torch.equal(split.training, split.training.sort().values)
    assert len(set.union(*(set(group[split.held_out].tolist()) for split in splits))) == 40
    with pytest.raises(ValueError, match="the samples are of 2 groups, wanted are 3 or more"):
        split_groups(torch.tensor([0, 1, 1, 0]), 0)


def test_what_only_tells_groups_apart_that_were_seen_is_not_believed():
    """Both views know their group by a name without a pattern: new groups have names that were never learned."""
    group = torch.arange(1600) % 100
    names = torch.randn(2, 100, 12)
    first, second = (name[group] + 0.05 * torch.randn(1600, 12) for name in names)
    among_all = mine(first, second, critic=PLAIN, schedule=replace(SHORT, steps=150), seeds=1)
    pairs = TensorPairs(first, second, group)
    by_group = estimate(pairs, critic=PLAIN, schedule=replace(SHORT, steps=150), seeds=1)
    assert among_all.nats > 1
    assert abs(by_group.nats) < 0.1


def test_the_same_seeds_give_the_same_estimate_and_leave_other_draws_alone():
    first, second = pairs(1.0, 2, 1500)
    torch.manual_seed(8)
    found = mine(first, second, schedule=SHORT, seeds=1)
    after = torch.rand(())
    torch.manual_seed(8)
    assert torch.rand(()) == after
    assert mine(first, second, schedule=SHORT, seeds=[0]) == found
    assert mine(first, second, schedule=SHORT, seeds=[1]).by_seed != found.by_seed


def test_at_its_ceiling_it_says_so():
    first, second = pairs(8.0, 2, 1500)
    for bound, ceiling in ((INFONCE, math.log(374)), (MINE, 0.5 * math.log(375 * 374))):
        found = estimate(TensorPairs(first, second), bound=bound, schedule=SHORT, seeds=1)
        assert found.ceiling == pytest.approx(ceiling)
        assert bound is MINE or found.nats < found.ceiling
        text = f"at its ceiling: 375 held-out samples tell {ceiling:.2f} nats at most, and the information may be far"
        assert any(warning.startswith(text) for warning in found.warnings)


def test_where_a_few_wrong_pairs_spoil_mine_the_safer_bound_is_named():
    """A critic that is wildly wrong about one pair among thousands."""
    spoiled = Estimate("MINE", 1.0, 0.0, 900, 200, others={"InfoNCE": 2.0})
    (warning,) = _warnings(spoiled, settled=True)
    assert warning.endswith("InfoNCE, by the same critics, proves 2.00 nats")
    assert not list(_warnings(replace(spoiled, nats=1.9), settled=True))


def test_it_says_when_it_has_not_settled():
    first, second = pairs(4.0, 2, 3000)
    schedule = replace(SHORT, steps=25, looks=25, learning_rate=1e-3)
    found = mine(first, second, critic=PLAIN, schedule=schedule, seeds=1)
    assert any("has not settled" in text for text in found.warnings)


def test_what_is_known_by_heart_does_not_count():
    first, second = torch.randn(400, 30), torch.randn(400, 30)
    schedule = Schedule(steps=150, batch=128, looks=150, warmup=5)
    found = mine(first, second, critic=PLAIN, schedule=schedule, seeds=1)
    assert max(look.training for look in found.curves[0]) > 1
    assert found.nats < 0.05


def test_identical_constant_few_and_unequal():
    view = torch.randn(600, 2)
    same = mine(view, view.clone(), schedule=SHORT)
    assert same.nats == math.inf
    assert "infinite" in same.warnings[0]
    nothing = mine(view, torch.ones(600, 2), schedule=SHORT)
    assert nothing.nats == 0
    assert "the second view is the same for all samples" in nothing.warnings[0]
    with pytest.raises(ValueError, match="400 samples leave 250 to learn from, which fill no batch of 256"):
        mine(view[:400], view[:400], schedule=SHORT)
    with pytest.raises(ValueError, match="got 600 samples of the first view and 599 of the second"):
        mine(view, view[1:])
    with pytest.raises(ValueError, match="one seed or more, got none"):
        mine(view, view, seeds=0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps must be 1 or more"),
        ({"batch": 1}, "batch must be 2 or more"),
        ({"memory": 1.0}, "memory"),
    ],
)
def test_schedules_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        Schedule(**settings)


def test_an_estimate_reads_as_a_sentence():
    found = Estimate("MINE", math.log(2), 0.1, 8000, 2000, by_seed=(0.6, 0.8), warnings=("at its ceiling",))
    assert str(found) == (
        "0.693 ± 0.100 nats (1.000 ± 0.144 bits), MINE on 2,000 of 8,000 samples, 2 seeds\n! at its ceiling"
    )


def test_nothing_is_warned_of_by_python():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine(*pairs(1.0, 2, 800), schedule=replace(SHORT, steps=5), seeds=1)
