"""Recipes of pictures: each takes two steps on its own kind of data, and is fitted to others by rules."""

import inspect
import json
import math

import layouts
import pytest

from coview.data.images import AbsentData
from coview.encoders import cifar10_half, imagenet_half, stl10_half
from coview.recipes.find import find_recipe, shipped_recipes
from coview.recipes.pictures import Pictures, count_pictures, pictures
from coview.training import Recipe, fit

ELSEWHERE = (
    "coview.recipes.nyu",
    "coview.recipes.patches",
    "coview.recipes.video",
)  # whose recipes have tests of their own
OF_PICTURES = [
    name
    for name, make in shipped_recipes().items()
    if inspect.signature(make).parameters and make.__module__ not in ELSEWHERE
]
ROOMS = {"data.samples": 48, "batch_size": 16, "log_every": 1, "learning_rate": 1e-3}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Small image sets in their official layouts."""
    root = tmp_path_factory.mktemp("data")
    layouts.stl10(root, train=1, test=1, unlabeled=7)
    layouts.cifar10(root, train=2, test=1)
    layouts.tiny(root, train=3, val=1)
    layouts.imagenet100(root, train=1, val=1)
    return root


def small(name: str, **settings) -> Recipe:
    """A recipe with thin encoders, not compiled."""
    recipe, _ = find_recipe(name)
    # With eight channels in this layout torch 2.15 crashes on some CPUs, in the gradient of a strided 1x1 convolution.
    settings |= {"compile": False, "channels_last": False}
    for view, part in recipe.encoders.items():
        path = f"encoders.{view}"
        while "make" in part.keywords:
            path, part = f"{path}.make", part.keywords["make"]
        settings[f"{path}.width"] = 0.05
    return find_recipe(name, [f"{name}={value}" for name, value in settings.items()])[0]


def losses(folder) -> list[float]:
    return [json.loads(line)["loss"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", OF_PICTURES)
def test_two_steps_on_its_own_data(name, root, tmp_path):
    recipe = small(name, steps=2, batch_size=5, log_every=1, **{"data.root": root})
    training = fit(recipe, tmp_path / "run")
    assert training.step == 2
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert [list(row["terms"]) for row in rows] == [[pair.name for pair in recipe.graph.directed()]] * 2
    assert all(math.isfinite(value) for row in rows for value in row["terms"].values())
    assert len(recipe.data("test")) > 0


# Made by these recipes on a CPU. They are to change only with a line in CHANGELOG.md that says so.
CURVES = {
    "stl10_nce@scenes": [18.6159, 19.6261, 20.0510, 19.0482, 18.9834],
    "stl10_patch@scenes": [48.0414, 46.9475, 47.0474, 45.0002, 45.5664],
    "cifar10@scenes": [8.0600, 8.5400, 8.7429, 8.1416, 8.0075],
}


@pytest.mark.parametrize("name", list(CURVES))
def test_the_loss_goes_as_it_went(name, tmp_path):
    fit(small(name, steps=5, **ROOMS), tmp_path / "run")
    assert losses(tmp_path / "run") == pytest.approx(CURVES[name], rel=2e-3)


@pytest.mark.parametrize(
    ("name", "crop", "half", "depth", "draw", "epochs", "milestones"),
    [
        ("stl10", 64, stl10_half, 18, 4096, 320, (200, 240, 280)),
        ("cifar10", 32, cifar10_half, 18, 4096, 320, (200, 240, 280)),
        ("tiny", 64, stl10_half, 18, 4096, 320, (200, 240, 280)),
        ("imagenet", 224, imagenet_half, 50, 4096, 320, (200, 240, 280)),
        ("imagenet100", 224, imagenet_half, 50, 4096, 320, (200, 240, 280)),
        ("scenes", 64, stl10_half, 18, 2559, 32, (20, 24, 28)),
    ],
)
def test_sizes_follow_from_the_data(name, crop, half, depth, draw, epochs, milestones):
    recipe, _ = find_recipe(f"stl10_softmax@{name}")
    assert recipe.augment.keywords["size"] == crop
    assert {one.func for one in recipe.encoders.values()} == {half}
    assert (recipe.negatives.keywords["draw"], recipe.epochs, recipe.milestones) == (draw, epochs, milestones)
    resnet, _ = find_recipe(f"imagenet_resnet@{name}")
    assert {one.keywords["depth"] for one in resnet.encoders.values()} == {depth}


@pytest.mark.parametrize(
    ("side", "crop", "half"),
    [
        (32, 32, cifar10_half),
        (47, 47, cifar10_half),
        (48, 48, stl10_half),
        (127, 127, stl10_half),
        (128, 128, imagenet_half),
        (199, 199, imagenet_half),
        (200, 224, imagenet_half),
        (500, 224, imagenet_half),
    ],
)
def test_the_crop_and_the_half_for_a_side(side, crop, half):
    found = Pictures("mine", samples=10, side=side)
    assert (found.crop, found.half(2, dim=7).func) == (crop, half)


def test_the_smallest_half_keeps_the_maps_of_the_one_for_stl10():
    import torch

    found = cifar10_half(2, dim=5, width=0.1).features(torch.zeros(3, 2, 32, 32))
    sizes = {name: values.shape[-1] for name, values in found.items() if values.ndim == 4}
    assert sizes == {"conv1": 32, "conv2": 15, "conv3": 15, "conv4": 15, "conv5": 7}


def test_a_folder_of_pictures_is_looked_at(tmp_path):
    layouts.class_folders(tmp_path / "mine", each=5, size=36)
    found = pictures(str(tmp_path / "mine"))
    assert (found.samples, found.side, found.crop) == (12, 36, 36)  # a fifth of each class is kept to test on
    assert found.negatives(4096) == 11
    recipe = small(f"cifar10@{tmp_path / 'mine'}", steps=2, batch_size=5, log_every=1)
    assert fit(recipe, tmp_path / "run").step == 2


def test_a_name_that_is_none():
    with pytest.raises(ValueError, match=r"no image set 'cifar' \(did you mean 'cifar10'\?\).*as \./cifar"):
        find_recipe("cifar10@cifar")


def test_pictures_are_counted_without_being_read(root):
    assert count_pictures("stl10", str(root)) == {"train": 17, "labelled": 10}
    assert count_pictures("cifar10", str(root)) == {"train": 20, "labelled": 20}
    assert count_pictures("tiny", str(root)) == {"train": 12, "labelled": 12}
    assert count_pictures("imagenet100", str(root)) == {"train": 100, "labelled": 100}
    assert count_pictures("scenes") == {"train": 2560, "labelled": 2560}
    with pytest.raises(AbsentData, match="no STL-10 in"):
        count_pictures("stl10", str(root / "nowhere"))


def test_contrast_learns_from_unlabelled_pictures_and_probes_from_labelled_ones(root):
    recipe, _ = find_recipe("stl10_softmax", [f"data.root={root}"])
    train = recipe.data("train")
    assert len(train) == 17
    assert (train.label >= 0).sum() == 10
    assert recipe.data("train") is train  # read once


def test_a_recipe_fitted_to_a_folder_trains_from_the_command_line(tmp_path, monkeypatch):
    import sys

    from coview.cli import main
    from coview.recipes.measure import open_run

    layouts.class_folders(tmp_path / "mine", each=5, size=32)
    monkeypatch.chdir(tmp_path)
    settings = [
        "steps=1",
        "batch_size=5",
        "channels_last=False",
        "encoders.L.width=0.1",
        "encoders.ab.width=0.1",
    ]
    words = [word for setting in settings for word in ("--set", setting)]
    monkeypatch.setattr(sys, "argv", ["coview", "train", "cifar10@./mine", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name == "cifar10@.-mine"
    monkeypatch.chdir(tmp_path.parent)  # the run is opened again from another folder
    assert open_run(folder).recipe.data.keywords["name"] == str(tmp_path / "mine")
