"""Training on shards: as on any other data, stopped in the middle of an epoch, and by the command line."""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from toys import tables, toy_with_gaps

from coview.cli import main
from coview.data import packed
from coview.data.shards import pack
from coview.training import fit

TOYS = Path(__file__).parents[1] / "toys.py"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    pack(tables("train", missing=0.5), folder / "train", megabytes=0.004)
    return folder


def test_an_epoch_goes_on_in_the_middle(root, tmp_path):
    recipe = replace(toy_with_gaps(), data=partial(packed, root=root, streams=3), epochs=2)
    whole = fit(recipe, tmp_path / "whole")
    for stop in (1, 4, 9, None):
        parts = fit(replace(recipe, steps=stop), tmp_path / "parts", resume=stop != 1)
    assert (whole.step, parts.step) == (12, 12)
    for one, other in ((parts.encoders, whole.encoders), (parts.objective, whole.objective)):
        for name, value in other.state_dict().items():
            assert torch.equal(one.state_dict()[name], value), name


def test_by_the_command_line(tmp_path, monkeypatch, capsys):
    def run(*words) -> int:
        monkeypatch.setattr(sys, "argv", ["coview", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code  # pyright: ignore[reportReturnType]

    out, toy = tmp_path / "out", f"{TOYS}:toy"
    assert run("pack", toy, out, "--set", "data.samples=64", "--megabytes", "0.004") == 0
    said = capsys.readouterr().out
    assert f"{out / 'train'}: 64 samples in " in said
    assert f"{out / 'test'}: 64 samples in " in said
    monkeypatch.chdir(tmp_path)
    assert run("train", f"{toy}@out", "--run", tmp_path / "run", "--set", "epochs=1") == 0
    record = json.loads((tmp_path / "run/recipe.json").read_text())
    assert record["recipe"] == f"{TOYS}:toy@{out}"
    assert record["fields"]["data"] == {"call": "coview.data.shards.streamed.packed", "root": str(out)}
    monkeypatch.chdir(tmp_path.parent)
    assert run("probe", tmp_path / "run", "--kind", "knn") == 0
    assert run("pack", toy, out) == 2
    assert "holds shards already: name another folder" in capsys.readouterr().err
    mine = tmp_path / "mine.py"
    mine.write_text("from toys import tables\n\ndef some(split):\n    return tables(split, samples=9)\n")
    assert run("pack", f"{mine}:some", tmp_path / "mine", "--split", "train", "--in-order") == 0
    assert torch.equal(packed("train", root=tmp_path / "mine").label, tables("train", samples=9).label)
    assert run("pack", f"{mine}:some", tmp_path / "more", "--set", "samples=3") == 2
    assert "is a function of a split, and has nothing to set" in capsys.readouterr().err
