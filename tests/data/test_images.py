"""Image sets by name: official layouts are read as they are, picture by picture; what is absent says so in a line."""

import pickle
import re
import warnings
from functools import partial

import layouts
import numpy as np
import pytest
import torch

from coview.data import Dataset, Resident, Stream
from coview.data.images import AbsentData, image_data, imagenet100_classes
from coview.data.images.cifar import _Array
from coview.data.images.place import data_root
from coview.data.scenes import ROOMS


def channels_first(pictures: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(pictures).permute(0, 3, 1, 2)


def test_cifar10(tmp_path):
    written = layouts.cifar10(tmp_path, train=4, test=3)
    for split, count in {"train": 40, "test": 30}.items():
        data = image_data("cifar10", split, root=tmp_path)
        assert isinstance(data, Resident)
        assert isinstance(data, Dataset)
        assert (data.name, len(data), data.classes) == (f"CIFAR-10 {split}", count, layouts.AIRPLANES)
        assert torch.equal(data.fields["rgb"], channels_first(written[split]))
        assert data.label.bincount().tolist() == [count // 10] * 10
    light = data.fields["rgb"].float().mean((1, 2, 3))
    assert (
        light[data.label == 0].mean() > 1.5 * light[data.label == 9].mean()
    )  # labels go with their pictures


def test_cifar10_is_what_torchvision_reads(tmp_path, monkeypatch):
    from torchvision.datasets import CIFAR10

    layouts.cifar10(tmp_path)
    monkeypatch.setattr(CIFAR10, "_check_integrity", lambda self: True)
    monkeypatch.setattr("torchvision.datasets.cifar.check_integrity", lambda *_: True)
    ours, theirs = image_data("cifar10", "train", root=tmp_path), CIFAR10(str(tmp_path), train=True)
    assert torch.equal(ours.fields["rgb"], channels_first(theirs.data))
    assert ours.label.tolist() == theirs.targets
    assert list(ours.classes) == theirs.classes


@pytest.mark.parametrize("split", ["train", "test", "unlabeled", "train+unlabeled", "fold0", "fold7"])
def test_stl10_is_what_torchvision_reads(tmp_path, monkeypatch, split):
    from torchvision.datasets import STL10

    layouts.stl10(tmp_path, train=4, test=2, unlabeled=13)
    monkeypatch.setattr(STL10, "_check_integrity", lambda self: True)
    fold = int(split[4]) if split.startswith("fold") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torchvision's own
        theirs = STL10(str(tmp_path), split="train" if fold is not None else split, folds=fold)
    ours = image_data("stl10", split, root=tmp_path)
    assert torch.equal(ours.fields["rgb"], torch.from_numpy(theirs.data))
    assert ours.fields["rgb"].is_contiguous()
    assert (ours.label is None) == (split == "unlabeled")
    if ours.label is not None:
        assert ours.label.tolist() == theirs.labels.tolist()
        assert ours.classes == layouts.BIRDS


def test_parts_of_stl10_are_joined(tmp_path):
    written = layouts.stl10(tmp_path, train=2, test=1, unlabeled=13)
    data = image_data("stl10", "train+unlabeled", root=tmp_path)
    assert data.name == "STL-10 train+unlabeled"
    pictures = np.concatenate([written["train"], written["unlabeled"]])
    assert torch.equal(data.fields["rgb"], channels_first(pictures))
    assert data.label.tolist() == [number // 2 for number in range(20)] + [-1] * 13


def test_a_fold_has_its_own_pictures(tmp_path):
    written = layouts.stl10(tmp_path, train=3)
    fold = image_data("stl10", "fold4", root=tmp_path)
    assert torch.equal(fold.fields["rgb"], channels_first(written["train"][[4, 14, 24]]))
    assert fold.label.tolist() == [4 // 3, 14 // 3, 24 // 3]


def test_tiny_imagenet(tmp_path):
    written = layouts.tiny(tmp_path, train=3, val=2)
    train, test = (image_data("tiny", split, root=tmp_path) for split in ("train", "test"))
    assert (train.name, len(train), len(test)) == ("Tiny-ImageNet train", 12, 8)
    assert train.classes == test.classes == ("thing 0", "thing 1", "thing 2", "thing 3")
    assert train.label.tolist() == [number // 3 for number in range(12)]
    assert test.label.bincount().tolist() == [2, 2, 2, 2]
    for data, pictures in ((train, written["train"]), (test, written["val"])):
        wrong = (data.fields["rgb"].int() - channels_first(pictures).int()).abs().float()
        assert wrong.mean() < 8  # what a JPEG changes


def test_tiny_imagenet_as_plain_class_folders(tmp_path):
    for split, each in {"train": 4, "val": 3}.items():
        layouts.class_folders(tmp_path / "tiny" / split, classes=layouts.WNIDS, each=each)
    train, test = (image_data("tiny", split, root=tmp_path) for split in ("train", "test"))
    assert (len(train), len(test)) == (16, 12)
    assert train.classes == layouts.WNIDS


def test_the_list_may_name_more_classes_than_there_are(tmp_path):
    layouts.tiny(tmp_path)
    table = tmp_path / "tiny-imagenet-200/val/val_annotations.txt"
    table.write_text(table.read_text() + "val_99.JPEG\tn99999999\t0\t0\t1\t1\n")
    assert len(image_data("tiny", "test", root=tmp_path)) == 8


@pytest.mark.parametrize("write", [layouts.imagenet, layouts.kaggle])
def test_imagenet(tmp_path, write):
    write(tmp_path, train=3, val=2)
    train, test = (image_data("imagenet", split, root=tmp_path) for split in ("train", "test"))
    assert isinstance(train, Stream)  # the sizes differ
    assert (train.name, len(train), len(test)) == ("ImageNet train", 12, 8)
    assert train.label.tolist() == [number // 3 for number in range(12)]
    assert test.label.tolist() == [number // 2 for number in range(8)]
    wnids = [re.search(r"n\d{8}", str(path)).group() for path in train.files["rgb"]]
    assert wnids == [wnid for wnid in layouts.WNIDS for _ in range(3)]
    spoken = ("object 0 (n01440764)", "object 1", "object 2", "object 0 (n03000684)")
    assert train.classes == test.classes == (spoken if write is layouts.kaggle else layouts.WNIDS)
    assert test.fetch(torch.tensor([5, 0])).fields["rgb"].shape[:2] == (2, 3)


def test_imagenet100_is_the_papers(tmp_path):
    classes = imagenet100_classes()
    assert len(set(classes)) == len(classes) == 100
    assert all(re.fullmatch(r"n\d{8}", wnid) for wnid in classes)
    assert (classes[0], classes[-1]) == ("n02869837", "n02090622")
    layouts.imagenet100(tmp_path)
    assert len(image_data("imagenet", "train", root=tmp_path)) == 102
    data = image_data("imagenet100", "test", root=tmp_path)
    assert data.classes == tuple(sorted(classes))
    assert data.label.tolist() == list(range(100))


def test_of_imagenet100_no_class_may_be_missing(tmp_path):
    layouts.imagenet(tmp_path, classes=[*imagenet100_classes()[3:], "n01440764"], train=1)
    with pytest.raises(ValueError, match=r"/train lacks 3 of 100 classes, such as n01749939$"):
        image_data("imagenet100", "train", root=tmp_path)


def test_rooms_have_all_their_fields():
    data = image_data("scenes", "test", samples=7, side=20)
    assert set(data.fields) >= {"rgb", "depth", "normal", "segment"}
    assert data.fields["rgb"].shape == (7, 3, 20, 20)
    assert data.fields["rgb"].dtype == torch.uint8
    assert (len(data.label), data.classes) == (7, ROOMS)
    other = image_data("scenes", "train", samples=7, side=20)
    assert not torch.equal(data.fields["rgb"], other.fields["rgb"])


@pytest.mark.parametrize("side", [16, 40])
def test_side_makes_squares(tmp_path, side):
    layouts.cifar10(tmp_path)
    small = image_data("cifar10", "test", root=tmp_path, side=side)
    whole = image_data("cifar10", "test", root=tmp_path)
    assert small.fields["rgb"].shape == (20, 3, side, side)
    assert (
        small.fields["rgb"].float().mean((2, 3)) - whole.fields["rgb"].float().mean((2, 3))
    ).abs().max() < 3


def test_samples_are_spread_over_the_set(tmp_path):
    layouts.imagenet(tmp_path, train=6)
    data = image_data("imagenet", "train", root=tmp_path, samples=8)
    assert data.label.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    everything = image_data("imagenet", "train", root=tmp_path, samples=1000)
    assert len(everything) == 24


def test_where_sets_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COVIEW_DATA", raising=False)
    assert data_root(None) == tmp_path / "data"
    monkeypatch.setenv("COVIEW_DATA", str(tmp_path / "elsewhere"))
    assert data_root(None) == tmp_path / "elsewhere"
    assert data_root("here") == tmp_path / "here"
    layouts.cifar10(tmp_path / "elsewhere")
    layouts.cifar10(tmp_path / "named/cifar10")
    for root in (None, "named", "named/cifar10/cifar-10-batches-py"):
        assert len(image_data("cifar10", "test", root=root)) == 20


@pytest.mark.parametrize(
    ("name", "folder", "get"),
    [
        ("cifar10", "cifar-10-batches-py", "coview data cifar10 --root {root} --download"),
        ("stl10", "stl10_binary", "coview data stl10 --root {root} --download"),
        ("tiny", "tiny-imagenet-200", "coview data tiny --root {root} --download"),
        ("imagenet", "imagenet or ILSVRC2012", "image-net.org"),
        ("imagenet100", "imagenet100", "image-net.org"),
    ],
)
def test_absent_sets_say_in_a_line_where_and_how(tmp_path, name, folder, get):
    with pytest.raises(AbsentData) as caught:
        image_data(name, "train", root=tmp_path)
    message = str(caught.value)
    assert "\n" not in message
    assert f" in {tmp_path} (looked for {folder}" in message
    assert get.format(root=tmp_path) in message


def test_imagenet_cannot_be_downloaded(tmp_path):
    with pytest.raises(AbsentData, match=r"no ImageNet in .* ask for ILSVRC2012 at image-net.org"):
        image_data("imagenet", "train", root=tmp_path, download=True)


@pytest.mark.parametrize("download", [False, True])
def test_a_wrong_root(tmp_path, download):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(AbsentData, match=r"no CIFAR-10 in .*/file, which is no folder: "):
        image_data("cifar10", "train", root=tmp_path / "file", download=download)
    with pytest.raises(AbsentData, match=r"no STL-10 in .*/nowhere, a folder that does not exist: "):
        image_data("stl10", "train", root=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("cifr10", "train"),
            r"no image set or folder 'cifr10' \(did you mean 'cifar10'\?\); known are cifar10, ",
        ),
        (("some/where", "train"), r"no folder some/where \(looked for .*/some/where\)$"),
        (
            ("cifar10", "tset"),
            r"no split 'tset' of CIFAR-10 \(did you mean 'test'\?\); it has train, test, or sev",
        ),
        (("cifar10", "train+tset"), "no split 'tset' of CIFAR-10"),
        (
            ("scenes", "tset"),
            r"no split 'tset' of scenes \(did you mean 'test'\?\); it has train, test, held-out",
        ),
    ],
)
def test_names_that_are_wrong(tmp_path, words, message):
    layouts.cifar10(tmp_path)
    with pytest.raises((ValueError, AbsentData), match=message):
        image_data(*words, root=tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resident": "maybe"}, "resident is auto, always, never, got 'maybe'"),
        ({"side": 0}, "side counts from 1, got 0"),
        ({"samples": -3}, "samples counts from 1, got -3"),
    ],
)
def test_settings_that_are_wrong(settings, message):
    with pytest.raises(ValueError, match=message):
        image_data("scenes", "train", **settings)


def cut(path, bytes_left):
    path.write_bytes(path.read_bytes()[:bytes_left])


def test_broken_batches_of_cifar10(tmp_path):
    layouts.cifar10(tmp_path)
    batch = tmp_path / "cifar-10-batches-py/data_batch_4"
    read = partial(image_data, "cifar10", "train", root=tmp_path)
    good = batch.read_bytes()
    cut(batch, 1000)
    with pytest.raises(ValueError, match=r"data_batch_4 is cut off or no file of CIFAR-10"):
        read()
    for content in ({"data": np.zeros((3, 7), np.uint8), "labels": [1, 2, 3]}, {"labels": []}, {}, [1, 2]):
        batch.write_bytes(pickle.dumps(content))
        with pytest.raises(
            ValueError, match=r"data_batch_4 is no batch of CIFAR-10: wanted rows of 3,072 bytes"
        ):
            read()
    batch.write_bytes(pickle.dumps(print))
    with pytest.raises(ValueError, match=r"data_batch_4 .* wants to call builtins.print"):
        read()
    batch.write_bytes(good)
    assert len(read()) == 40
    batch.unlink()
    with pytest.raises(FileNotFoundError, match="data_batch_4"):
        read()


def test_broken_files_of_stl10(tmp_path):
    layouts.stl10(tmp_path, train=2, test=1)
    folder = tmp_path / "stl10_binary"
    cut(folder / "test_y.bin", 9)
    with pytest.raises(ValueError, match=r"test_y.bin has 9 labels for 10 pictures"):
        image_data("stl10", "test", root=tmp_path)
    cut(folder / "unlabeled_X.bin", 30_000)
    with pytest.raises(ValueError, match=r"unlabeled_X.bin is cut off: 30,000 bytes are no whole number"):
        image_data("stl10", "unlabeled", root=tmp_path)
    (folder / "fold_indices.txt").write_text("0 1\n2 3\n")
    with pytest.raises(ValueError, match=r"fold_indices.txt should have 10 lines, but has 2"):
        image_data("stl10", "fold1", root=tmp_path)


def test_a_recipe_names_root_and_download(tmp_path):
    from dataclasses import replace

    from toys import toy

    from coview.training import override

    layouts.cifar10(tmp_path)
    data = partial(image_data, "cifar10", root=None, download=False, side=None)
    recipe = override(
        replace(toy(), data=data), [f"data.root={tmp_path}", "data.download=true", "data.side=16"]
    )
    assert recipe.data("test").fields["rgb"].shape == (20, 3, 16, 16)


def test_an_array_of_cifar10_is_not_believed(tmp_path):
    """NumPy's own reader of pickled arrays crashes on some that are damaged: it is never asked."""
    state = (1, (3, 3072), None, False, "\xfe" * (3 * 3072))
    for kind, shape, good in (
        (state, (3, 3072), True),
        ((*state[:4], "\xfe" * 99), None, False),
        ("odd", None, False),
    ):
        array = _Array()
        array.__setstate__(kind)
        if good:
            assert array.rows().shape == shape
            assert (array.rows() == 0xFE).all()
        else:
            with pytest.raises((TypeError, ValueError)):
                array.rows()
