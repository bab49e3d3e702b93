"""Folders of pictures: how they are divided and labelled, what is kept in memory, and what is wrong with some."""

import os
from functools import partial

import layouts
import numpy as np
import pytest
import torch
from PIL import Image

from coview.data import Resident, Stream
from coview.data.images import image_data
from coview.data.images.square import square
from coview.data.stream import BrokenFiles
from coview.views import centre_crop, crop_and_flip


def channels_first(pictures: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(pictures).permute(0, 3, 1, 2)


def test_a_folder_of_classes_is_divided(tmp_path):
    written = layouts.class_folders(tmp_path / "homes", each=10, size=24)
    train, test, everything = (
        image_data(str(tmp_path / "homes"), split) for split in ("train", "test", "all")
    )
    assert [data.name for data in (train, test)] == ["homes train", "homes test"]
    assert train.classes == test.classes == ("bed", "kitchen", "office")
    assert test.label.tolist() == [0, 0, 1, 1, 2, 2]
    assert train.label.bincount().tolist() == [8, 8, 8]
    assert torch.equal(everything.fields["rgb"], torch.cat([channels_first(one) for one in written.values()]))
    both = {picture.numpy().tobytes() for data in (train, test) for picture in data.fields["rgb"]}
    assert len(both) == 30  # nothing is in both
    again = image_data(str(tmp_path / "homes"), "test")
    assert torch.equal(again.fields["rgb"], test.fields["rgb"])


@pytest.mark.parametrize("name", ["test", "val", "valid", "validation"])
def test_a_folder_of_splits(tmp_path, name):
    for split, each in {"train": 4, name: 3}.items():
        layouts.class_folders(tmp_path / split, each=each)
    layouts.class_folders(tmp_path / "unlabeled", classes=("some", "more"), each=2)
    train, test, more = (image_data(str(tmp_path), split) for split in ("train", "test", "unlabeled"))
    assert (len(train), len(test), len(more)) == (12, 9, 4)
    assert train.classes == test.classes == ("bed", "kitchen", "office")
    assert (more.label, more.classes) == (None, ())
    joined = image_data(str(tmp_path), "train+unlabeled")
    assert joined.label.tolist() == [*train.label.tolist(), -1, -1, -1, -1]
    assert (joined.name.split()[-1], joined.classes) == ("train+unlabeled", train.classes)
    assert torch.equal(joined.fields["rgb"], torch.cat([train.fields["rgb"], more.fields["rgb"]]))


def test_a_test_set_need_not_have_every_class(tmp_path):
    layouts.class_folders(tmp_path / "train", each=4)
    layouts.class_folders(tmp_path / "test", classes=("kitchen",), each=2)
    test = image_data(str(tmp_path), "test")
    assert (test.label.tolist(), test.classes) == ([1, 1], ("bed", "kitchen", "office"))


def test_a_flat_folder_has_no_labels(tmp_path):
    for number, picture in enumerate(layouts.rooms(15, size=20)):
        layouts.save(
            picture,
            tmp_path / f"deep/{number % 2}/{number:02}.png" if number > 9 else tmp_path / f"{number:02}.png",
        )
    (tmp_path / "deep").rename(tmp_path / ".hidden")
    train, test = (image_data(str(tmp_path), split) for split in ("train", "test"))
    assert (len(train), len(test)) == (8, 2)
    assert (train.label, train.classes) == (None, ())


def test_pictures_may_lie_deep_and_links_go_in_a_circle(tmp_path):
    layouts.class_folders(tmp_path, each=2)
    (tmp_path / "bed/000.png").rename(tmp_path / "bed/first.png")
    (tmp_path / "bed/more").mkdir()
    (tmp_path / "bed/first.png").rename(tmp_path / "bed/more/first.png")
    (tmp_path / "bed/more/circle").symlink_to(tmp_path / "bed")
    (tmp_path / "kitchen/linked.png").symlink_to(tmp_path / "bed/001.png")
    data = image_data(str(tmp_path), "all")
    assert data.label.tolist() == [0, 0, 1, 1, 1, 2, 2]


def test_folders_are_found_below_the_root_too(tmp_path):
    layouts.class_folders(tmp_path / "homes")
    assert len(image_data("homes", "all", root=tmp_path)) == 15


@pytest.mark.parametrize("resident", ["auto", "always", "never"])
@pytest.mark.parametrize("limit", [15 * 3 * 24 * 24, 15 * 3 * 24 * 24 - 1])
def test_in_memory_or_streaming(tmp_path, resident, limit):
    layouts.class_folders(tmp_path, each=5, size=24)
    data = image_data(str(tmp_path), "all", resident=resident, limit=limit)
    in_memory = resident == "always" or (resident == "auto" and limit == 15 * 3 * 24 * 24)
    assert isinstance(data, Resident if in_memory else Stream)
    reference = image_data(str(tmp_path), "all", resident="always")
    index = torch.tensor([14, 2, 7])
    for one, other in zip((data.fetch(index), data.fetch(index)), (reference.fetch(index),) * 2, strict=True):
        assert torch.equal(one.fields["rgb"], other.fields["rgb"])
        assert torch.equal(one.label, other.label)


def mixed(folder, odd=1, count=12) -> None:
    """Pictures of one size, and some at the end of another."""
    for number, picture in enumerate(layouts.rooms(count, size=30)):
        layouts.save(picture[:20] if number >= count - odd else picture, folder / f"{number:02}.png")


@pytest.mark.parametrize("odd", [1, 6])
def test_pictures_of_several_sizes_stream(tmp_path, monkeypatch, odd):
    mixed(tmp_path, odd=odd)
    if odd == 1:
        monkeypatch.setattr(
            "coview.data.images.memory.LOOKED_AT", 2
        )  # so that the odd one is met while reading
    data = image_data(str(tmp_path), "all")
    assert isinstance(data, Stream)
    assert data.fetch(torch.tensor([0, 11])).fields["extent"].tolist() == [[30, 30], [20, 30]]
    with pytest.raises(ValueError, match=r"differ in size: give side=, or let them stream$"):
        image_data(str(tmp_path), "all", resident="always")


@pytest.mark.parametrize("resident", ["auto", "never"])
def test_side_makes_one_size_of_several(tmp_path, resident):
    mixed(tmp_path, odd=5)
    data = image_data(str(tmp_path), "all", side=14, resident=resident)
    assert isinstance(data, Resident if resident == "auto" else Stream)
    sample = data.fetch(torch.tensor([0, 11]))
    assert set(sample.fields) == {"rgb"}
    assert sample.fields["rgb"].shape == (2, 3, 14, 14)


@pytest.mark.parametrize(
    ("height", "width", "side"), [(40, 28, 14), (28, 40, 14), (20, 30, 10), (12, 17, 24)]
)
def test_a_square_is_the_middle_resized(height, width, side):
    picture = torch.from_numpy(layouts.rooms(1, size=40)[0][:height, :width]).permute(2, 0, 1).contiguous()
    found = square(picture, side)
    assert found.shape == (3, side, side)
    assert found.dtype == torch.uint8
    reference = centre_crop({"rgb": picture[None]}, size=side, shorter=side, smooth=8)["rgb"][0]
    assert (found.float() - reference.float()).abs().mean() < 3
    other = square(picture.flip(2), side).flip(2)
    assert (found.int() - other.int()).abs().max() <= 1  # it is the middle


def test_a_square_of_the_right_size_is_left_as_it_is():
    picture = torch.randint(256, (3, 9, 9)).to(torch.uint8)
    assert torch.equal(square(picture, 9), picture)


def odd_file(kind: str, path) -> None:
    """A picture of another kind, which is good all the same."""
    picture = Image.fromarray(layouts.rooms(1, size=24)[0])
    if kind == "16 bit":
        picture = Image.fromarray(np.asarray(picture.convert("L")).astype(np.uint16) * 257)
    modes = {"palette": "P", "grey": "L", "alpha": "RGBA", "black and white": "1"}
    picture = picture.convert(modes[kind]) if kind in modes else picture
    picture.save(path)


@pytest.mark.parametrize("kind", ["16 bit", "palette", "grey", "alpha", "black and white"])
def test_pictures_of_other_kinds_become_colour_of_8_bits(tmp_path, kind):
    layouts.class_folders(tmp_path, each=5, size=24)
    odd_file(kind, tmp_path / "bed/000.png")
    data = image_data(str(tmp_path), "all")
    assert data.fields["rgb"].shape == (15, 3, 24, 24)
    seen = data.fields["rgb"][0].float()
    reference = torch.from_numpy(layouts.rooms(1, size=24)[0]).permute(2, 0, 1).float()
    wrong = (
        (seen - reference).mean(0).unfold(0, 6, 6).unfold(1, 6, 6).mean((2, 3))
    )  # black and white make grey in the mean
    assert wrong.abs().max() < 25
    assert torch.equal(seen[0], seen[1]) == (kind in ("16 bit", "grey", "black and white"))


def many(folder, each=70) -> None:
    layouts.class_folders(folder, classes=("bed", "kitchen"), each=each, size=12, kind="jpg")


def read_all(folder, resident):
    """The dataset, and the numbers of the samples that it gives."""
    data = image_data(str(folder), "all", resident=resident)
    return data, torch.cat([sample.index for sample in data.batches(50)])


@pytest.mark.parametrize("resident", ["always", "never"])
@pytest.mark.parametrize("kind", ["truncated", "empty", "text", "gone"])
def test_a_broken_picture_is_left_out_counted_and_named(tmp_path, kind, resident):
    many(tmp_path)
    whole, _ = read_all(tmp_path, "always")
    path = tmp_path / "bed/003.jpg"
    content = {"truncated": path.read_bytes()[:-80], "text": b"these are words"}.get(kind, b"")
    path.unlink()
    if kind == "gone":
        path.symlink_to(tmp_path / "nowhere.jpg")
    else:
        path.write_bytes(content)
    with pytest.warns(UserWarning, match=rf"^1 of 140 samples of dataset '.* all' .*: {path} \(.*\)$"):
        data, index = read_all(tmp_path, resident)
    assert len(index) == 139
    if resident == "always":
        others = torch.arange(140) != 3
        assert torch.equal(data.fields["rgb"], whole.fields["rgb"][others])
        assert torch.equal(data.label, whole.label[others])


def test_more_broken_pictures_than_one_in_a_hundred_stop(tmp_path):
    many(tmp_path)
    for number in (3, 5):
        (tmp_path / f"bed/{number:03}.jpg").write_bytes(b"")
    with pytest.raises(BrokenFiles, match=r"^2 of 140 samples .* more than the 1 % .*: .*/bed/003.jpg"):
        image_data(str(tmp_path), "all", resident="always")


@pytest.mark.parametrize("side", [None, 8])
def test_all_broken(tmp_path, side):
    (tmp_path / "one.png").write_bytes(b"")
    with pytest.raises(
        BrokenFiles, match=r"^1 of 1 samples .* more than the 1 % .*/one.png \(the file is empty\)"
    ):
        image_data(str(tmp_path), "all", resident="always", side=side)


def test_files_that_are_no_pictures(tmp_path):
    layouts.class_folders(tmp_path)
    for name in ("notes.txt", "Thumbs.db", ".hidden.png"):
        (tmp_path / "bed" / name).write_text("words")
    assert len(image_data(str(tmp_path), "all")) == 15
    os.mkfifo(tmp_path / "bed/pipe.png")  # to read it would take for ever
    (tmp_path / "office/scan.heic").write_text("a picture of a kind that is not read")
    with pytest.warns(
        UserWarning, match=r"2 files \(pipe.png, scan.heic\) are no pictures by their names: left out"
    ):
        assert len(image_data(str(tmp_path), "all")) == 15


def empty_class(folder) -> None:
    (folder / "train/attic").mkdir()


def other_kinds(folder) -> None:
    empty_class(folder)
    for number in range(7):
        (folder / f"train/attic/{number}.npy").write_bytes(b"")


def strange_class(folder) -> None:
    layouts.class_folders(folder / "test", classes=("beds",), each=1)


def no_test(folder) -> None:
    for path in sorted((folder / "test").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (folder / "test").rmdir()


def no_labels(folder) -> None:
    for number, path in enumerate(sorted(folder.glob("test/*/*"))):
        path.rename(folder / f"test/{number}.png")
    for name in ("bed", "kitchen", "office"):
        (folder / "test" / name).rmdir()


def list_lacks_one(folder) -> None:
    no_labels(folder)
    (folder / "test/images").mkdir()
    for path in list((folder / "test").glob("*.png")):
        path.rename(folder / "test/images" / path.name)
    (folder / "test/val_annotations.txt").write_text("0.png\tbed\n1.png\tkitchen\n")


def list_is_no_list(folder) -> None:
    no_labels(folder)
    (folder / "test/val_annotations.txt").write_text("0.png\tbed\nwords\n")


def file_for_train(folder) -> None:
    (folder / "train").rename(folder / "attic")
    (folder / "train").write_text("a file")


def no_train(folder) -> None:
    (folder / "train").rename(folder / "trian")


@pytest.mark.parametrize(
    ("spoil", "split", "message"),
    [
        (empty_class, "train", r"the class folder .*/train/attic has no pictures: fill it or remove it$"),
        (
            other_kinds,
            "train",
            r"attic has no pictures, only 7 files \(0.npy, 1.npy, 2.npy, 3.npy, 4.npy, \.\.\.\): ",
        ),
        (strange_class, "test", r"/test has a folder 'beds', .* no class of .* \(did you mean 'bed'\?\)$"),
        (no_test, "test", r"no split 'test' of .*; it has train$"),
        (
            no_labels,
            "test",
            r"labels are missing: .*/test has no folder called like a class, as train/bed is$",
        ),
        (list_lacks_one, "test", r"the list of classes beside .*/test says nothing of 4 files \(2.png, "),
        (
            list_is_no_list,
            "test",
            r"val_annotations.txt should have a name and a class in each line, but one is 'words'$",
        ),
        (file_for_train, "train", r"has no folder train/: it has attic, test$"),
        (no_train, "train", r"has no folder train/: it has test, trian$"),
        (
            lambda folder: None,
            "tset",
            r"no split 'tset' of .* \(did you mean 'test'\?\); it has train, test$",
        ),
        (lambda folder: None, "all", r"no split 'all' of .*; it has train, test$"),
    ],
)
def test_folders_that_are_not_as_they_should_be(tmp_path, spoil, split, message):
    for part, each in {"train": 3, "test": 2}.items():
        layouts.class_folders(tmp_path / part, each=each)
    spoil(tmp_path)
    with pytest.raises(ValueError, match=message) as caught:
        image_data(str(tmp_path), split)
    assert "\n" not in str(caught.value)


def test_folders_without_pictures(tmp_path):
    with pytest.raises(ValueError, match=rf"^{tmp_path} has no pictures$"):
        image_data(str(tmp_path), "train")
    (tmp_path / "scan.heic").write_bytes(b"")
    with pytest.raises(ValueError, match=r"has no pictures, only 1 file \(scan.heic\)$"):
        image_data(str(tmp_path), "train")


def test_a_file_in_place_of_a_folder(tmp_path):
    (tmp_path / "file.png").write_bytes(b"")
    with pytest.raises(
        NotADirectoryError, match=r"file.png is no folder: pictures are given as a folder of them$"
    ):
        image_data(str(tmp_path / "file.png"), "train")


def test_a_folder_that_may_not_be_read(tmp_path, monkeypatch):
    layouts.class_folders(tmp_path)
    scan = os.scandir

    def refuse(path):  # a superuser may read everything
        if str(path).endswith("kitchen"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*/kitchen'"):
        image_data(str(tmp_path), "all")


def test_a_picture_smaller_than_the_crop(tmp_path):
    layouts.class_folders(tmp_path, size=24)
    sample = image_data(str(tmp_path), "all").fetch(torch.arange(4))
    crop = partial(crop_and_flip, generator=torch.Generator().manual_seed(0), size=32)
    with pytest.raises(ValueError, match=r"^cannot crop 32 pixels from 24x24 with a padding of 0"):
        crop(sample.fields)
    assert crop(sample.fields, padding=4)["rgb"].shape == (4, 3, 32, 32)
