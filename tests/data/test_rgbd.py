"""Frames from official files of NYU-Depth-V2, from folders and from rendered rooms; what can be wrong with them."""

import json

import frames_on_disk
import h5py
import numpy as np
import pytest
import scipy.io
import torch
from torch import nn

from coview.data.images.place import AbsentData
from coview.data.rgbd import NYU13, NYU40, count_frames, rgbd_data
from coview.data.rgbd.classes import groups_of_13
from coview.data.scenes import SEGMENTS


@pytest.fixture(scope="module")
def official(tmp_path_factory):
    root = tmp_path_factory.mktemp("official")
    return root, frames_on_disk.nyu(root / "nyu")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "mine"
    return place, frames_on_disk.frames(place)


def test_the_official_files_turned_upright_and_split(official):
    root, made = official
    found = rgbd_data("nyu", "train", root=root, classes=894)
    rows = [1, 2, 4]
    assert np.array_equal(found.fields["rgb"], made["images"][rows])
    assert np.allclose(found.fields["depth"][:, 0], made["depths"][rows], rtol=1e-3)
    assert np.array_equal(found.fields["segment"][:, 0], made["labels"][rows])
    assert found.segments == ("void", *frames_on_disk.NAMES)
    assert len(rgbd_data("nyu", "test", root=root)) == 2
    assert count_frames("nyu", root) == {"train": 3, "test": 2}
    assert found.camera.cx == pytest.approx(325.08 * 32 / 640, abs=1e-2)


def test_894_classes_become_40_and_13(official):
    root, made = official
    label = made["labels"][[0, 3]].astype(int)
    by_40 = np.array([0, *frames_on_disk.to_40()])[label]
    found = rgbd_data("nyu", "test", root=root, classes=40)
    assert np.array_equal(found.fields["segment"][:, 0], by_40)
    assert found.segments == NYU40
    coarse = rgbd_data("nyu", "test", root=root)
    assert coarse.segments == NYU13
    for number in range(41):
        there = coarse.fields["segment"][:, 0].numpy()[by_40 == number]
        assert set(there) <= {int(groups_of_13()[number])}


def test_the_groups_are_those_of_couprie():
    groups = groups_of_13().tolist()
    assert (len(NYU40), len(NYU13), groups[0], set(groups)) == (41, 14, 0, set(range(14)))
    told = {
        "night stand": "furniture",
        "blinds": "window",
        "desk": "table",
        "pillow": "objects",
        "door": "wall",
    }
    assert {name: NYU13[groups[NYU40.index(name)]] for name in told} == told


def test_a_folder_by_matching_stems(folder):
    place, made = folder
    found = rgbd_data(str(place), "all")
    assert torch.equal(found.fields["rgb"], made["rgb"])
    assert (found.fields["depth"] - made["depth"]).abs().max() < 0.01
    assert torch.equal(found.fields["segment"], made["segment"] + 1)
    apart = nn.functional.normalize(found.fields["normal"].float(), dim=1) - made["normal"]
    assert apart.square().sum(1).sqrt().rad2deg().max() < 1.0
    assert found.camera.fx == pytest.approx(float(json.loads((place / "camera.json").read_text())["fx"]))
    assert (len(rgbd_data(str(place), "train")), len(rgbd_data(str(place), "test"))) == (4, 1)
    assert count_frames(str(place)) == {"train": 4, "test": 1}
    assert not found.present


def test_a_folder_with_lists_and_names(folder):
    place, made = folder
    (place / "train.txt").write_text("frame03\nframe01\n")
    (place / "test.txt").write_text("frame00\n")
    (place / "classes.txt").write_text("\n".join(SEGMENTS) + "\n")
    found = rgbd_data(str(place), "train")
    assert torch.equal(found.fields["rgb"], made["rgb"][[3, 1]])
    assert found.segments == ("void", *SEGMENTS)
    (place / "test.txt").write_text("frame99\n")
    with pytest.raises(ValueError, match=r"lists 1 frames that are not there, such as frame99"):
        rgbd_data(str(place), "test")


def test_what_a_frame_lacks_is_not_present(folder):
    place, made = folder
    for kind, stem in (("depth", 1), ("depth", 4), ("normal", 0), ("normal", 4), ("rgb", 2)):
        (place / kind / f"frame{stem:02d}.png").unlink()
    found = rgbd_data(str(place), "all")
    assert {view: there.tolist() for view, there in found.present.items()} == {
        "L": [True, True, False, True, True],
        "ab": [True, True, False, True, True],
        "rgb": [True, True, False, True, True],
        "depth": [True, False, True, True, False],
        "normal": [True, True, True, True, False],  # frame 0 has depth, from which they follow
    }
    assert torch.equal(found.fields["rgb"][3], made["rgb"][3])


def test_arrays_in_place_of_images(folder):
    place, made = folder
    for kind in ("depth", "normal"):
        for path in (place / kind).iterdir():
            path.unlink()
    for row in range(5):
        np.save(place / "depth" / f"frame{row:02d}.npy", made["depth"][row, 0].numpy())
        np.save(place / "normal" / f"frame{row:02d}.npy", made["normal"][row].movedim(0, -1).numpy())
    found = rgbd_data(str(place), "all")
    assert (found.fields["depth"] - made["depth"]).abs().max() < 0.01
    assert torch.equal(found.fields["normal"], (made["normal"] * 127).round().to(torch.int8))


def test_depth_in_other_units(folder):
    place, made = folder
    known = json.loads((place / "camera.json").read_text())
    (place / "camera.json").write_text(json.dumps({**known, "depth_scale": 5000}))
    found = rgbd_data(str(place), "all")
    assert (found.fields["depth"] - made["depth"] / 5).abs().max() < 0.01
    (place / "camera.json").write_text(json.dumps({**known, "depth_scale": 0.5}))
    with pytest.raises(
        ValueError, match=r'reaches [\d,]+ metres: say how many .* "depth_scale" in camera\.json'
    ):
        rgbd_data(str(place), "all")


def test_rendered_rooms():
    found = rgbd_data("scenes", "train", samples=7, side=20)
    assert {name: (tuple(values.shape[1:]), values.dtype) for name, values in found.fields.items()} == {
        "rgb": ((3, 20, 20), torch.uint8),
        "depth": ((1, 20, 20), torch.float16),
        "normal": ((3, 20, 20), torch.int8),
        "segment": ((1, 20, 20), torch.uint8),
    }
    assert found.fields["segment"].min() >= 1
    assert found.segments == ("void", *SEGMENTS)
    part = found.subset(torch.tensor([5, 2]))
    assert (len(part), part.segments) == (2, found.segments)  # it stays what it is


def test_missing_intrinsics_are_said(folder):
    place, _ = folder
    (place / "camera.json").unlink()
    with pytest.warns(UserWarning, match=r"a usual camera, fx = fy = 28\.8, cx = 16, cy = 16"):
        found = rgbd_data(str(place), "all")
    assert (found.camera.fx, found.camera.cy) == (28.8, 16)
    (place / "camera.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match=r"camera\.json should be like"):
        rgbd_data(str(place), "all")


def test_maps_of_different_size(folder):
    place, _ = folder
    for path in (place / "depth").iterdir():
        frames_on_disk.save(path, torch.ones(16, 32, dtype=torch.uint16))
    with pytest.raises(ValueError, match=r"differ in size \(rgb 32x32, depth 16x32"):
        rgbd_data(str(place), "all")
    frames_on_disk.save(place / "rgb/frame03.png", torch.zeros(8, 9, 3, dtype=torch.uint8))
    with pytest.raises(ValueError, match=r"frame03\.png is 8x9, but .*frame00\.png is 32x32"):
        rgbd_data(str(place), "all")


def test_a_label_above_the_class_count(folder, official, tmp_path):
    place, _ = folder
    (place / "classes.txt").write_text("wall\nfloor\n")
    with pytest.raises(
        ValueError, match=r"the labels of .*frame0\d\.png go from \d+ to \d+, but there are 2 classes"
    ):
        rgbd_data(str(place), "all")
    frames_on_disk.nyu(tmp_path / "nyu")
    with h5py.File(tmp_path / "nyu/nyu_depth_v2_labeled.mat", "a") as file:
        file["labels"][1, 3, 4] = 900
    for classes in (13, 894):
        with pytest.raises(
            ValueError, match=r"the labels of frame 2 of .* to 900, but there are 894 classes"
        ):
            rgbd_data("nyu", "train", root=tmp_path, classes=classes)


@pytest.mark.parametrize("bad", [float("nan"), -1.0, float("inf")])
def test_depth_that_is_none(folder, tmp_path, bad):
    place, made = folder
    (place / "depth/frame02.png").unlink()
    depth = made["depth"][2, 0].clone()
    depth[3, 5] = bad
    np.save(place / "depth/frame02.npy", depth.numpy())
    with pytest.raises(ValueError, match=r"frame02\.npy has NaN, infinite or negative values: a hole is 0"):
        rgbd_data(str(place), "all")
    frames_on_disk.nyu(tmp_path / "nyu")
    with h5py.File(tmp_path / "nyu/nyu_depth_v2_labeled.mat", "a") as file:
        file["depths"][4, 3, 4] = bad
    with pytest.raises(ValueError, match=r"the depth of frame 5 of .* has NaN"):
        rgbd_data("nyu", "train", root=tmp_path)


def test_a_mat_that_is_not_nyu(tmp_path):
    place = tmp_path / "nyu/nyu_depth_v2_labeled.mat"
    frames_on_disk.nyu(place.parent)
    with h5py.File(place, "a") as file:
        del file["depths"]
    with pytest.raises(
        ValueError, match=r"is not NYU-Depth-V2's .*: it lacks depths, and has images, labels"
    ):
        rgbd_data("nyu", "train", root=tmp_path)
    place.write_bytes(b"MATLAB 5.0 MAT-file, so to say")
    with pytest.raises(ValueError, match=r"is no HDF5 file: wanted is NYU-Depth-V2's own"):
        rgbd_data("nyu", "train", root=tmp_path)


def test_files_that_lie_beside_the_official_one(tmp_path):
    place = tmp_path / "nyu"
    frames_on_disk.nyu(place)
    scipy.io.savemat(place / "classMapping40.mat", {"mapClass": np.ones((1, 12))})
    with pytest.raises(ValueError, match=r"should map 894 classes to 1 to 40, got 12 numbers"):
        rgbd_data("nyu", "train", root=tmp_path)
    (place / "classMapping40.mat").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"classMapping40\.mat: the 40 classes \(classes=894 needs no such"
    ):
        rgbd_data("nyu", "train", root=tmp_path)
    (place / "splits.mat").unlink()
    with pytest.raises(FileNotFoundError, match=r"splits\.mat: the official split is in its 'trainNdxs'"):
        rgbd_data("nyu", "train", root=tmp_path, classes=894)
    scipy.io.savemat(place / "splits.mat", {"trainNdxs": np.array([[1, 77]])})
    with pytest.raises(ValueError, match="names frames up to 77, but there are 5"):
        rgbd_data("nyu", "train", root=tmp_path, classes=894)


def test_names_that_nothing_has(tmp_path, folder):
    with pytest.raises(AbsentData, match=r"no NYU-Depth-V2 in .*: put nyu_depth_v2_labeled\.mat there"):
        rgbd_data("nyu", "train", root=tmp_path)
    with pytest.raises(AbsentData, match=r"no frames 'scene' \(did you mean 'scenes'\?\)"):
        rgbd_data("scene", "train", root=tmp_path)
    with pytest.raises(ValueError, match=r"no split 'tset' of .*did you mean 'test'"):
        rgbd_data(str(folder[0]), "tset")
    frames_on_disk.nyu(tmp_path / "nyu")
    with pytest.raises(ValueError, match="has 13, 40 or 894 classes, got 20"):
        rgbd_data("nyu", "train", root=tmp_path, classes=20)
    with pytest.raises(ValueError, match="scenes have 16 classes"):
        rgbd_data("scenes", "train", samples=3, side=8, classes=13)
    with pytest.raises(ValueError, match="only the 40 of NYU can become 13"):
        rgbd_data(str(folder[0]), "all", classes=13)
