"""`coview data`: what it says of sets that are there, and of those that are not; it writes nothing."""

import sys

import layouts
import pytest
from rich.console import Console

import coview.cli.app
from coview.cli import main


@pytest.fixture
def data(monkeypatch, capsys, tmp_path):
    """Call `coview data ...` in an empty folder; gives the exit code, and what was written to both ends in one line."""
    monkeypatch.setattr(coview.cli.app, "console", Console(width=200))
    monkeypatch.delenv("COVIEW_DATA", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def call(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["coview", "data", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert list((tmp_path / "here").iterdir()) == []
        out, err = capsys.readouterr()
        return end.value.code, " ".join(out.split()), err

    return call


def test_help_has_an_example(data):
    code, out, _ = data("--help")
    assert code == 0
    assert "Example: coview data stl10" in out


def test_all_that_are_known(data, tmp_path):
    layouts.cifar10(tmp_path / "sets")
    code, out, _ = data("--root", tmp_path / "sets")
    assert code == 0
    assert f"cifar10 │ CIFAR-10 │ {tmp_path}/sets/cifar-10-batches-py │" in out
    for name in ("stl10", "tiny", "imagenet", "imagenet100"):
        assert f"│ {name} │" in out
    assert out.count("not there") == 4
    assert f"looked for in {tmp_path}/sets" in out


def test_cifar10(data, tmp_path):
    layouts.cifar10(tmp_path / "sets", train=5, test=3)
    code, out, _ = data("cifar10", "--root", tmp_path / "sets")
    assert code == 0
    assert f"CIFAR-10: {tmp_path}/sets/cifar-10-batches-py" in out
    assert "│ train │ 50 │ 32x32 │ 50 │ in memory, 0.00 GB │" in out
    assert "│ test │ 30 │" in out
    assert "10 classes: airplane, automobile" in out
    assert "Not byte for byte the official files" in out
    assert "data_batch_5, test_batch" in out
    assert "To get it: unpack cifar-10-python.tar.gz" in out


def test_official_files_are_known(data, tmp_path, monkeypatch):
    layouts.cifar10(tmp_path / "sets")
    monkeypatch.setattr("torchvision.datasets.utils.check_integrity", lambda *_: True)
    assert "All files are the official ones" in data("cifar10", "--root", tmp_path / "sets")[1]


def test_stl10(data, tmp_path):
    layouts.stl10(tmp_path, train=3, test=2, unlabeled=14)
    _, out, _ = data("stl10", "--root", tmp_path)
    assert "│ train │ 30 │ 96x96 │ 30 │ in memory" in out
    assert "│ unlabeled │ 14 │ 96x96 │ 0 │ in memory" in out
    assert "│ fold0 │ 3 │" in out
    assert "fold1" not in out


def test_imagenet_streams(data, tmp_path):
    layouts.imagenet(tmp_path, train=3, val=2)
    _, out, _ = data("imagenet", "--root", tmp_path)
    assert "│ train │ 12 │ 56x64 to 72x76 │ 12 │ streams, or with side= in memory │" in out
    assert "4 classes: n01440764, n02102040, n02979186, n03000684" in out


def test_a_folder_of_which_one_split_cannot_be_read(data, tmp_path):
    layouts.class_folders(tmp_path / "homes/train", each=4)
    (tmp_path / "homes/test/attic").mkdir(parents=True)
    code, out, _ = data(tmp_path / "homes")
    assert code == 0
    assert "Pictures of homes:" in out
    assert "│ train │ 12 │ 24x24 │ 12 │ in memory" in out
    assert "│ test │ – │ │ 0 │ labels are missing:" in out
    assert "3 classes: bed, kitchen, office" in out


def test_scenes(data):
    code, out, _ = data("scenes")
    assert (code, "Rendered rooms" in out, "10 classes: bathroom" in out) == (0, True, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["cifar10"],
            "coview: no CIFAR-10 in {here}/data, a folder that does not exist: `coview data cifar10 --root",
        ),
        (
            ["imagenet", "--root", "/", "--download"],
            "coview: no ImageNet in / (looked for imagenet or ILSVRC2012",
        ),
        (["cifr10"], "coview: no image set or folder 'cifr10' (did you mean 'cifar10'?)"),
        (["--download"], "coview: name the set to download: cifar10, stl10, tiny"),
    ],
)
def test_what_is_not_there_is_one_line(data, tmp_path, words, message):
    code, out, err = data(*words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(message.format(here=tmp_path / "here"))
