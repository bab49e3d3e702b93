"""Packs of images become the official layouts: small packs of the same make, and pieces of them."""

import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

import layouts
import numpy as np
import pytest
import torch
from PIL import Image

from coview.data.images import image_data

HOME = Path(__file__).parents[2] / "benchmarks"
EACH = 20  # images of a sheet


@pytest.fixture
def scripts(monkeypatch):
    """The scripts, for packs of a few images."""
    monkeypatch.syspath_prepend(str(HOME))
    import prepare_cifar10
    import prepare_nyu
    import prepare_tiny
    import unpack

    for module in (prepare_cifar10, prepare_nyu, prepare_tiny, unpack):
        monkeypatch.delitem(sys.modules, module.__name__)
    monkeypatch.setattr(prepare_cifar10, "EACH", EACH)
    monkeypatch.setattr(prepare_tiny, "TRAIN", 3)
    monkeypatch.setattr(prepare_tiny, "VAL", 2)
    return {"cifar10": prepare_cifar10, "nyu": prepare_nyu, "tiny": prepare_tiny, "unpack": unpack}


def sheets(pack: Path) -> tuple[np.ndarray, list[int]]:
    """A package of sheets whose rows are images; gives the images and labels of training."""
    pictures, label = layouts.by_class(10, 12, size=32, seed=1)
    order = np.random.default_rng(0).permutation(120)
    pictures, label = pictures[order], label[order].tolist()
    files = {"train_lables.json": json.dumps(label[:100]), "test_lables.json": json.dumps(label[100:])}
    with tarfile.open(pack, "w:gz") as tar:
        for number in range(6):
            sheet = io.BytesIO()
            rows = pictures[number * EACH : (number + 1) * EACH].reshape(EACH, 1024, 3)
            Image.fromarray(rows).save(sheet, "PNG")
            name = "test_batch.png" if number == 5 else f"data_batch_{number + 1}.png"
            put(tar, f"package/{name}", sheet.getvalue())
        for name, text in files.items():
            put(tar, f"package/{name}", text.encode())
    return pictures, label


def put(tar, name: str, content: bytes) -> None:
    about = tarfile.TarInfo(name)
    about.size = len(content)
    tar.addfile(about, io.BytesIO(content))


def accept(scripts, monkeypatch, pictures, label) -> None:
    """Checksums of this small package in place of those of the real one."""
    import hashlib

    rows = pictures.transpose(0, 3, 1, 2).tobytes()
    cut = 100 * 3072
    content = {"train": (rows[:cut], label[:100]), "test": (rows[cut:], label[100:])}
    sums = {part: hashlib.sha256(data + bytes(known)).hexdigest() for part, (data, known) in content.items()}
    monkeypatch.setattr(scripts["cifar10"], "CONTENT", sums)


def test_sheets_become_cifar10(tmp_path, scripts, monkeypatch):
    pictures, label = sheets(tmp_path / "pack.tgz")
    accept(scripts, monkeypatch, pictures, label)
    scripts["cifar10"].prepare(tmp_path / "pack.tgz", tmp_path / "data")
    train, test = (image_data("cifar10", split, root=tmp_path / "data") for split in ("train", "test"))
    expected = torch.from_numpy(pictures).permute(0, 3, 1, 2)
    assert torch.equal(torch.cat([train.fields["rgb"], test.fields["rgb"]]), expected)
    assert [*train.label.tolist(), *test.label.tolist()] == label
    assert train.classes == layouts.AIRPLANES


def test_a_pixel_that_differs_is_noticed(tmp_path, scripts, monkeypatch):
    pictures, label = sheets(tmp_path / "pack.tgz")
    pictures[37, 4, 5, 1] ^= 1
    accept(scripts, monkeypatch, pictures, label)
    with pytest.raises(SystemExit, match="the train images are not those that were checked: sha256"):
        scripts["cifar10"].prepare(tmp_path / "pack.tgz", tmp_path / "data")
    assert not (tmp_path / "data").exists()


def tiny_pack(folder: Path, pack: Path) -> None:
    """The layout, with lists that name more than there is, in a tar.xz."""
    layouts.tiny(folder, train=3, val=2)
    top = folder / "tiny-imagenet-200"
    with (top / "val/val_annotations.txt").open("a") as file:
        file.write("val_77.JPEG\tn99999999\t0\t0\t1\t1\n")
    with (top / "wnids.txt").open("a") as file:
        file.write("n99999999\n")
    with tarfile.open(pack, "w:xz") as tar:
        for name in ("train", "val", "wnids.txt", "words.txt"):
            tar.add(top / name, name)


def test_pieces_are_joined_and_unpacked(tmp_path, scripts, monkeypatch):
    accept(scripts, monkeypatch, *sheets(tmp_path / "pack.tgz"))
    tiny_pack(tmp_path / "made", tmp_path / "pack.tar.xz")
    pieces = []
    for name, pack in {"cifar10": "pack.tgz", "tiny": "pack.tar.xz"}.items():
        content = (tmp_path / pack).read_bytes()
        share = len(content) // 3
        for number in range(4):
            pieces.append(tmp_path / f"{name}.{number:03}")
            pieces[-1].write_bytes(content[number * share : (number + 1) * share])
    made = scripts["unpack"].unpack(tmp_path / "data", pieces[::-1])
    assert [path.name for path in made] == ["cifar-10-batches-py", "tiny-imagenet-100"]
    assert len(image_data("cifar10", "test", root=tmp_path / "data")) == EACH
    tiny = image_data("tiny", "test", root=tmp_path / "data")
    assert (len(tiny), len(tiny.classes)) == (8, 4)
    assert "n99999999" not in (tmp_path / "data/tiny-imagenet-100/wnids.txt").read_text()
    with pytest.raises(
        SystemExit,
        match=r"pieces are called cifar10.000 or nyu.000 or tiny.000 or two-camera.000, got \['pack'\]",
    ):
        scripts["unpack"].unpack(tmp_path, [tmp_path / "pack.tgz"])


def test_a_class_that_is_not_whole_is_noticed(tmp_path, scripts):
    tiny_pack(tmp_path / "made", tmp_path / "pack.tar.xz")
    scripts["tiny"].VAL = 5
    with pytest.raises(SystemExit, match="class n01440764 has 3 train and 2 val images, not 3 and 5"):
        scripts["tiny"].prepare(tmp_path / "pack.tar.xz", tmp_path / "data")


def test_frames_of_nyu_become_a_folder(scripts, tmp_path, monkeypatch):
    from coview.data.rgbd import NYU13, NYU40, rgbd_data

    prepare_nyu = scripts["nyu"]
    monkeypatch.setattr(prepare_nyu, "TRAIN", 3)
    monkeypatch.setattr(prepare_nyu, "TEST", 2)
    luck = np.random.default_rng(0)
    codes, label = luck.integers(0, 256, (5, 12, 16)), luck.integers(0, 41, (5, 12, 16))
    meta = {"train_idx": [4, 0, 2], "test_idx": [1, 3], "names40": list(NYU40)}
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as pack:
        pack.writestr("meta.json", json.dumps(meta))
        for number in range(5):
            pictures = {
                "rgb/{}.jpg": (np.full((12, 16, 3), 50 * number), "JPEG"),
                "depth8/{}.png": (codes[number], "PNG"),
                "label40/{}.png": (label[number], "PNG"),
            }
            for name, (values, kind) in pictures.items():
                data = io.BytesIO()
                Image.fromarray(values.astype(np.uint8)).save(data, kind)
                pack.writestr(name.format(f"{number:04d}"), data.getvalue())
    (tmp_path / "nyu.000").write_bytes((tmp_path / "pack.zip").read_bytes()[:700])
    (tmp_path / "nyu.001").write_bytes((tmp_path / "pack.zip").read_bytes()[700:])
    pieces = [tmp_path / "nyu.001", tmp_path / "nyu.000"]
    assert scripts["unpack"].unpack(tmp_path / "out", pieces) == [tmp_path / "out/nyu"]
    found = rgbd_data("nyu", "train", root=tmp_path / "out", classes=40)
    rows = [4, 0, 2]
    assert np.allclose(found.fields["depth"][:, 0], (codes[rows] + 0.5) * 10 / 255, atol=0.005)
    assert np.array_equal(found.fields["segment"][:, 0], label[rows])
    assert found.fields["rgb"].float().mean((1, 2, 3)).tolist() == pytest.approx([200, 0, 100], abs=2)
    assert found.segments == NYU40
    assert (found.camera.depth_step, found.camera.fx) == (
        pytest.approx(10 / 255),
        pytest.approx(259.43, abs=0.01),
    )
    assert rgbd_data("nyu", "test", root=tmp_path / "out").segments == NYU13
    monkeypatch.setattr(prepare_nyu, "TEST", 4)
    with pytest.raises(
        SystemExit, match="wanted 3 frames to train on and 4 to test on, all different, got 3, 2"
    ):
        prepare_nyu.prepare(tmp_path / "pack.zip", tmp_path / "again")
