"""Slow encoders and two crops in training: whose keys are whose, and that all of it goes on bit for bit."""

import copy
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn
from toys import SIZES, toy, toy_with_gaps
from training.test_loop import assert_same, weights

from coview.contrast import Bank, CosineCritic, InBatch, Objective, PairGraph
from coview.training import TrainingError, fit, in_batch, override, prediction, queue
from coview.training.fabric import make_fabric
from coview.training.state import prepare
from coview.training.step import train_step
from coview.views import augmented, cut

QUEUE = partial(queue, size=40)


def slowly(**fields):
    return replace(toy(), slow=0.8, negatives=QUEUE, **fields)


VARIANTS = {
    "one crop": slowly,
    "two crops": lambda: slowly(crops=2),
    "two crops, shuffled": lambda: slowly(crops=2, key_groups=2),
    "bank": lambda: replace(slowly(crops=2), negatives=partial(Bank, draw="all", start="empty")),
    "gaps": lambda: replace(toy_with_gaps(), slow=0.8, negatives=QUEUE, crops=2),
    "gaps, shuffled": lambda: replace(toy_with_gaps(), slow=0.8, negatives=QUEUE, key_groups=3),
    "both crops learn": lambda: replace(toy(), negatives=in_batch, crops=2),
    "both crops learn, gaps": lambda: replace(toy_with_gaps(), negatives=in_batch, crops=2),
    "bfloat16": lambda: slowly(crops=2, precision="bf16-mixed"),
    "double": lambda: slowly(precision="64-true"),
    "one view": lambda: replace(
        slowly(crops=2), graph=PairGraph([("touch", "touch")]), encoders={"touch": toy().encoders["touch"]}
    ),
}


def all_weights(training):
    slow = training.slow.state_dict() if training.slow else {}
    return {**weights(training), **{f"slow {name}": value.clone() for name, value in slow.items()}}


@pytest.mark.parametrize("name", list(VARIANTS))
def test_a_run_that_was_stopped_is_the_run_that_was_not(name, tmp_path):
    recipe = replace(VARIANTS[name](), epochs=2)
    whole = fit(recipe, tmp_path / "whole")
    fit(replace(recipe, steps=7), tmp_path / "parts")
    torch.rand(3)  # whatever else has been drawn must not matter
    parts = fit(recipe, tmp_path / "parts", resume=True)
    assert_same(all_weights(parts), all_weights(whole))
    for value in all_weights(whole).values():
        assert value.isfinite().all()


def started(recipe):
    """A run before its first step, and a batch of two crops."""
    fabric = make_fabric(recipe)
    data = recipe.data("train").to(fabric.device)
    training = prepare(recipe, data, fabric)
    sample = augmented(
        data.fetch(torch.arange(recipe.batch_size)), recipe.augment, training.generator, crops=2
    )
    first = cut(sample, recipe.views)
    second = cut(replace(sample, fields=sample.second), recipe.views)
    return training, replace(first, second=second.views)


def linear(recipe):
    """Without batch norm, so that what is computed twice says the same."""
    plain = {name: partial(nn.Linear, size, 11) for name, size in SIZES.items()}
    return replace(recipe, encoders=plain, probe_layer="embedding", precision="32-true")


def softmax_by_hand(anchors, keys, memory=None, temperature=0.1):
    """Anchors against all keys, and all of the memory."""
    anchors, keys = (nn.functional.normalize(one, dim=1) for one in (anchors, keys))
    scores = anchors @ (keys if memory is None else torch.cat([keys, memory])).T / temperature
    return nn.functional.cross_entropy(scores, torch.arange(len(keys)))


@pytest.mark.parametrize("crops", [1, 2])
def test_anchors_are_of_the_first_crop_and_keys_of_the_slow_copies(crops):
    training, batch = started(linear(slowly(crops=2)))
    batch = batch if crops == 2 else replace(batch, second=None)
    encoders, slow = training.trained, training.slow
    with torch.no_grad():  # copies that differ from the encoders
        for parameter in slow.copies.parameters():
            parameter.add_(torch.randn_like(parameter))
    other = torch.randn(7, 11, device=training.fabric.device)
    training.objective.remember(dict.fromkeys(SIZES, other), torch.arange(50, 57))
    before = copy.deepcopy(slow.copies.state_dict())
    keys = slow(batch.views if crops == 1 else batch.second)
    wanted = {
        f"{one}->{two}": softmax_by_hand(
            encoders[one](batch.views[one]), keys[two], nn.functional.normalize(other, dim=1)
        )
        for one in SIZES
        for two in SIZES
        if one != two
    }
    terms = train_step(training, batch)
    assert terms.keys() == wanted.keys()
    for name, term in terms.items():
        torch.testing.assert_close(term, wanted[name].detach())
    kept = training.objective.negatives.get_buffer("rows_touch")[7:23]
    torch.testing.assert_close(kept, nn.functional.normalize(keys["touch"], dim=1))
    for name, value in slow.copies.state_dict().items():  # the encoders as the optimiser left them
        torch.testing.assert_close(value, 0.8 * before[name] + 0.2 * encoders.state_dict()[name])


def test_of_two_crops_without_copies_each_is_asked_about_the_other():
    recipe = linear(replace(toy(), negatives=in_batch, crops=2, learning_rate=0.0, weight_decay=0.0))
    training, batch = started(recipe)
    encoders = training.trained
    first, second = (
        {name: encoders[name](view) for name, view in crop.items()} for crop in (batch.views, batch.second)
    )
    wanted = {
        f"{one}->{two}": (softmax_by_hand(first[one], second[two]) + softmax_by_hand(second[one], first[two]))
        / 2
        for one in SIZES
        for two in SIZES
        if one != two
    }
    sum(wanted.values()).backward()
    slopes = {name: parameter.grad.clone() for name, parameter in encoders.named_parameters()}
    encoders.zero_grad()
    terms = train_step(training, batch)
    for name, term in terms.items():
        torch.testing.assert_close(term, wanted[name].detach())
    for name, parameter in encoders.named_parameters():  # through both crops, as anchors and as keys
        torch.testing.assert_close(parameter.grad, slopes[name], rtol=1e-4, atol=1e-6)


def test_one_view_with_two_crops_is_simclr():
    """The last case of the parts: a view contrasted with itself."""
    recipe = linear(replace(toy(), negatives=in_batch, crops=2, graph=PairGraph([("touch", "touch")])))
    training, batch = started(recipe)
    encoder = training.trained["touch"]
    one, two = encoder(batch.views["touch"]), encoder(batch.second["touch"])
    terms = train_step(training, batch)
    assert list(terms) == ["touch->touch"]
    right = (softmax_by_hand(one, two) + softmax_by_hand(two, one)) / 2
    torch.testing.assert_close(terms["touch->touch"], right.detach())


def test_keys_of_the_batch_itself_change_nothing():
    objective = Objective(PairGraph([("a", "b")]), CosineCritic(0.2), InBatch())
    said, index = {name: torch.randn(5, 3) for name in "ab"}, torch.arange(5)
    alone, given = objective(said, index), objective(said, index, keys=said)
    for name in alone:
        assert torch.equal(alone[name], given[name])


def test_they_can_be_set_by_name():
    recipe = override(toy(), ["slow=0.99", "crops=2", "key_groups=4"])
    assert (recipe.slow, recipe.crops, recipe.key_groups) == (0.99, 2, 4)
    back = override(recipe, ["key_groups=none", "slow=none", "crops=1"])
    assert (back.slow, back.crops, back.key_groups) == (None, 1, None)


def test_two_crops_differ_and_views_of_each_stay_aligned():
    recipe = toy()
    sample = recipe.data("train").fetch(torch.arange(6))
    one, two = (augmented(sample, recipe.augment, torch.Generator().manual_seed(1), crops=n) for n in (1, 2))
    assert one.second is None
    for name in SIZES:
        assert torch.equal(one.fields[name], two.fields[name])
        assert not torch.equal(two.fields[name], two.second[name])


def test_a_crop_that_is_not_finite_is_found(tmp_path):
    count = iter(range(1000))

    def torn(fields, generator):
        broken = {name: values.clone() for name, values in fields.items()}
        if next(count) == 5:  # the second crop of the third step
            broken["touch"][2] = torch.nan
        return broken

    with pytest.raises(TrainingError, match="view 'touch' of dataset 'tables' is not finite"):
        fit(replace(slowly(crops=2), augment=torn), tmp_path / "run")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"slow": 1.0}, "slow is a momentum from 0 to below 1, such as 0.99, got 1.0"),
        ({"key_groups": 4}, "shuffle a batch on each process: got 4 with slow=None"),
        ({"slow": 0.9, "key_groups": 0}, "shuffle a batch on each process: got 0 with slow=0.9"),
        ({"crops": 3}, "crops must be 1 or 2, got 3"),
        ({"crops": 2, "augment": None}, "two crops of a sample are the same without an augmentation"),
    ],
)
def test_what_makes_no_sense_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        replace(toy(), **fields)


def test_one_group_is_that_of_the_anchors(tmp_path):
    with pytest.raises(ValueError, match="keys have the anchors' statistics: set key_groups to 2 or more"):
        fit(slowly(key_groups=1), tmp_path / "run")


def test_a_prediction_has_no_keys(tmp_path):
    recipe = replace(toy(), objective=partial(prediction, loss="l2"), slow=0.9)
    with pytest.raises(ValueError, match="a prediction has no keys: leave the recipe's `slow` None"):
        fit(recipe, tmp_path / "run")
