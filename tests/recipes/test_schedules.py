"""Numbers of training that the paper gives (section 4.1 and 4.2, appendix E), recipe by recipe."""

import pytest

from coview.contrast import Bank, BilinearCritic, CosineCritic, NCELoss
from coview.probes.protocol import PAPER, PAPER_RESNET, PAPER_RESNET_X2, PAPER_STL10
from coview.recipes.find import find_recipe
from coview.recipes.video import video_dorsal, video_ventral_dorsal
from coview.training import softmax

# Epochs, milestones, what the rate is multiplied by at each, and the rate.
SGD = {
    "stl10_nce": (320, (200, 240, 280), 0.1, 0.03),
    "imagenet_alexnet": (200, (120, 160), 0.1, 0.03),
    "negatives_nce": (200, (120, 160), 0.1, 0.03),
}
ADAM = {
    "stl10_patch": (200, (120, 160), 0.2, 0.001),
    "stl10_strided": (200, (120, 160), 0.2, 0.001),
    "imagenet_alexnet_patch": (200, (120, 160), 0.2, 0.01),
    "nyu": (3000, (2000, 2400, 2800), 0.2, 0.001),
    "nyu_predict_depth": (3000, (2000, 2400, 2800), 0.2, 0.001),
}
COSINE = {
    "imagenet_resnet": (200, 0.03),
    **{f"compatibility_{name}": (240, 0.03) for name in ("moco", "pirl", "cmc", "cmc_moco_pirl_rand")},
}
# Temperature, negatives drawn by each anchor, embedding, loss.
FROM_MEMORY = {
    "stl10_nce": (0.1, 4096, 64, NCELoss),
    "imagenet_alexnet": (0.07, 4096, 128, NCELoss),
    "imagenet_resnet": (0.07, 16_384, 128, softmax),
    "negatives_nce": (0.07, 4096, 128, NCELoss),
    "compatibility_cmc": (0.07, "all", 128, softmax),
}


@pytest.mark.parametrize("name", [*SGD, *ADAM])
def test_steps_of_the_rate(name):
    recipe, _ = find_recipe(name)
    wanted = {**SGD, **ADAM}[name]
    assert recipe.schedule == "step"
    assert (recipe.epochs, recipe.milestones, recipe.decay, recipe.learning_rate) == wanted
    assert (recipe.optimiser, recipe.momentum) == (("sgd", 0.9) if name in SGD else ("adam", 0.5))
    assert recipe.weight_decay == (1e-4 if name in SGD else 0.0)


@pytest.mark.parametrize("name", list(COSINE))
def test_resnets_fall_along_a_cosine(name):
    recipe, _ = find_recipe(name)
    assert (recipe.schedule, recipe.epochs, recipe.learning_rate) == ("cosine", *COSINE[name])


@pytest.mark.parametrize("name", list(FROM_MEMORY))
def test_contrast_from_memory(name):
    recipe, _ = find_recipe(name)
    temperature, draw, dim, loss = FROM_MEMORY[name]
    assert (recipe.critic.func, recipe.critic.keywords) == (CosineCritic, {"temperature": temperature})
    assert (recipe.negatives.func, recipe.negatives.keywords["draw"]) == (Bank, draw)
    assert recipe.negatives.keywords["momentum"] == 0.5
    assert draw == "all" or recipe.negatives.keywords["shared"] is False
    assert {one.keywords["dim"] for one in recipe.encoders.values()} == {dim}
    assert getattr(recipe.loss, "func", recipe.loss) is loss
    assert getattr(recipe.loss, "keywords", {}) == ({"normaliser": "first_batch"} if loss is NCELoss else {})


@pytest.mark.parametrize("name", ["stl10_patch", "stl10_strided", "imagenet_alexnet_patch"])
def test_patches_meet_in_a_bilinear_form(name):
    recipe, _ = find_recipe(name)
    assert recipe.critic.func is BilinearCritic
    assert {one.keywords["dim"] for one in recipe.encoders.values()} == {recipe.critic.keywords["dim"]}


def test_streams_have_127_negatives_and_ten_flows():
    recipe = video_ventral_dorsal()
    assert recipe.batch_size - 1 == 127
    assert recipe.data.keywords["stack"] == 10
    assert (recipe.encoders["frame"].args, recipe.encoders["flow"].args) == ((3,), (20,))
    assert {one.name for one in recipe.graph.directed()} == {
        *("frame->later", "later->frame", "frame->flow", "flow->frame")
    }
    assert video_dorsal().encoders["flow"].keywords["dropout"] == 0.5


def test_classifiers():
    for one, rate in ((PAPER, 0.1), (PAPER_RESNET, 30.0), (PAPER_RESNET_X2, 50.0)):
        assert one.linear is not None
        assert (one.linear.epochs, one.linear.learning_rates) == (100, (rate,))
        assert (one.linear.milestones, one.linear.decay) == ((60, 75, 90), 0.2)
        assert (one.linear.momentum, one.linear.weight_decay) == (0.9, 0.0)
    adam = PAPER_STL10.mlp
    assert (adam.optimiser, adam.epochs, adam.momentum, adam.learning_rates) == ("adam", 100, 0.5, (1e-3,))
