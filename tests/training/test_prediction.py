"""Recipes that predict, and recipes that contrast parts: what they learn, log, keep and refuse."""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from toys import SIZES, toy, toy_with_gaps

from coview.contrast import patch_graph
from coview.encoders import MLP
from coview.predictive import Decoder
from coview.training import describe, fit, override, patches, prediction, split_brain
from coview.training.capture import Steps
from coview.training.fabric import make_fabric
from coview.training.state import prepare

SMALL = partial(Decoder, width=16)


def predictive(**rest):
    return replace(toy(), objective=partial(prediction, decoder=SMALL, **rest), learning_rate=0.02)


class InParts(MLP):
    """A table as a whole, and its first layer as four cells."""

    def forward(self, view: Tensor) -> dict[str, Tensor]:
        found = self.features(view)
        return {"": found["embedding"], "early": found["hidden1"].view(len(view), 4, -1)}


def in_parts():
    """Each table as a whole against four cells of the others."""
    encoders = {name: partial(InParts, size, hidden=(44,), dim=11) for name, size in SIZES.items()}
    return replace(
        toy(),
        encoders=encoders,
        graph=patch_graph(list(SIZES), ["early"]),
        negatives=partial(patches, same_image=False),
    )


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


RECIPES = {
    "l1": partial(predictive, loss="l1"),
    "l2": partial(predictive, loss="l2"),
    "quantised": partial(predictive, loss="quantised"),
    "patches": in_parts,
    "patches, rivals": lambda: replace(in_parts(), negatives=partial(patches, same_image=True)),
}


@pytest.mark.parametrize("name", list(RECIPES))
def test_they_learn(name, tmp_path):
    recipe = replace(RECIPES[name](), epochs=12)
    training = fit(recipe, tmp_path / "run")
    found = rows(tmp_path / "run")
    assert found[-1]["loss"] < 0.93 * found[0]["loss"]
    names = [pair.name for pair in recipe.graph.directed()]
    assert list(found[-1]["terms"]) == names
    assert list(found[-1]["bounds"]) == (names if "patches" in name else [])
    assert list(found[-1]["ceilings"]) == (names if "patches" in name else [])
    assert training.objective.hindrance is None


@pytest.mark.parametrize("name", list(RECIPES))
def test_missing_views_are_nothing_special(name, tmp_path):
    recipe = replace(RECIPES[name](), data=toy_with_gaps().data, epochs=1)
    fit(recipe, tmp_path / "run")
    assert torch.tensor([row["loss"] for row in rows(tmp_path / "run")]).isfinite().all()


@pytest.mark.parametrize("name", ["l2", "quantised", "patches"])
def test_half_precision(name, tmp_path):
    fit(replace(RECIPES[name](), precision="bf16-mixed", epochs=1), tmp_path / "half")
    fit(replace(RECIPES[name](), precision="32-true", epochs=1), tmp_path / "full")
    half, full = ([row["loss"] for row in rows(tmp_path / run)] for run in ("half", "full"))
    assert half == pytest.approx(full, rel=0.02)
    assert half != full


@pytest.mark.parametrize("name", ["quantised", "patches"])
def test_a_resumed_run_is_the_whole_run(name, tmp_path):
    recipe = RECIPES[name]()
    whole = fit(recipe, tmp_path / "whole")
    fit(replace(recipe, steps=4), tmp_path / "parts")
    parts = fit(recipe, tmp_path / "parts", resume=True)
    for one, other in ((whole.encoders, parts.encoders), (whole.objective, parts.objective)):
        state = other.state_dict()
        assert all(torch.equal(value, state[key]) for key, value in one.state_dict().items())


def test_an_objective_is_a_part_of_the_recipe():
    recipe = override(predictive(loss="l2", side=5), ["objective.loss=l1", "objective.decoder.width=24"])
    assert recipe.objective.keywords["loss"] == "l1"
    assert describe(recipe)["objective"]["decoder"]["width"] == 24
    assert describe(toy())["objective"] == "coview.training.recipe.contrast"
    split = describe(replace(toy(), objective=split_brain))["objective"]
    assert split["bins"] == {"ab": {"call": "coview.predictive.bins.ab_bins", "step": 10.0}}


def test_the_gradient_of_a_prediction_reaches_every_layer():
    recipe = predictive(loss="l2")
    fabric = make_fabric(recipe)
    data = recipe.data("train").to(fabric.device)
    training = prepare(recipe, data, fabric)
    Steps(training)(data.fetch(torch.arange(recipe.batch_size)))
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in training.encoders.parameters())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"graph": patch_graph(list(SIZES), ["erly"])}, "contrasts 'touch:erly', but .* 'touch:early'"),
        ({"negatives": toy().negatives}, "'touch:early' is cells, but Bank holds one vector for each sample"),
        (
            {"objective": prediction, "graph": patch_graph(["sound"], ["early"])},
            "'sound:early' is cells, but a decoder",
        ),
        ({"objective": partial(prediction, loss="l7")}, "'l1', 'l2' or 'quantised', got 'l7'"),
    ],
)
def test_what_does_not_fit_is_found_before_the_folder_is_made(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        fit(replace(in_parts(), **change), tmp_path / "run")
    assert not (tmp_path / "run").exists()


class Wrong(nn.Module):
    def __init__(self, said) -> None:
        super().__init__()
        self.said = said

    def forward(self, view):
        return {part: torch.zeros(len(view), *shape) for part, shape in self.said.items()}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"early": (4, 11)}, "the encoder of view 'touch' must also embed the whole view, under the name ''"),
        ({"": (4, 11)}, r"the encoder of view 'touch' must return \[B D\], got \[2, 4, 11\]"),
        ({"": (11,), "early": (4, 3, 2, 11)}, r"its part 'early' as \[B D\], or as cells \[B P D\], got"),
    ],
)
def test_parts_of_a_wrong_shape(said, message, tmp_path):
    encoders = {**toy().encoders, "touch": partial(Wrong, said)}
    with pytest.raises(ValueError, match=message):
        fit(replace(toy(), encoders=encoders, probe_layer="embedding"), tmp_path / "run")
