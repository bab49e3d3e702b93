"""Pairs of patches: each where it should be in its picture, always the same, and cut as views and probes need them."""

import pytest
import torch
from PIL import Image

from coview.data import Dataset
from coview.data.images import AbsentData
from coview.data.images.large import large_files, large_pictures
from coview.data.patches import patch_pairs
from coview.views import patch


def numbered(height, width, picture):
    """A picture that says at each pixel which one it is, and where: in red, green and blue."""
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([torch.full_like(rows, picture), rows, columns]).to(torch.uint8)


PICTURES = [numbered(40, 61, 1), numbered(90, 35, 2), numbered(20, 20, 3), numbered(33, 33, 4)]


@pytest.fixture
def pairs():
    return patch_pairs("plain", PICTURES, size=9, distance=17, samples=70)


def test_both_patches_are_of_one_picture_at_the_distance(pairs):
    fields = pairs.fetch(torch.arange(70)).fields
    near, far = fields["near"].long(), fields["far"].long()
    assert near.shape == far.shape == (70, 3, 9, 9)
    assert torch.equal(near[:, 0], far[:, 0])
    assert torch.equal(near[:, 1:] + 17, far[:, 1:])
    for one in (near, far):
        assert torch.equal(one[:, 1, 1:], one[:, 1, :-1] + 1)  # rows go down
        assert torch.equal(one[:, 2, :, 1:], one[:, 2, :, :-1] + 1)  # columns to the right
    assert sorted(near[:, 0, 0, 0].unique().tolist()) == [1, 2, 4]  # the third is too small


def test_all_places_that_fit_are_taken():
    """A picture of 33: the near corner is from 0 to 33 - 9 - 17, both ends included."""
    pairs = patch_pairs("plain", PICTURES[3:], size=9, distance=17, samples=600)
    corner = pairs.fetch(torch.arange(600)).fields["near"][:, 1:, 0, 0]
    assert corner.unique().tolist() == list(range(8))


def test_patches_may_touch_and_even_be_the_same():
    alike = patch_pairs("plain", PICTURES, size=5, distance=0, samples=8).fetch(torch.arange(8)).fields
    assert torch.equal(alike["near"], alike["far"])


def test_it_is_a_dataset_and_a_sample_is_always_the_same(pairs):
    assert isinstance(pairs, Dataset)
    assert len(pairs) == 70
    assert pairs.label is None
    first = pairs.fetch(torch.tensor([41, 3, 12]))
    assert first.index.tolist() == [41, 3, 12]
    again = torch.cat([sample.fields["far"] for sample in pairs.batches(16)])
    assert torch.equal(again[[41, 3, 12]], first.fields["far"])
    assert pairs.group.tolist() == [n % 3 for n in range(70)]
    assert pairs.subset(torch.tensor([8, 41, 5])).group.tolist() == [2, 2, 2]
    some = pairs.subset(torch.tensor([8, 41, 5])).subset(torch.tensor([1]))
    assert len(some) == 1
    assert torch.equal(some.fetch(torch.tensor([0])).fields["near"], first.fields["near"][:1])
    other = patch_pairs("plain", PICTURES, size=9, distance=17, samples=70, seed=1)
    assert not torch.equal(
        other.fetch(torch.arange(70)).fields["near"], pairs.fetch(torch.arange(70)).fields["near"]
    )
    (batch,) = pairs.to("cpu").epoch([torch.tensor([41])])
    assert torch.equal(batch.fields["near"], first.fields["near"][:1])


def test_a_patch_as_a_view(pairs):
    fields = pairs.fetch(torch.arange(3)).fields
    view = patch(fields, name="far")
    torch.testing.assert_close(view, fields["far"].float() / 127.5 - 1)
    assert patch(fields, name="near", space="Lab").shape == (3, 3, 9, 9)
    with pytest.raises(ValueError, match="the dataset has no field 'middle': it stores near, far"):
        patch(fields, name="middle")


def test_pictures_that_are_too_small():
    with pytest.raises(
        ValueError, match="need pictures of 128 pixels a side, but of the 4 of 'plain' the largest has 40"
    ):
        patch_pairs("plain", PICTURES, size=64, distance=64)
    with pytest.raises(ValueError, match="count from 1, distance from 0: got 0, 50000 and 4"):
        patch_pairs("plain", PICTURES, size=0, distance=4)


def test_folders_of_pictures_and_div2k(tmp_path):
    folder = tmp_path / "DIV2K" / "DIV2K_train_HR"
    folder.mkdir(parents=True)
    for number, picture in enumerate(PICTURES):
        Image.fromarray(picture.permute(1, 2, 0).numpy()).save(folder / f"{number:04d}.png")
    (folder / "0009.png").write_bytes(b"broken")
    assert len(large_files("div2k", tmp_path)) == 5
    found = large_pictures("div2k", str(tmp_path))
    assert [one.shape for one in found] == [one.shape for one in PICTURES]
    assert torch.equal(found[1], PICTURES[1])
    assert len(large_pictures(str(folder), pictures=2)) == 2


def test_pictures_that_are_not_there(tmp_path):
    with pytest.raises(
        AbsentData, match=r"no DIV2K in .*: get DIV2K_train_HR.zip from https://data.vision.ee.ethz.ch"
    ):
        large_files("div2k", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(AbsentData, match="no pictures in"):
        large_files(str(tmp_path / "empty"))


def test_rooms_are_rendered_large():
    rooms = large_pictures("scenes", pictures=2, side=96)
    assert [one.shape for one in rooms] == [(3, 96, 96)] * 2
    assert not torch.equal(rooms[0], rooms[1])
