"""Features and bounds of a recipe's encoders: which samples are looked at, and what is trained beside them."""

from dataclasses import replace

import pytest
import torch
from toys import tables, toy, toy_with_gaps

from coview.recipes import measure
from coview.recipes.measure import (
    as_trained,
    count_classes,
    features,
    features_by_layer,
    labelled,
    layers_of,
    supervised,
)
from coview.training.state import build_encoders


def half_labelled(split: str):
    """As in a set of which most pictures have no label: -1."""
    data = tables(split)
    return replace(data, label=torch.where(torch.arange(len(data)) % 3 == 0, data.label, -1))


def splits(recipe):
    return {split: recipe.data(split) for split in ("train", "test")}


def test_all_layers_in_one_pass_are_each_by_itself():
    recipe = toy_with_gaps()
    encoders = build_encoders(recipe)
    together = features_by_layer(encoders, recipe, splits(recipe), ["embedding", "hidden1"])
    for layer, found in together.items():
        alone = features(encoders, recipe, splits(recipe), layer)
        for split in ("train", "test"):
            for view in encoders:
                assert torch.equal(found[split].values[view], alone[split].values[view])


def test_layers_are_those_that_all_encoders_have():
    recipe = toy_with_gaps()
    encoders = build_encoders(recipe)
    assert layers_of(encoders, recipe, recipe.data("train")) == ("hidden1", "embedding")
    encoders["touch"] = torch.nn.Linear(5, 11)
    assert layers_of(encoders, recipe, recipe.data("train")) == ("embedding",)


def test_samples_without_a_label_are_not_looked_at():
    recipe = replace(toy(), data=half_labelled)
    data = recipe.data("train")
    assert labelled(data).tolist() == list(range(0, 96, 3))
    found = features(build_encoders(recipe), recipe, splits(recipe), "hidden1")
    assert found["train"].index.tolist() == list(range(0, 96, 3))
    everyone = features(build_encoders(recipe), toy(), splits(toy()), "hidden1")
    torch.testing.assert_close(found["train"].label, everyone["train"].label[::3])


def test_where_nothing_has_a_label_everything_is_looked_at():
    recipe = replace(toy(), data=lambda split: replace(tables(split), label=None))
    assert len(features(build_encoders(recipe), recipe, splits(recipe), "hidden1")["test"].index) == 96


def test_classes_are_counted_by_name_or_by_label():
    assert count_classes(tables("train")) == 4
    assert count_classes(replace(tables("train"), classes=())) == 4
    for label in (None, torch.full((96,), -1)):
        with pytest.raises(ValueError, match="dataset 'tables' has no labels: --kind retrieval needs none"):
            count_classes(replace(tables("train"), label=label))


def test_what_does_not_fit_in_float32_is_kept_in_float16(monkeypatch: pytest.MonkeyPatch):
    recipe = toy()
    numbers = 3 * 32 * 2 * 96  # of three views, one layer, two splits
    monkeypatch.setattr(measure, "room", lambda device: numbers * 4 - 1)
    found = features(build_encoders(recipe), recipe, splits(recipe), "hidden1")["train"]
    assert found.values["sound"].dtype == torch.float16
    monkeypatch.setattr(measure, "room", lambda device: numbers * 2 - 1)
    with pytest.raises(ValueError, match=r"96 numbers of 192 samples take .* probe fewer layers at a time"):
        features(build_encoders(recipe), recipe, splits(recipe), "hidden1")


@pytest.mark.parametrize(
    ("precision", "device", "mixed"),
    [("auto", "cpu", False), ("auto", "cuda", True), ("32-true", "cuda", False), ("bf16-mixed", "cpu", True)],
)
def test_features_are_made_in_the_precision_of_training(precision: str, device: str, mixed: bool):
    with as_trained(replace(toy(), precision=precision), torch.device("cpu")) as _:
        if device == "cpu":
            assert torch.is_autocast_enabled("cpu") == mixed
    if torch.cuda.is_available():
        with as_trained(replace(toy(), precision=precision), torch.device(device)):
            assert torch.is_autocast_enabled(device) == mixed


@pytest.mark.parametrize(("optimiser", "rate"), [("sgd", 1e-3), ("adam", 0.05), ("adamw", 0.05)])
def test_supervised_encoders_have_a_rate_for_their_optimiser(optimiser: str, rate: float, monkeypatch):
    told = {}
    monkeypatch.setattr(measure, "train_supervised", lambda encoders, batches, **more: told.update(more))
    supervised(replace(toy(), optimiser=optimiser), tables("train"), 3, layer="embedding")
    assert (told["learning_rate"], told["epochs"], told["classes"]) == (rate, 3, 4)
    assert told["layer"] == "embedding"


def test_supervised_encoders_see_augmented_samples_that_have_a_label(monkeypatch):
    recipe, seen = replace(toy(), data=half_labelled), []
    monkeypatch.setattr(
        measure, "train_supervised", lambda encoders, batches, **more: seen.extend([*batches(0), *batches(1)])
    )
    supervised(recipe, recipe.data("train"), 2)
    assert [len(batch.index) for batch in seen] == [16] * 4  # of 32 with a label
    assert all((batch.index % 3 == 0).all() for batch in seen)
    plain = recipe.data("train").fields["sound"]
    for batch in seen:
        moved = (batch.views["sound"] - plain[batch.index]).abs()
        assert 0 < moved.max() < 1


def test_supervised_encoders_are_trained_up_to_a_layer():
    recipe = toy()
    start, learned = build(recipe), supervised(recipe, recipe.data("train"), 1, layer="hidden1")
    for name in start:
        assert torch.equal(learned[name].embedding.weight, start[name].embedding.weight)
        first, second = (next(one[name].parameters()) for one in (start, learned))
        assert not torch.equal(first, second)


def build(recipe):
    """Encoders as a run of the recipe starts with."""
    torch.manual_seed(recipe.seed)
    return build_encoders(recipe)


def test_in_half_precision_a_step_goes_on_from_the_last_one():
    """Autocast keeps the casts of weights as long as it lasts: they must not outlive a step."""
    layer, view = torch.nn.Linear(5, 3), torch.randn(4, 5)
    with as_trained(replace(toy(), precision="bf16-mixed"), torch.device("cpu")):
        before = layer(view)
        with torch.no_grad():
            layer.weight.mul_(-2)
        after = layer(view)
    assert before.dtype == torch.bfloat16
    assert not torch.equal(before, after)


def test_supervised_encoders_learn_in_half_precision():
    losses = {}
    for precision in ("32-true", "bf16-mixed"):
        seen: list[float] = []
        recipe = replace(toy(), precision=precision, learning_rate=0.01, optimiser="adamw")
        supervised(
            recipe,
            recipe.data("train"),
            6,
            lambda done, steps, found, seen=seen: seen.append(float(found["sound"])),
        )
        losses[precision] = sum(seen[-6:]) / 6
    assert losses["bf16-mixed"] == pytest.approx(losses["32-true"], abs=0.1)
