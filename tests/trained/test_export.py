"""Exported encoders: the same numbers by every way of loading them, and a card that hubs can read."""

from functools import partial

import numpy as np
import pytest
import torch
from toys import toy

from coview.encoders import SmallConv, load_encoders
from coview.encoders.load import rebuild
from coview.recipes.demo import CHANNELS, VIEWS, rooms
from coview.trained import Model, open_model
from coview.trained.card import card
from coview.trained.export import Written, export
from coview.training import describe
from coview.training.recipe import Recipe

SIDE = 20


@pytest.fixture(scope="module")
def model():
    """Four views of rendered rooms, encoders as they start; batch norms have seen something."""
    makers = {name: partial(SmallConv, channels=count, width=4, dim=9) for name, count in CHANNELS.items()}
    encoders = torch.nn.ModuleDict({name: make() for name, make in makers.items()})
    data = partial(rooms, train=12, test=8, size=SIDE)
    fields = data("train").fields
    for name, encoder in encoders.items():
        encoder.train()(VIEWS[name](fields))
    record = {"views": describe(VIEWS), "encoders": describe(makers), "still": None}
    return Model("four rooms", VIEWS, encoders.eval(), None, {}, data, record)


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    for needed in ("onnx", "onnxscript", "onnxruntime", "safetensors"):
        pytest.importorskip(needed)
    out = tmp_path_factory.mktemp("exported") / "rooms"
    return out, export(model, out, results="A table.")


def embedding(model, name, fields):
    with torch.no_grad():
        return model.encoders[name](model.views[name](fields))


@pytest.mark.parametrize("count", [1, 5, 8])
def test_every_way_gives_the_same_numbers(model, exported, count):
    """For any number of samples, also such as were not there when the programs were traced."""
    import onnxruntime

    out, written = exported
    fields = {name: values[:count] for name, values in model.data("test").fields.items()}
    plain = load_encoders(out)
    for one in written:
        wanted = embedding(model, one.view, fields)
        inputs = [fields[name] for name in one.inputs]
        program = torch.export.load(out / f"{one.view}.pt2").module()
        torch.testing.assert_close(program(*inputs), wanted, rtol=1e-4, atol=1e-5)
        session = onnxruntime.InferenceSession(str(out / f"{one.view}.onnx"))
        feeds = {name: values.numpy() for name, values in zip(one.inputs, inputs, strict=True)}
        np.testing.assert_allclose(session.run(None, feeds)[0], wanted, rtol=1e-4, atol=1e-4)
        with torch.no_grad():
            torch.testing.assert_close(plain[one.view](model.views[one.view](fields)), wanted)


def test_what_is_written_is_said(exported):
    out, written = exported
    assert [one.view for one in written] == list(VIEWS)
    assert written[0].inputs == {"rgb": f"uint8 [B 3 {SIDE} {SIDE}]"}
    assert all(one.difference < 1e-4 for one in written)
    files = {name for one in written for name in one.files}
    assert {path.name for path in out.iterdir()} == files | {"config.json", "model.safetensors", "README.md"}


def test_the_card_of_views_with_blanks_can_be_run():
    model = Model("first run", {}, torch.nn.ModuleDict())
    written = Written("RGB photos", {"RGB photos": "uint8 [B 3 8 8]", "2nd": "float32 [B 7]"}, 9, (), 1e-6)
    text = card(model, [written], "")
    assert "encoder(RGB_photos, _2nd)" in text
    assert '{"RGB photos": RGB_photos, "2nd": _2nd}' in text
    assert "hf upload NAME/first-run FOLDER" in text


def test_the_card_is_one_that_hubs_read(exported):
    hub = pytest.importorskip("huggingface_hub")
    out, _ = exported
    read = hub.ModelCard.load(out / "README.md")
    assert read.data.library_name == "coview"
    assert "multiview" in read.data.tags
    assert "| L      | rgb: uint8 [B 3 20 20]      |         9 |" in read.content
    assert "A table." in read.content


def test_an_exported_folder_is_a_model(model, exported):
    again = open_model(exported[0])
    fields = model.data("test").fields
    torch.testing.assert_close(embedding(again, "depth", fields), embedding(model, "depth", fields))
    with pytest.raises(ValueError, match="does not say what it was trained on"):
        again.few(3)


def test_no_folder_is_written_over(model, exported):
    with pytest.raises(FileExistsError, match="is not empty: name another folder with --out"):
        export(model, exported[0])


def test_encoders_of_other_files_are_not_called():
    with pytest.raises(ValueError, match=r"'os\.system' is not part of this package"):
        rebuild({"call": "os.system", "argument1": "echo"})
    with pytest.raises(ValueError, match=r"this version of coview has no 'coview\.encoders\.Gone'"):
        rebuild("coview.encoders.Gone")
    with pytest.raises(ValueError, match="wanted the name of a function"):
        rebuild(3)


def test_from_the_command_line(run, tmp_path):
    pytest.importorskip("safetensors")
    toys = f"{toy.__code__.co_filename}:toy"
    run("train", toys, "--run", tmp_path / "run", "--set", "steps=2")
    said = run("export", tmp_path / "run", "--out", tmp_path / "out", "--no-onnx")
    assert said.code == 0, said.err
    assert "sound.pt2" in said.out
    assert not list((tmp_path / "out").glob("*.onnx"))
    program = torch.export.load(tmp_path / "out/sound.pt2").module()
    opened = open_model(tmp_path / "run")
    opened.encoders.eval()
    table = opened.data("test").fields["sound"]
    torch.testing.assert_close(
        program(table), embedding(opened, "sound", {"sound": table}), rtol=1e-4, atol=1e-5
    )
    assert isinstance(toy(), Recipe)
