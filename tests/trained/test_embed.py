"""Embeddings into files and back, over any subset of views, and what is found by them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from toy_files import picture, save, sensors
from toys import toy

from coview.recipes.mine import mine
from coview.trained import embed, load_embedded, open_model, save_embedded, search
from coview.trained.model import fields_of
from coview.trained.search import encode_file, encoded_sample
from coview.training import fit
from coview.views import chroma, depth, lightness


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run on files of its own, and those files."""
    folder = tmp_path_factory.mktemp("trained")
    sensors(folder / "data", 40)
    recipe = mine(folder / "data")
    fit(
        replace(recipe, steps=3),
        folder / "run",
        origin={"recipe": f"{folder}/recipe.py:mine", "settings": ["steps=3"]},
    )
    from coview.recipes.mine import plan, recipe_text

    (folder / "recipe.py").write_text(recipe_text(plan(folder / "data")))
    return folder


@pytest.fixture(scope="module")
def model(place):
    return open_model(place / "run")


@pytest.fixture(scope="module")
def found(model, place):
    names, data = model.read(place / "data")
    return embed(model, data, names)


def test_every_sample_in_the_views_that_it_has(model, found):
    assert found.samples == tuple(f"{n:04d}" for n in range(40))
    assert found.present["depth"].tolist() == [n % 3 > 0 for n in range(40)]
    assert {name: one.shape for name, one in found.views.items()} == dict.fromkeys(
        ("depth", "heat", "rgb"), (40, 64)
    )
    fields = {"rgb": torch.from_numpy(picture(7)).permute(2, 0, 1)[None]}
    side = model.files["side"]
    assert side == 16
    encoder = model.encoders["rgb"].eval()
    from coview.data.own.readers import resized

    sized = torch.from_numpy(resized(fields["rgb"][0].numpy(), side))[None]
    with torch.no_grad():
        alone = encoder(model.views["rgb"]({"rgb": sized}))
    torch.testing.assert_close(found.views["rgb"][7:8], alone, rtol=1e-4, atol=1e-5)


def test_fused_is_the_mean_direction_of_what_is_there(found):
    units = {name: torch.nn.functional.normalize(one, dim=1) for name, one in found.views.items()}
    for number in (0, 3, 5):
        there = [units[name][number] for name in units if found.present[name][number]]
        mean = torch.stack(there).mean(0)
        torch.testing.assert_close(found.fused[number], mean / mean.norm())
    assert replace(found, views={"rgb": torch.zeros(40, 3), "heat": torch.zeros(40, 4)}).fused is None


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_files_hold_all_of_it(found, tmp_path, ending):
    pytest.importorskip("pyarrow")
    labelled = replace(found, label=tuple("ab"[n % 2] if n else None for n in range(40)))
    for one in (found, labelled):
        save_embedded(one, tmp_path / f"a.{ending}")
        again = load_embedded(tmp_path / f"a.{ending}")
        assert (again.samples, again.label) == (one.samples, one.label)
        for name in found.views:
            torch.testing.assert_close(again.views[name], one.views[name])
            assert torch.equal(again.present[name], one.present[name])


def test_arrays_say_what_is_missing(found, tmp_path):
    save_embedded(found, tmp_path / "a.npz")
    stored = np.load(tmp_path / "a.npz")
    assert sorted(stored) == ["embedding.depth", "embedding.heat", "embedding.rgb", "fused", "sample"]
    assert np.isnan(stored["embedding.depth"][3]).all()
    assert not np.isnan(stored["fused"]).any()


def test_new_data_may_have_one_view_alone(model, tmp_path):
    for number in range(3):
        save(tmp_path / f"heat/{number}.tif", picture(number, 8, 9, 1).astype(np.float32))
    names, data = model.read(tmp_path)
    found = embed(model, data, names)
    assert list(found.views) == ["heat"]
    assert found.fused.shape == (3, 64)
    with pytest.raises(ValueError, match="the data has nothing that view 'rgb' is cut from"):
        embed(model, data, names, views=["rgb"])
    with pytest.raises(
        ValueError, match=r"has no view 'rbg' \(did you mean 'rgb'\?\); it has depth, heat, rgb"
    ):
        embed(model, data, names, views=["rbg"])


def test_views_know_what_they_are_cut_from():
    views = {"L": lightness, "ab": chroma, "depth": depth}
    rgb = torch.zeros(2, 3, 4, 5, dtype=torch.uint8)
    assert fields_of(views, {"rgb": rgb}) == {"L": {"rgb"}, "ab": {"rgb"}}
    assert set(fields_of(views, {"rgb": rgb, "depth": torch.zeros(2, 1, 4, 5)})) == set(views)
    with pytest.raises(ValueError, match="colour views want 'rgb' as uint8"):
        fields_of(views, {"rgb": rgb.float()})


def test_search_finds_the_sample_itself_and_is_what_brute_force_finds(model, found, place):
    hits = search(encoded_sample(found, "0005", "rgb"), found, "rgb", count=4)
    assert hits[0].sample == "0005"
    assert hits[0].cosine == pytest.approx(1, abs=1e-5)
    query = encode_file(model, place / "data/rgb/0005.png", "rgb")
    torch.testing.assert_close(query, found.views["rgb"][5], rtol=1e-4, atol=1e-5)
    rows = found.present["depth"].nonzero().squeeze(1)
    cosine = torch.cosine_similarity(query[None], found.views["depth"][rows])
    best = [found.samples[rows[n]] for n in cosine.argsort(descending=True)[:4]]
    assert [hit.sample for hit in search(query, found, "depth", count=4)] == best


def test_faiss_finds_the_same(found):
    pytest.importorskip("faiss")
    query = encoded_sample(found, "0007", "rgb")
    exact, graph = (search(query, found, "depth", count=3, faiss=one) for one in (False, True))
    assert [hit.sample for hit in graph] == [hit.sample for hit in exact]
    assert [hit.cosine for hit in graph] == pytest.approx([hit.cosine for hit in exact], abs=1e-5)


def test_wrong_use(model, found, place, tmp_path):
    with pytest.raises(ValueError, match=r"nothing was embedded in view 'dept' \(did you mean 'depth'\?\)"):
        search(found.views["rgb"][0], found, "dept")
    with pytest.raises(ValueError, match="sample '0003' has no view 'depth'"):
        encoded_sample(found, "0003", "depth")
    with pytest.raises(ValueError, match=r"'0004x' is neither a file nor a sample \(did you mean '0004'"):
        encoded_sample(found, "0004x", "rgb")
    with pytest.raises(ValueError, match="cannot be read as view 'rgb'"):
        encode_file(model, place / "data/heat/0001.tif", "rgb")
    with pytest.raises(ValueError, match=r"embeddings are written as \.parquet or \.npz, got a\.csv"):
        save_embedded(found, tmp_path / "a.csv")
    np.savez(tmp_path / "b.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="holds no embeddings: wanted a column 'sample'"):
        load_embedded(tmp_path / "b.npz")


def test_runs_on_other_data_embed_their_splits(run, tmp_path):
    toys = f"{toy.__code__.co_filename}:toy"
    run("train", toys, "--run", tmp_path / "run", "--set", "steps=2")
    said = run("embed", tmp_path / "run", "test", "--out", tmp_path / "e.npz", "--layer", "hidden1")
    assert said.code == 0, said.err
    stored = np.load(tmp_path / "e.npz")
    assert stored["embedding.touch"].shape == (96, 32)
    assert set(stored["label"]) == {"north", "east", "south", "west"}
    said = run(
        "search", tmp_path / "run", "--query", "11", "--view", "touch", "--in", "smell", "--count", "3"
    )
    assert said.code == 0, said.err
    assert "96 samples to choose from" in said.words
