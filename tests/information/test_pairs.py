"""Pairs from tensors and from datasets: aligned, augmented alike, and only of samples that have both views."""

from functools import partial

import pytest
import torch
from toys import jitter, tables, take

from coview.information import TensorPairs, ViewPairs, view_pairs
from coview.information.pairs import AT_ONCE, Pairs, fetch_many

VIEWS = {name: partial(take, name=name) for name in ("sound", "touch", "smell")}


def generator():
    return torch.Generator().manual_seed(5)


def test_rows_of_tensors_as_numbers():
    pairs = TensorPairs(torch.arange(7), torch.arange(14, dtype=torch.uint8).reshape(7, 2))
    first, second = pairs.fetch(torch.tensor([4, 1]), generator())
    assert isinstance(pairs, Pairs)
    assert len(pairs) == 7
    torch.testing.assert_close(first, torch.tensor([[4.0], [1.0]]))
    torch.testing.assert_close(second, torch.tensor([[8.0, 9.0], [2.0, 3.0]]))


def test_unequal_numbers_of_samples():
    with pytest.raises(ValueError, match="got 9 samples of the first view and 8 of the second"):
        TensorPairs(torch.zeros(9, 2), torch.zeros(8, 2))


def test_views_of_a_dataset_are_cut_from_the_same_augmented_fields():
    data = tables("train")
    pairs = view_pairs(
        data, {**VIEWS, "loud": lambda fields: 2 * fields["sound"]}, "sound", "loud", augment=jitter
    )
    first, second = pairs.fetch(torch.tensor([3, 8]), generator())
    torch.testing.assert_close(second, 2 * first)
    assert not torch.equal(first, data.fields["sound"][[3, 8]])
    again, _ = pairs.fetch(torch.tensor([3, 8]), generator())
    assert torch.equal(again, first)


def test_samples_that_lack_a_view_are_left_out():
    data = tables("train", missing=0.5)
    pairs = view_pairs(data, VIEWS, "touch", "smell")
    both = data.present["touch"] & data.present["smell"]
    assert isinstance(pairs, ViewPairs)
    assert len(pairs) == int(both.sum()) < len(data)
    first, second = pairs.fetch(torch.arange(len(pairs)), generator())
    assert first.isfinite().all()
    torch.testing.assert_close(second, data.fields["smell"][both])
    assert len(view_pairs(data, VIEWS, "sound", "sound")) == len(data)


def test_no_view_of_that_name():
    with pytest.raises(
        ValueError, match=r"no view 'tuch' .did you mean 'touch'.*there are sound, touch, smell"
    ):
        view_pairs(tables("train"), VIEWS, "sound", "tuch")


def test_many_are_fetched_in_parts_and_always_alike():
    samples = AT_ONCE + 50
    pairs = ViewPairs(tables("train", samples=samples), VIEWS["sound"], VIEWS["smell"], jitter)
    first, second = fetch_many(pairs, torch.arange(samples), seed=3)
    assert first.shape == (samples, 9)
    assert torch.equal(fetch_many(pairs, torch.arange(samples), seed=3)[0], first)
    assert not torch.equal(fetch_many(pairs, torch.arange(samples), seed=4)[1], second)
