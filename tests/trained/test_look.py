"""Samples as a page and an atlas show them."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
import torch
from page_parts import COUNT, samples
from PIL import Image
from toys import toy

from coview.probes import Features, linear_probe
from coview.trained.atlas import write_atlas
from coview.trained.confusion import confusion
from coview.trained.embed import Embedded
from coview.trained.look import _maps, _neighbours, look
from coview.training import fit


def embedded():
    """Nine samples in three views whose directions are known."""
    torch.manual_seed(0)
    views = {name: torch.randn(9, 5) for name in ("a", "b", "c")}
    have = {"a": torch.ones(9, dtype=torch.bool), "b": torch.arange(9) % 3 > 0, "c": torch.arange(9) != 4}
    views = {name: one * have[name][:, None] for name, one in views.items()}
    return Embedded(tuple("stuvwxyz0"), views, have)


def test_neighbours_are_those_of_a_slow_search():
    found = embedded()
    near, cosine, rank = _neighbours(found)
    for anchor, target in (("a", "b"), ("b", "c"), ("c", "a")):
        for n in range(9):
            there = [m for m in range(9) if found.present[target][m]]
            scores = {
                m: float(torch.cosine_similarity(found.views[anchor][n], found.views[target][m], 0))
                for m in there
            }
            if not found.present[anchor][n]:
                assert rank[anchor][target][n] == 0
                continue
            best = sorted(there, key=lambda m: -scores[m])
            assert near[anchor][target][n].tolist() == best[:7][: len(near[anchor][target][n])]
            assert cosine[anchor][target][n][0] == pytest.approx(scores[best[0]], abs=1e-5)
            assert rank[anchor][target][n] == (best.index(n) + 1 if n in there else 0)


def test_maps_place_what_is_there():
    found = embedded()
    maps = _maps(found)
    assert "PCA" in maps
    for places in maps.values():
        assert {name: one.shape for name, one in places.items()} == dict.fromkeys(found.views, (9, 2))
        assert (places["b"][0] == 0).all()
    stacked = torch.cat(
        [torch.nn.functional.normalize(found.views[n], dim=1)[found.present[n]] for n in found.views]
    )
    centred = stacked - stacked.mean(0)
    spread = np.concatenate([maps["PCA"][n][found.present[n].numpy()] for n in found.views]).std(0)
    slow = torch.linalg.svdvals(centred)[:2] / len(centred) ** 0.5
    np.testing.assert_allclose(spread, slow.numpy(), rtol=1e-4)


def test_a_run_is_looked_at(tmp_path):
    origin = {"recipe": f"{toy.__code__.co_filename}:toy", "settings": ["steps=2"]}
    fit(replace(toy(), steps=2), tmp_path / "run", origin=origin)
    found = look(tmp_path / "run", 23)
    assert found.names[:2] == ("sample 0", "sample 4")
    assert len(found.names) == 23
    assert set(found.label) <= {"north", "east", "south", "west"}
    assert found.near["touch"]["smell"].shape == (23, 7)


def test_confusion_counts_what_the_probe_says():
    torch.manual_seed(0)
    label = torch.arange(120) % 3
    values = torch.nn.functional.one_hot(label, 3).float() * 2 + torch.randn(120, 3)
    whole = torch.ones(120, dtype=torch.bool)
    found = Features({"a": values}, {"a": whole}, torch.arange(120), label)
    train = replace(
        found, values={"a": values[:80]}, present={"a": whole[:80]}, index=torch.arange(80), label=label[:80]
    )
    test = replace(
        found, values={"a": values[80:]}, present={"a": whole[80:]}, index=torch.arange(40), label=label[80:]
    )
    counts = confusion(train, test, ["a"], 3)
    assert counts.sum(1).tolist() == label[80:].bincount().tolist()
    score = linear_probe(values[:80], label[:80], values[80:], label[80:], classes=3)
    assert 100 * np.trace(counts) / 40 == pytest.approx(score.accuracy)


def test_the_atlas_has_a_row_for_each_sample_in_each_view(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    found = samples()
    assert write_atlas(found, tmp_path / "a.parquet") == COUNT + int(found.present["ab"].sum())
    rows = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["id"] for row in rows] == list(range(len(rows)))
    last = rows[-1]
    assert (last["sample"], last["view"], last["label"]) == ("sample 15", "ab", "y")
    assert (last["x"], last["y"]) == tuple(found.maps["t-SNE"]["ab"][15])
    near = [rows[one] for one in last["neighbors"]["ids"]]
    assert {row["view"] for row in near} == {"L"}
    assert {row["sample"] for row in near} == {f"sample {n % COUNT}" for n in range(15, 19)}
    assert last["neighbors"]["distances"] == sorted(last["neighbors"]["distances"])
    assert Image.open(BytesIO(last["picture"]["bytes"])).size == (56, 56)
    with pytest.raises(ValueError, match=r"embedding-atlas opens \.parquet, got a\.csv"):
        write_atlas(found, tmp_path / "a.csv")


def test_atlas_from_the_command_line(run, tmp_path):
    pytest.importorskip("pyarrow")
    run("train", f"{toy.__code__.co_filename}:toy", "--run", tmp_path / "run", "--set", "steps=2")
    said = run("export", tmp_path / "run", "--atlas", tmp_path / "a.parquet")
    assert said.code == 0, said.err
    assert f"embedding-atlas {tmp_path / 'a.parquet'} --x x --y y --neighbors neighbors" in said.words
