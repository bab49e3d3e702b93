"""Protocols: each kind of probe under each of them, and what they choose without a look at the test set."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from coview.probes import (
    ADVISED,
    OURS,
    PAPER,
    PROTOCOLS,
    find_protocol,
    knn_probe,
    linear_probe,
    mlp_probe,
    probe_by,
)
from coview.probes.protocol import KINDS


def rings(samples: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """Two classes apart along the first of four features, which are large and far from zero."""
    generator = torch.Generator().manual_seed(seed)
    label = torch.arange(samples) % 2
    features = torch.randn(samples, 4, generator=generator)
    features[:, 0] += 6 * label
    return 3 * features + torch.tensor([0.0, 5.0, -3.0, 1.0]), label


def short(protocol):
    """The same with less to do."""
    linear = protocol.linear and replace(protocol.linear, epochs=12, batch=20)
    return replace(protocol, linear=linear, mlp=replace(protocol.mlp, epochs=40, batch=20))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_every_kind_learns_under_every_protocol(name: str, kind: str):
    train, test = rings(81, seed=0), rings(50, seed=1)
    score = probe_by(short(PROTOCOLS[name]), kind, *train, *test, classes=2)
    assert score.accuracy > 90
    assert (score.train, score.test) == (81, 50)


def test_ours_are_the_probes_themselves():
    train, test = rings(81, seed=0), rings(50, seed=1)
    assert probe_by(OURS, "linear", *train, *test, classes=2, seed=3) == linear_probe(
        *train, *test, classes=2, seed=3
    )
    assert probe_by(OURS, "knn", *train, *test, classes=2) == knn_probe(*train, *test, classes=2)
    few = replace(OURS, mlp=replace(OURS.mlp, epochs=2))
    ours, itself = (
        probe_by(few, "mlp", *train, *test, classes=2, seed=3),
        mlp_probe(*train, *test, classes=2, seed=3, descent=few.mlp),
    )
    assert (ours.accuracy, ours.train) == (itself.accuracy, itself.train)


def test_the_paper_leaves_features_as_they_are_and_chooses_nothing():
    assert PAPER.linear is not None
    assert (PAPER.standardise, PAPER.linear.batch_norm) == (False, False)
    score = probe_by(short(PAPER), "linear", *rings(81, seed=0), *rings(50, seed=1), classes=2)
    assert (score.learning_rate, score.held_out, score.weight_decay) == (0.1, None, None)


def test_advised_is_the_paper_behind_a_batch_norm_with_a_rate_chosen_in_the_training_set():
    assert ADVISED.linear is not None
    assert PAPER.linear is not None
    assert replace(ADVISED.linear, batch_norm=False, learning_rates=(0.1,)) == PAPER.linear
    train, (test, test_label) = rings(81, seed=0), rings(50, seed=1)
    honest = probe_by(short(ADVISED), "linear", *train, test, test_label, classes=2)
    swapped = probe_by(short(ADVISED), "linear", *train, test, 1 - test_label, classes=2)
    assert honest.held_out is not None
    assert (honest.learning_rate, honest.held_out) == (swapped.learning_rate, swapped.held_out)
    assert honest.accuracy == pytest.approx(100 - swapped.accuracy)


def test_a_rate_that_blows_up_is_not_chosen():
    wild = replace(PAPER, linear=replace(PAPER.linear, learning_rates=(1e38, 0.05), epochs=12, batch=20))
    score = probe_by(wild, "linear", *rings(81, seed=0), *rings(50, seed=1), classes=2)
    assert score.learning_rate == 0.05


def test_an_unknown_protocol_or_kind_names_the_nearest():
    with pytest.raises(
        ValueError, match=r"no protocol 'papr' \(did you mean 'paper'.*there are ours, advised"
    ):
        find_protocol("papr")
    with pytest.raises(ValueError, match=r"linear, mlp, knn, got 'linaer' \(did you mean 'linear'\?\)"):
        probe_by(OURS, "linaer", *rings(9, seed=0), *rings(7, seed=1), classes=2)
