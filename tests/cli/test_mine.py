"""`coview look | init | train mine`: what is said of your data, the file, and the run."""

import csv
import json
import shutil

import pytest
from toy_files import sensors


@pytest.fixture
def data(tmp_path):
    """Forty samples of three views with gaps and labels of most."""
    place = sensors(tmp_path / "my data", 40)
    with (place / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["stem", "label", "split"])
        rows.writerows(
            [f"{n:04d}", "" if n == 7 else "ab"[n % 2], "test" if n % 4 == 1 else "train"] for n in range(40)
        )
    return place


def test_look(run, data, tmp_path):
    said = run("look", data, "--out", tmp_path / "sheet.png")
    assert said.code == 0
    rows = {line.split()[1]: line for line in said.out.splitlines() if line.startswith("│")}
    cells = [cell.strip() for cell in rows["depth"].split("│")]
    assert cells[2:7] == ["26", "14", "1 channel", "10x14", "300 to 5400"]
    assert "39 of 40 samples have a label in labels.csv" in said.words
    assert "30 samples to train on, 10 to test on, labels of 2 classes" in said.words
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_init_and_train_are_train_mine(run, data, tmp_path):
    file, two, one = tmp_path / "my_recipe.py", tmp_path / "two", tmp_path / "one"
    assert run("init", data, "--out", file).code == 0
    assert "exists already: name another file with --out" in run("init", data, "--out", file).line
    short = ("--set", "epochs=2", "--set", "log_every=1")
    assert run("train", f"{file}:mine", "--run", two, *short).code == 0
    said = run("train", "mine", "--data", data, "--run", one, *short)
    assert said.code == 0
    assert "Linear probe on frozen encoders" in said.out
    assert "depth->heat" in said.out
    assert losses(one) == losses(two)
    assert (one / "recipe.py").read_text() == file.read_text()
    result = json.loads((one / "result.json").read_text())
    assert [row[0] for row in result["tables"]["linear probe"]["rows"]] == [
        "depth",
        "heat",
        "rgb",
        "all views",
    ]


def losses(folder):
    return [json.loads(line)["terms"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_run_of_your_own_goes_on_and_can_be_moved(run, data, tmp_path):
    folder = tmp_path / "run"
    assert run("train", "mine", "--data", data, "--run", folder, "--set", "steps=2").code == 0
    again = run("train", "mine", "--data", data, "--run", folder)
    assert "exists already: go on with it by --resume" in again.line
    assert "5 steps done" in run("train", "mine", "--run", folder, "--resume", "--set", "steps=5").out
    other = shutil.copytree(data, tmp_path / "other")
    wrong = run("train", "mine", "--data", other, "--run", folder, "--resume")
    assert f"names other data than {other}: name a new folder with --run" in wrong.line
    shutil.move(folder, tmp_path / "moved")
    assert run("probe", tmp_path / "moved", "--kind", "knn").code == 0


def test_without_labels(run, data, tmp_path):
    (data / "labels.csv").unlink()
    said = run("train", "mine", "--data", data, "--run", tmp_path / "run", "--set", "steps=2")
    assert "No probe: there are no labels." in said.words
    assert "Cross-view retrieval" in said.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "mine"), "wants to know where your views are: --data DIR"),
        (("train", "demo", "--data", "x"), "--data goes with the recipe 'mine', not with 'demo'"),
        (("train", "mine", "--data", "nowhere"), "no folder or file nowhere"),
        (("look", "nowhere"), "no folder or file nowhere"),
        (("show", "mine"), "'mine' is made from your data"),
    ],
)
def test_wrong_use(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    said = run(*arguments)
    assert said.code == 2
    assert words in said.line
    assert not (tmp_path / "runs").exists()


def test_list_names_it(run):
    assert "coview train mine --data DIR" in run("list").out
