"""The compatibility table's recipes: what each is made of, and that all of it together goes on bit for bit."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from coview.contrast import Bank
from coview.encoders import MLP, WithJigsaw, with_jigsaw
from coview.recipes.find import find_recipe
from coview.studies.compatibility import compatibility, rows
from coview.training import fit, queue
from coview.views import in_turn, rand_augment, random_resized_crop

CROSS = ["L->ab", "ab->L"]
JIGSAWS = ["L:jigsaw->ab", "ab:jigsaw->L"]


@pytest.mark.parametrize(
    ("name", "pairs", "slow", "augment"),
    [
        ("instance", ["Lab->Lab"], None, in_turn),
        ("moco", ["Lab->Lab"], 0.999, in_turn),
        ("pirl", ["Lab->Lab", "Lab:jigsaw->Lab"], None, in_turn),
        ("cmc", CROSS, None, random_resized_crop),
        ("cmc_moco", CROSS, 0.999, random_resized_crop),
        ("cmc_pirl", CROSS + JIGSAWS, None, random_resized_crop),
        ("cmc_moco_pirl", CROSS + JIGSAWS, 0.999, random_resized_crop),
        ("cmc_moco_pirl_rand", CROSS + JIGSAWS, 0.999, rand_augment),
    ],
)
def test_what_each_is_made_of(name, pairs, slow, augment):
    recipe, _ = find_recipe(f"compatibility_{name}")
    assert [pair.name for pair in recipe.graph.directed()] == pairs
    assert (recipe.slow, recipe.crops) == (slow, 1 if slow is None else 2)
    assert recipe.negatives.func is (Bank if slow is None else queue)
    assert recipe.augment.func is augment
    alike, _ = find_recipe("compatibility_cmc")
    for field in ("epochs", "batch_size", "learning_rate", "schedule", "optimiser", "weight_decay", "loss"):
        assert getattr(recipe, field) == getattr(alike, field)  # to be compared, all train alike


def test_one_whole_has_as_many_parameters_as_two_halves():
    for data, least in (("cifar10", 10e6), ("imagenet100", 11e6)):
        counts = {}
        for name in ("cmc", "moco"):
            recipe, _ = find_recipe(f"compatibility_{name}@{data}")
            encoders = [make() for make in recipe.encoders.values()]
            counts[name] = sum(one.numel() for encoder in encoders for one in encoder.parameters())
        assert counts["cmc"] > least
        assert counts["moco"] / counts["cmc"] < 2.2  # the paper has 24 M for one view, 12 M for two


def test_the_study_has_the_papers_rows():
    found = {row.name: row.paper.get("top-1") for row in rows("imagenet100")}
    assert [name for name, number in found.items() if number] == [
        "MoCo",
        "PIRL",
        "CMC",
        "CMC + MoCo",
        "CMC + PIRL",
        "CMC + MoCo + PIRL",
        "CMC + MoCo + PIRL + RandAugment",
    ]
    assert len(found) == 9  # one more of one view, and a random start
    assert compatibility().seeds == (0, 1)


def small(**fields):
    """All together on few rooms, thin and not compiled."""
    settings = {"data.samples": 32, "batch_size": 8, "compile": False, "channels_last": False, "log_every": 1}
    settings |= {f"encoders.{view}.make.width": 0.05 for view in ("L", "ab")}
    recipe, _ = find_recipe(
        "compatibility_cmc_moco_pirl_rand@scenes", [f"{name}={value}" for name, value in settings.items()]
    )
    return replace(recipe, **fields)


def test_all_together_go_on_bit_for_bit(tmp_path):
    whole = fit(small(steps=5), tmp_path / "whole")
    fit(small(steps=2), tmp_path / "parts")
    torch.rand(5)
    parts = fit(small(steps=5), tmp_path / "parts", resume=True)
    for held in ("encoders", "objective", "slow"):
        one, other = (getattr(training, held).state_dict() for training in (whole, parts))
        assert one.keys() == other.keys()
        for name in one:
            assert torch.equal(one[name], other[name]), name
    assert isinstance(whole.trained["L"], WithJigsaw)
    assert whole.slow.copies["L"].whole_only
    assert whole.objective.negatives.views == ("L", "ab")  # no memory of jigsaws, for which nobody is asked


def test_a_jigsaw_of_a_table_is_refused():
    with pytest.raises(ValueError, match="a jigsaw wants an encoder of pictures"):
        with_jigsaw(partial(MLP, 5), tile=3)
