"""Files in the layout of the released two-view code: same numbers in, same numbers out."""

import argparse
from functools import partial

import pytest
import torch
from released_layout import alexnet_half, lively, resnet, saved

from coview.encoders import HalfAlexNet, ResNet, load_encoders
from coview.trained.released import read_released

BASIC = {"counts": (2, 2, 2, 2), "bottleneck": False}
DEEP = {"counts": (3, 4, 6, 3), "bottleneck": True}
NETWORKS = {
    "alexnet": (partial(alexnet_half, dim=17), 224),
    "resnet18 of half width": (partial(resnet, base=32, dim=19, **BASIC), 96),
    "resnet50 of quarter width": (partial(resnet, base=16, dim=19, **DEEP), 64),
    "resnet34": (partial(resnet, counts=(3, 4, 6, 3), base=8, bottleneck=False), 64),
}


@pytest.mark.parametrize(
    ("kind", "prefix"),
    [
        ("alexnet", "encoder.module."),
        ("alexnet", ""),
        ("resnet18 of half width", "module."),
        ("resnet50 of quarter width", "encoder.module."),
        ("resnet34", "encoder."),
    ],
)
def test_numbers_are_those_of_the_network_that_was_saved(tmp_path, kind, prefix):
    make, side = NETWORKS[kind]
    halves = {"l_to_ab": lively(make(1)), "ab_to_l": lively(make(2))}
    memory = {"params": torch.zeros(5), "memory_l": torch.randn(23, 17), "memory_ab": torch.randn(23, 17)}
    options = argparse.Namespace(model="x", nce_k=4096)
    torch.save(
        {"opt": options, "model": saved(halves, prefix), "contrast": memory, "epoch": 240}, tmp_path / "a.pth"
    )
    found = read_released(tmp_path / "a.pth")
    assert isinstance(found.model.encoders["L"], HalfAlexNet if kind == "alexnet" else ResNet)
    for view, name, channels in (("L", "l_to_ab", 1), ("ab", "ab_to_l", 2)):
        picture = torch.randn(3, channels, side, side)
        with torch.no_grad():
            wanted, got = halves[name](picture), found.model.encoders[view](picture)
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5 * float(wanted.abs().max()))
        torch.testing.assert_close(found.memory[view], memory[f"memory_{view.lower()}"])
    assert found.epoch == 240


def test_import_writes_what_can_be_loaded_and_embedded(run, tmp_path):
    make = partial(resnet, base=8, dim=19, **BASIC)
    halves = {"l_to_ab": lively(make(1)), "ab_to_l": lively(make(2))}
    torch.save(saved(halves, "encoder.module."), tmp_path / "bare.pth")
    said = run("import", tmp_path / "bare.pth", "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert not (tmp_path / "out/memory.safetensors").exists()
    light = torch.randn(2, 1, 64, 64)
    with torch.no_grad():
        torch.testing.assert_close(load_encoders(tmp_path / "out")["L"](light), halves["l_to_ab"](light))
    from toy_files import picture, save

    for number in range(3):
        save(tmp_path / f"data/rgb/{number}.png", picture(number, 250, 260))
    said = run("embed", tmp_path / "out", tmp_path / "data", "--out", tmp_path / "e.npz")
    assert said.code == 0, said.err
    assert "3 samples embedded" in said.out


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({"model": {"encoder.module.l_to_ab.conv1.weight": torch.zeros(1)}}, "no weights of 'ab_to_l'"),
        ([1, 2], "should hold a dictionary of weights, came: list"),
        (
            {f"{half}.x.weight": torch.zeros(1) for half in ("l_to_ab", "ab_to_l")},
            "neither an AlexNet nor a ResNet",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, stored, words):
    torch.save(stored, tmp_path / "a.pth")
    with pytest.raises(ValueError, match=words):
        read_released(tmp_path / "a.pth")


def test_weights_without_a_place_are_refused(tmp_path):
    state = saved({name: alexnet_half(n, 5) for n, name in ((1, "l_to_ab"), (2, "ab_to_l"))}, "")
    torch.save({**state, "l_to_ab.extra.0.weight": torch.zeros(2)}, tmp_path / "a.pth")
    with pytest.raises(ValueError, match=r"have no place here: extra\.0\.weight"):
        read_released(tmp_path / "a.pth")


def test_other_bytes(tmp_path):
    (tmp_path / "a.pth").write_bytes(b"hello")
    with pytest.raises(ValueError, match="cannot be read as weights of PyTorch"):
        read_released(tmp_path / "a.pth")
    with pytest.raises(FileNotFoundError, match="no file"):
        read_released(tmp_path / "b.pth")
