"""Parts held out of a training set: a share of every class, always the same, and nothing of the test set."""

from functools import partial

import pytest
import torch
from toys import tables

from coview.data import Resident, held_out, within_train
from coview.data.held import held_out_part


def numbered(label) -> Resident:
    count = torch.arange(len(label))
    return Resident("numbers", {"n": count}, torch.tensor(label), ("a", "b", "c"))


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_a_share_of_every_class(share):
    data = numbered([0] * 40 + [1] * 20 + [2] * 2)
    rest, part = held_out(data, share=share, seed=3)
    assert part.label.bincount().tolist() == [40 * share, 20 * share, 1]
    numbers = torch.cat([rest.fields["n"], part.fields["n"]])
    assert sorted(numbers.tolist()) == list(range(62))
    assert part.fields["n"].tolist() == sorted(part.fields["n"].tolist())
    assert torch.equal(data.label[part.fields["n"]], part.label)


def test_the_seed_decides():
    data = numbered([0] * 40 + [1] * 20)
    parts = [held_out(data, seed=seed)[1].fields["n"].tolist() for seed in (5, 5, 6)]
    assert parts[0] == parts[1] != parts[2]


def test_without_labels_a_share_of_all():
    rest, part = held_out(Resident("x", {"n": torch.arange(30)}), share=0.2)
    assert (len(rest), len(part), part.label) == (24, 6, None)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_share_that_is_none(share):
    with pytest.raises(ValueError, match="the share to hold out must lie between 0 and 1, got"):
        held_out_part(torch.zeros(9, dtype=torch.int64), share=share, seed=0)


def test_classes_of_one():
    with pytest.raises(ValueError, match="every class has one sample, none can be held out"):
        held_out(numbered([0, 1, 2]))


def test_numbers_of_a_recipe_are_chosen_within_the_training_set():
    inside = partial(within_train, data=partial(tables, samples=50), share=0.2, seed=1)
    train, test, everything = inside("train"), inside("test"), tables("train", samples=50)
    assert len(train) + len(test) == 50
    assert 7 <= len(test) <= 13
    sound = {tuple(row) for row in everything.fields["sound"].tolist()}
    assert {tuple(row) for row in test.fields["sound"].tolist()} <= sound
    with pytest.raises(ValueError, match="got 'unlabeled'"):
        inside("unlabeled")
