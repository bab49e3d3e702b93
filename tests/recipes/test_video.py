"""Recipes of clips: two steps on rendered ones and on packed ones, and how they are judged."""

import json

import pytest
import torch
from packed import two_cameras

from coview.contrast import Apart
from coview.probes.action import FineTuning
from coview.recipes.action import found_again, recognise
from coview.recipes.clip_sets import clip_set, count_clips
from coview.recipes.find import find_recipe
from coview.recipes.measure import open_run
from coview.training import fit
from coview.training.state import build_encoders

QUICK = {"steps": 2, "batch_size": 6, "log_every": 1, "channels_last": False}


@pytest.fixture(scope="module")
def cameras(tmp_path_factory):
    return two_cameras(tmp_path_factory.mktemp("mine"))


def small(name: str, **settings):
    recipe, _ = find_recipe(name)
    thin = {f"encoders.{view}.width": 0.02 for view, make in recipe.encoders.items() if hasattr(make, "func")}
    settings = {**QUICK, **thin, **settings}
    return find_recipe(name, [f"{key}={value}" for key, value in settings.items()])


def terms(folder):
    return list(json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])["terms"])


PAIRS = {
    "video_ventral": ["frame->later", "later->frame"],
    "video_dorsal": ["frame->flow", "flow->frame"],
    "video_ventral_dorsal": ["frame->later", "later->frame", "frame->flow", "flow->frame"],
}


@pytest.mark.parametrize("name", list(PAIRS))
def test_two_steps_on_rendered_clips(name, tmp_path):
    recipe, origin = small(f"{name}@scenes", **{"data.samples": 14})
    training = fit(recipe, tmp_path / "run", origin=origin)
    assert terms(tmp_path / "run") == PAIRS[name]
    assert isinstance(training.objective.negatives, Apart)
    assert len({id(one) for one in training.trained.values()}) == len(set(recipe.encoders) - {"later"})
    opened = open_run(tmp_path / "run")
    assert torch.equal(opened.encoders["frame"].embedding.weight, training.trained["frame"].embedding.weight)


def test_a_second_camera_is_a_fourth_view(cameras, tmp_path):
    recipe, _ = small(f"video_camera@{cameras}")
    training = fit(recipe, tmp_path / "run")
    assert terms(tmp_path / "run") == [*PAIRS["video_ventral_dorsal"], "frame->camera", "camera->frame"]
    assert training.trained["camera"] is training.trained["frame"]
    assert recipe.augment.keywords["size"] == 42
    assert count_clips(str(cameras)) == {"train": 12, "labelled": 12}


def test_clips_of_one_video_are_no_negatives_in_training(cameras):
    recipe, _ = small(f"video_ventral@{cameras}")
    data = recipe.data("train")
    negatives = recipe.objective(recipe, data, 128).negatives
    found = negatives.candidates("later", torch.randn(12, 4), torch.arange(12))
    assert found.valid.sum(1).tolist() == [11] * 12, "all but the other one of its video"


def test_a_resumed_run_draws_the_moments_it_would_have_drawn(tmp_path):
    settings = {"data.samples": 14, "save_every": 1, "epochs": 4, "steps": "none"}
    whole = fit(small("video_dorsal@scenes", **settings)[0], tmp_path / "whole")
    fit(small("video_dorsal@scenes", **settings | {"steps": 4})[0], tmp_path / "part")
    again = fit(small("video_dorsal@scenes", **settings)[0], tmp_path / "part", resume=True)
    pairs = zip(whole.trained.parameters(), again.trained.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_clips_are_recognised_by_many_looks(cameras):
    recipe, _ = small(f"video_ventral_dorsal@{cameras}")
    splits = {split: recipe.data(split) for split in ("train", "test")}
    torch.manual_seed(0)
    encoders = build_encoders(recipe)
    tuning = FineTuning(epochs=1, batch=6, hidden=8)
    for crops in (1, 10):
        score = recognise(encoders["frame"], recipe, splits, tuning=tuning, frames=2, crops=crops)
        assert score in (0, 25, 50, 75, 100)
    again = recognise(encoders["flow"], recipe, splits, view="flow", tuning=tuning, frames=2, crops=10)
    assert 0 <= again <= 100
    found = found_again(encoders["frame"], recipe, splits, looks=3)
    assert list(found) == [1, 5, 10]
    assert found[1] <= found[5] <= found[10] == 100
    with pytest.raises(ValueError, match="1 or 10 crops"):
        recognise(encoders["frame"], recipe, splits, crops=3)


def test_sizes_follow_from_the_clips(cameras):
    ucf, _ = find_recipe("video_ventral_dorsal@ucf101")
    assert (ucf.augment.keywords["size"], ucf.batch_size, ucf.epochs) == (224, 128, 203)
    assert ucf.encoders["flow"].args == (20,)
    rooms, _ = find_recipe("video_dorsal@scenes")
    assert (rooms.encoders["flow"].args, rooms.augment.keywords["flip"]) == ((12,), False)
    assert (clip_set(str(cameras)).crop, clip_set(str(cameras)).epochs) == (42, 3000)
