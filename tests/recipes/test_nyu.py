"""Recipes of frames: two steps on the official files of NYU, sizes that follow from the data, gaps, and segments."""

import json
import math

import frames_on_disk
import pytest
import torch

import coview.recipes.nyu as module
from coview.data.rgbd import rgbd_data
from coview.recipes.find import find_recipe, recipes_in
from coview.recipes.frames import complete, derive_normals, kept, read_frames, sizes_of
from coview.recipes.segmenting import read_segments, usable
from coview.training import Recipe, fit

NAMES = list(recipes_in(module))
ROOMS = {"data.samples": 24, "batch_size": 8, "log_every": 1}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The official files, with frames that are just large enough."""
    root = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames_on_disk, "HEIGHT", 130)
        patch.setattr(frames_on_disk, "WIDTH", 140)
        frames_on_disk.nyu(root / "nyu", train=(1, 2, 4, 5))
    return root


def small(name: str, **settings) -> Recipe:
    """A recipe with thin encoders, not compiled."""
    recipe, _ = find_recipe(name)
    settings |= {"compile": False, "channels_last": False}
    for view, part in recipe.encoders.items():
        inner = "make." if "make" in part.keywords else ""
        settings[f"encoders.{view}.{inner}width"] = 0.1
    return find_recipe(name, [f"{name}={value}" for name, value in settings.items()])[0]


def losses(folder) -> list[float]:
    return [json.loads(line)["loss"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.filterwarnings("ignore:view '.*' is missing for all 2 samples of a batch")
@pytest.mark.parametrize("name", NAMES)
def test_two_steps_on_the_official_files(name, root, tmp_path):
    recipe = small(name, steps=2, batch_size=2, log_every=1, epochs=1, **{"data.root": root})
    training = fit(recipe, tmp_path / "run")
    assert training.step == 2
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert {name for row in rows for name in row["terms"]} <= {one.name for one in recipe.graph.directed()}
    assert all(math.isfinite(value) for row in rows for value in row["terms"].values())


def test_the_papers_numbers_are_set():
    recipe, _ = find_recipe("nyu")
    assert (recipe.epochs, recipe.milestones, recipe.decay) == (3000, (2000, 2400, 2800), 0.2)
    assert (recipe.optimiser, recipe.learning_rate, recipe.momentum, recipe.batch_size) == (
        "adam",
        1e-3,
        0.5,
        128,
    )
    assert recipe.augment.keywords == {"size": 128, "padding": 0}
    assert recipe.graph.views == ("L", "ab", "depth", "normal")
    assert len(recipe.graph.edges) == 24  # twelve ordered pairs, two maps
    assert len(find_recipe("nyu_core")[0].graph.edges) == 12


def test_sizes_follow_from_the_data(tmp_path):
    rooms, _ = find_recipe("nyu@scenes")
    assert (rooms.epochs, rooms.milestones) == (60, (40, 48, 56))
    assert rooms.augment.keywords == {"size": 64, "padding": 6}
    frames_on_disk.frames(tmp_path / "mine", count=7, size=40)
    sizes = sizes_of(str(tmp_path / "mine"))
    assert (sizes.samples, sizes.side, sizes.crop, sizes.length) == (6, 40, 40, 1.0)
    recipe = small(f"nyu@{tmp_path / 'mine'}", steps=1, batch_size=3)
    assert fit(recipe, tmp_path / "run").step == 1


# Made by these recipes on a CPU. They are to change only with a line in CHANGELOG.md that says so.
CURVES = {"nyu_core@scenes": [93.2362, 92.4774, 92.8497]}


@pytest.mark.parametrize("name", list(CURVES))
def test_the_loss_goes_as_it_went(name, tmp_path):
    fit(small(name, steps=3, **ROOMS), tmp_path / "run")
    assert losses(tmp_path / "run") == pytest.approx(CURVES[name], rel=5e-3)


def test_normals_are_derived_where_none_are_given(tmp_path):
    frames_on_disk.frames(tmp_path / "mine", count=4)
    given = rgbd_data(str(tmp_path / "mine"), "all")
    (tmp_path / "mine/normal/frame01.png").unlink()
    some = derive_normals(rgbd_data(str(tmp_path / "mine"), "all"))
    for row in (0, 2, 3):
        assert torch.equal(some.fields["normal"][row], given.fields["normal"][row])
    length = some.fields["normal"][1].float().square().sum(0).sqrt()
    assert set(length.round().int().unique().tolist()) <= {0, 126, 127, 128}
    assert (length > 0).float().mean() > 0.4
    assert not some.present
    for path in (tmp_path / "mine/normal").iterdir():
        path.unlink()
    assert derive_normals(rgbd_data(str(tmp_path / "mine"), "all")).fields["normal"].any()


def test_gaps_and_what_is_left_without_them():
    everything = read_frames("train", name="scenes", samples=40)
    gaps = read_frames("train", name="scenes", samples=40, share=0.5)
    assert {view: there.tolist() for view, there in gaps.present.items()} == {
        view: there.tolist() for view, there in kept(40, 0.5).items()
    }
    assert gaps.present["depth"].tolist() != gaps.present["normal"].tolist()
    left = read_frames("train", name="scenes", samples=40, share=0.5, drop=True)
    rows = gaps.present["depth"] & gaps.present["normal"]
    assert torch.equal(left.fields["rgb"], everything.fields["rgb"][rows])
    assert len(left) == complete(40, 0.5) == int(rows.sum())
    assert not read_frames("test", name="scenes", samples=40, share=0.5).present  # all are tested on
    assert read_frames("train", name="scenes", samples=40) is everything  # read once


def test_segments_are_read_from_a_view(tmp_path):
    recipe = small("nyu_one@scenes", **ROOMS)
    splits = {split: recipe.data(split) for split in ("train", "test")}
    found = read_segments(recipe, recipe.encoders["L"](), "L", splits, epochs=2)
    assert int(found.scored.matrix.sum()) == 24 * 64 * 64  # every pixel of every frame to test on
    assert 0 < found.scored.mean_iou < found.scored.pixel_accuracy < 100
    again = read_segments(recipe, found.unet.encoder, "L", splits, epochs=2)
    assert torch.equal(again.scored.matrix, found.scored.matrix)  # the frozen encoder is what it was
    pictures, truth, said = found.shown(torch.tensor([3, 5]))
    assert (pictures.shape, truth.shape, said.shape) == ((2, 3, 64, 64), (2, 1, 64, 64), (2, 1, 64, 64))
    assert said.min() >= 1


def test_only_frames_that_have_the_view_and_segments_are_segmented(tmp_path):
    frames_on_disk.frames(tmp_path / "mine", count=5)
    for kind, stem in (("depth", 1), ("label", 3)):
        (tmp_path / f"mine/{kind}/frame{stem:02d}.png").unlink()
    frames = rgbd_data(str(tmp_path / "mine"), "all")
    assert len(usable(frames, "depth")) == 3
    assert len(usable(frames, "L")) == 4
    for path in (tmp_path / "mine/label").iterdir():
        path.unlink()
    with pytest.raises(ValueError, match="'mine all' has no segments: frames need label/"):
        usable(rgbd_data(str(tmp_path / "mine"), "all"), "L")
