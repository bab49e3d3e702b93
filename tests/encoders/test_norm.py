"""Batch norm over several processes: as of one with all samples, and keys among shuffled samples."""

from itertools import combinations

import pytest
import torch
from encoders.crew_of_norms import CPU, keys, network, normed, pictures, with_gaps
from torch import nn
from warm import together

from coview.encoders import is_synchronised, synchronise
from coview.encoders.norm import SynchronisedNorm


@pytest.mark.parametrize("rows", [[3, 5], [8, 0]])
def test_statistics_are_those_of_all_samples(rows, tmp_path):
    net, whole = network(), pictures(8).requires_grad_()
    found = net(whole)
    (found * torch.randn(8, 60, generator=torch.Generator().manual_seed(2))).sum().backward()
    right = {"found": found.detach(), "input": whole.grad, **net.state_dict()}
    right |= {f"slope {name}": value.grad for name, value in net.named_parameters()}
    right["still"] = net.eval()(pictures(3)).detach()
    for mine in together(normed, rows, folder=tmp_path):
        assert mine.keys() == right.keys()
        for name, value in right.items():
            torch.testing.assert_close(mine[name], value, rtol=1e-4, atol=1e-4, msg=name)


def test_a_process_without_samples_takes_part(tmp_path):
    first, second = together(with_gaps, folder=tmp_path)
    assert (first.abs().sum(2) > 0).all()
    assert (second.abs().sum(2) > 0).tolist() == [[True, False, False, False], [False] * 4]


@pytest.mark.parametrize("groups", [1, 2])
def test_keys_are_encoded_among_others(groups, tmp_path):
    """Of 8 samples 4 or 2 are encoded together, and who they are is dealt over both processes."""
    first, second = together(keys, groups, folder=tmp_path)
    for mine, view in ((first, pictures(8)[:4]), (second, pictures(8)[4:])):
        assert mine.shape == (4, 60)
        assert not torch.allclose(mine, network()(view), atol=1e-3)
    everyone = torch.cat([first, second])
    every = [list(some) for some in combinations(range(8), 4 // groups)]
    fits = [some for some in every if torch.allclose(everyone[some], network()(pictures(8)[some]), atol=1e-4)]
    assert sorted(sample for some in fits for sample in some) == list(range(8))  # each is in one group
    assert any(min(some) < 4 <= max(some) for some in fits)


def test_a_batch_norm_that_is_not_to_notice_does_not():
    net = network()
    synchronise(net, CPU)
    part = net[1]
    part.momentum = 0.0  # as while tiles of a jigsaw go through
    before = part.running_mean.clone()
    net(pictures(4))
    assert torch.equal(part.running_mean, before)


def test_every_batch_norm_is_found():
    net = nn.ModuleDict({"a": network(), "b": nn.BatchNorm1d(4), "c": nn.Linear(2, 3)})
    assert not is_synchronised(net)
    before = net.state_dict()
    synchronise(net, CPU)
    assert is_synchronised(net["b"])
    assert is_synchronised(net["a"])
    assert not is_synchronised(net["c"])
    after = net.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert [type(part) for part in net["a"]][1] is SynchronisedNorm


def test_batch_norms_of_others_are_refused():
    class Mine(nn.BatchNorm2d):
        """With something more."""

    with pytest.raises(ValueError, match="batch_norm is 'synchronised', but a Mine can only be on a GPU"):
        synchronise(nn.Sequential(Mine(3)), CPU)
