"""Probes fitted to augmented samples: the same as to kept ones where nothing is augmented, and new crops elsewhere."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from toys import jitter, tables, toy, toy_with_gaps

from coview.probes import PAPER, descend
from coview.recipes.augmented import probe_augmented
from coview.recipes.measure import features
from coview.recipes.probing import Asked
from coview.training.loop import epoch_order
from coview.training.state import build_encoders

SHORT = replace(
    PAPER, linear=replace(PAPER.linear, epochs=5, batch=20, milestones=(3,)), mlp=replace(PAPER.mlp, epochs=5)
)


def splits(recipe):
    return {split: recipe.data(split) for split in ("train", "test")}


def as_it_is(fields, generator):
    return fields


def test_without_change_it_is_a_descent_on_kept_features():
    recipe = replace(toy(), augment=as_it_is)
    encoders = build_encoders(recipe)
    asked = Asked(("hidden1",), views=("smell", "sound"), protocol=SHORT)
    (probed,) = probe_augmented(encoders, recipe, splits(recipe), asked)

    found = features(encoders, recipe, splits(recipe), "hidden1")
    train, test = (
        torch.cat([found[split].values[view] for view in ("smell", "sound")], 1)
        for split in ("train", "test")
    )
    classifier = nn.Linear(64, 4)
    for values in classifier.parameters():
        nn.init.zeros_(values)
    label = found["train"].label
    batches = [[(train[rows], label[rows]) for rows in epoch_order(96, 20, 0, epoch)] for epoch in range(5)]
    descend([classifier], [0.1], lambda epoch: batches[epoch], SHORT.linear)
    right = classifier(test).argmax(1) == found["test"].label
    assert probed.score.accuracy == pytest.approx(100 * right.double().mean().item())
    assert probed.score.top5 is None  # of four classes
    assert (probed.features, probed.classes, probed.augmented) == (64, 4, True)
    assert (probed.score.train, probed.score.test, probed.score.held_out) == (96, 96, None)


def test_samples_are_augmented_anew_in_every_epoch():
    seen = []

    def noted(fields, generator):
        moved = jitter(fields, generator, strength=0.1)
        seen.append(moved["sound"])
        return moved

    recipe = replace(toy(), augment=noted)
    list(probe_augmented(build_encoders(recipe), recipe, splits(recipe), Asked(("hidden1",), protocol=SHORT)))
    assert [len(one) for one in seen] == [20] * 4 * 5  # one pass for all views, and what fills no batch waits
    assert len(torch.cat(seen).unique(dim=0)) == 400


def test_many_probes_from_one_pass_are_what_each_is_alone():
    recipe = toy()
    encoders = build_encoders(recipe)
    asked = Asked(("hidden1", "embedding"), kinds=("linear", "mlp"), protocol=SHORT)
    together = {one.probe: one.score for one in probe_augmented(encoders, recipe, splits(recipe), asked)}
    assert len(together) == 2 * 2 * 4
    alone = Asked(("embedding",), kinds=("mlp",), views=("touch",), protocol=SHORT)
    # the share of a view is larger where it is alone, but there is nothing to pool here
    (one,) = probe_augmented(encoders, recipe, splits(recipe), alone)
    assert together[one.probe] == one.score


def test_rates_are_chosen_without_a_look_at_the_test_set():
    protocol = replace(SHORT, linear=replace(SHORT.linear, learning_rates=(1e30, 0.1)))
    asked = Asked(("hidden1",), views=("sound",), protocol=protocol)
    recipe = toy()
    encoders, honest = build_encoders(recipe), splits(recipe)
    swapped = honest | {"test": replace(honest["test"], label=(honest["test"].label + 1) % 4)}
    (one,), (other,) = (probe_augmented(encoders, recipe, given, asked) for given in (honest, swapped))
    assert one.score.learning_rate == other.score.learning_rate == 0.1
    assert one.score.held_out == other.score.held_out
    assert one.score.held_out is not None
    assert one.score.accuracy != other.score.accuracy


@pytest.mark.parametrize(
    ("recipe", "asked", "message"),
    [
        (replace(toy(), augment=None), Asked(("hidden1",), protocol=PAPER), "does not augment its samples"),
        (toy_with_gaps(), Asked(("hidden1",), protocol=PAPER), "view 'touch' is missing for some samples"),
        (toy(), Asked(("hidden1",)), r"protocol 'ours' needs .* protocols advised, paper, paper-resnet"),
        (toy(), Asked(("hidden1",), kinds=("knn",), protocol=PAPER), "a knn probe by protocol 'paper' needs"),
        (
            replace(toy(), data=lambda split: replace(tables(split), label=None)),
            Asked(("hidden1",), protocol=PAPER),
            "has no labels",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(recipe, asked, message):
    with pytest.raises(ValueError, match=message):
        list(probe_augmented(build_encoders(recipe), recipe, splits(recipe), asked))
