"""The path of somebody who has files and has never seen this package: recipe, run, embeddings, search, a page."""

import csv
import json
import os
import re

import numpy as np
import pytest
from command import run as run  # the command line as a fixture
from toy_files import save

from coview.data.scenes import scenes

ROOMS = 96


@pytest.fixture
def rooms(tmp_path):
    """Rendered rooms as files: colour, depth in millimetres of which a third is missing, heat of which a quarter is."""
    data, place = scenes("train", samples=ROOMS, size=32), tmp_path / "my rooms"
    colour = data.fields["rgb"].permute(0, 2, 3, 1).numpy()
    depth = data.fields["depth"][:, 0].numpy()
    for number in range(ROOMS):
        name = f"küche {number:03d}"
        save(place / f"rgb/{name}.png", colour[number])
        if number % 3:
            save(place / f"depth/{name}.png", (1000 * depth[number]).astype(np.uint16))
        if number % 4:
            heat = 290 + colour[number].mean(-1) / 20 - depth[number]
            save(place / f"thermal/{name}.tif", heat.astype(np.float32))
    with (place / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["stem", "label"])
        rows.writerows([f"küche {n:03d}", data.classes[int(data.label[n])]] for n in range(0, ROOMS, 2))
    return place


def test_from_files_to_a_page(run, rooms, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("look", rooms, "--out", "samples.png")
    assert said.code == 0, said.err
    assert f"{ROOMS} samples in {rooms}" in said.words
    assert "48 of 96 samples have a label in labels.csv" in said.words

    said = run("init", rooms, "--out", "my_recipe.py")
    assert said.code == 0, said.err
    recipe = (tmp_path / "my_recipe.py").read_text(encoding="utf-8")
    (tmp_path / "my_recipe.py").write_text(re.sub(r"epochs=\d+", "epochs=16", recipe), encoding="utf-8")

    said = run("train", "my_recipe.py:mine", "--run", "runs/rooms")
    assert said.code == 0, said.err
    bounds = [
        json.loads(line)["bounds"]
        for line in (tmp_path / "runs/rooms/metrics.jsonl").read_text().splitlines()
    ]
    assert len(bounds[-1]) == 6
    assert np.mean(list(bounds[-1].values())) > np.mean(list(bounds[0].values())) + 0.5

    said = run("embed", "runs/rooms", "--out", "rooms.npz")
    assert said.code == 0, said.err
    stored = np.load("rooms.npz")
    assert stored["fused"].shape == (ROOMS, 64)
    np.testing.assert_array_equal(np.isnan(stored["embedding.depth"][:, 0]), np.arange(ROOMS) % 3 == 0)
    mine = stored["embedding.rgb"] / np.linalg.norm(stored["embedding.rgb"], axis=1, keepdims=True)
    other = stored["embedding.thermal"] / np.linalg.norm(stored["embedding.thermal"], axis=1, keepdims=True)
    both = np.flatnonzero(np.arange(ROOMS) % 4)
    found = (mine[both] @ other[both].T).argmax(1) == np.arange(len(both))
    assert found.mean() > 8 / len(both)  # chance finds one of them

    query = rooms / "rgb/küche 005.png"
    said = run(
        "search",
        "runs/rooms",
        "--query",
        query,
        "--view",
        "rgb",
        "--in",
        "depth",
        "--embeddings",
        "rooms.npz",
    )
    assert said.code == 0, said.err
    assert said.out.count("küche") >= 10

    said = run("report", "runs/rooms", "--out", "report.html", "--samples", "30")
    assert said.code == 0, said.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'data-kind="samples"' in page
    assert "küche" in page
    assert "There is nothing to look at" not in page

    assert run("status").code == 0
    assert sorted(os.listdir(tmp_path)) == [
        "my rooms",
        "my_recipe.py",
        "report.html",
        "rooms.npz",
        "runs",
        "samples.png",
    ]
