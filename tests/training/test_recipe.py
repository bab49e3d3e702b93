"""Recipes: what may be set, what is written down, and what is refused."""

from dataclasses import replace

import pytest
from toys import toy

from coview.contrast import full_graph, patch_graph
from coview.training import describe, override


def test_settings_reach_fields_and_parts():
    recipe = override(
        toy(),
        [
            "epochs=7",
            "learning_rate=1",
            "clip=0.5",
            "optimiser=adam",
            "critic.temperature=0.3",
            "encoders.touch.dim=8",
            "negatives.draw=all",
            "milestones=3,5",
            "steps=none",
        ],
    )
    assert (recipe.epochs, recipe.learning_rate, recipe.clip, recipe.optimiser) == (7, 1.0, 0.5, "adam")
    assert isinstance(recipe.learning_rate, float)
    assert recipe.critic().temperature == 0.3
    assert recipe.encoders["touch"]().embedding.out_features == 8
    assert recipe.encoders["sound"]().embedding.out_features == 11
    assert describe(recipe)["negatives"]["draw"] == "all"
    assert recipe.milestones == (3, 5)
    assert toy().critic().temperature == 0.1  # the original is as it was


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("epoch=3", r"no field 'epoch' to set in 'epoch' \(did you mean 'epochs'"),
        ("critic.temprature=3", r"no field 'temprature' of critic .*did you mean 'temperature'"),
        ("encoders.tuch.dim=3", r"no field 'tuch' of encoders .*did you mean 'touch'"),
        ("epochs=many", "'epochs' is 3: wanted is int, got 'many'"),
        ("epochs=1.5", "wanted is int, got '1.5'"),
        ("epochs", "--set wants name=value, got 'epochs'"),
        ("critic=3", "'critic' is a part, not a value; to be set in it: critic.temperature"),
        ("epochs.more=3", "no field 'more' of epochs"),
    ],
)
def test_wrong_settings_say_what_to_do(setting, message):
    with pytest.raises(ValueError, match=message):
        override(toy(), [setting])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"graph": full_graph(["sound", "tuch"])},
            r"the graph contrasts view 'tuch', but only .* \(did you mean 'touch'",
        ),
        ({"graph": patch_graph(["tuch"], ["early"])}, r"the graph contrasts view 'tuch', .*mean 'touch'"),
        ({"views": {"sound": toy().views["sound"]}}, "an encoder for view 'touch', but the views are sound"),
        ({"epochs": 0}, "epochs must be 1 or more, got 0"),
        ({"batch_size": 1}, "batch_size must be 2 or more, got 1"),
    ],
)
def test_recipes_that_cannot_work(fields, message):
    with pytest.raises(ValueError, match=message):
        replace(toy(), **fields)


def test_an_unknown_optimiser_or_schedule():
    import torch

    from coview.training.optim import learning_rate, make_optimiser

    with pytest.raises(ValueError, match="optimiser must be sgd, adam or adamw, got 'lion'"):
        make_optimiser(override(toy(), ["optimiser=lion"]), [torch.nn.Parameter(torch.zeros(1))])
    with pytest.raises(ValueError, match="schedule must be constant, step or cosine, got 'linear'"):
        learning_rate(override(toy(), ["schedule=linear"]), 9, 5)
