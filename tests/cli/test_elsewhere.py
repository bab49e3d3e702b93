"""What is sent to other places: the same numbers as in the run folder, and an end whatever happens."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from coview.cli.elsewhere import numbers_of

TOY = f"{Path(__file__).parents[1] / 'toys.py'}:toy"


class FakeWandB:
    """Weights & Biases as it is called here."""

    def __init__(self):
        self.begun, self.rows, self.codes = [], [], []

    def init(self, **arguments):
        self.begun.append(arguments)
        return SimpleNamespace(
            log=lambda numbers, step: self.rows.append((step, numbers)),
            finish=lambda exit_code: self.codes.append(exit_code),
        )


class FakeMLflow:
    """MLflow as it is called here."""

    def __init__(self):
        self.said = []

    def __getattr__(self, name):
        return lambda *arguments, **rest: self.said.append((name, arguments, rest))


@pytest.fixture
def places(monkeypatch):
    found = SimpleNamespace(wandb=FakeWandB(), mlflow=FakeMLflow())
    monkeypatch.setitem(sys.modules, "wandb", found.wandb)
    monkeypatch.setitem(sys.modules, "mlflow", found.mlflow)
    return found


def test_the_same_numbers_go_to_both(run, places, tmp_path):
    folder = tmp_path / "run"
    said = run("train", TOY, "--run", folder, "--set", "steps=8", "--log", "wandb", "--log", "mlflow")
    assert said.code == 0, said.err
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    wanted = [(row["step"], pytest.approx(numbers_of(row))) for row in rows]
    assert places.wandb.rows == wanted
    assert places.wandb.codes == [0]
    (begun,) = places.wandb.begun
    assert (begun["project"], begun["name"]) == ("coview", "run")
    assert begun["config"]["critic.temperature"] == 0.1
    assert begun["config"]["steps"] == 8
    names = [name for name, *_ in places.mlflow.said]
    assert names == ["set_experiment", "start_run", "log_params", *["log_metrics"] * len(rows), "end_run"]
    (first,) = next(arguments for name, arguments, _ in places.mlflow.said if name == "log_metrics")
    assert first["terms/sound to touch"] == rows[0]["terms"]["sound->touch"]
    assert places.mlflow.said[-1][1] == ("FINISHED",)


def test_a_run_that_fails_ends_there_too(run, places, tmp_path, monkeypatch):
    def stop(*arguments, **rest):
        raise ValueError("no such luck")

    monkeypatch.setattr("coview.training.fit", stop)
    said = run("train", TOY, "--run", tmp_path / "run", "--log", "wandb", "--log", "mlflow")
    assert "no such luck" in said.line
    assert places.wandb.codes == [1]
    assert places.mlflow.said[-1][:2] == ("end_run", ("FAILED",))


def test_a_look_has_probes_alone():
    row = {"step": 4, "epoch": 2.0, "probes": {"linear L": 31.5}}
    assert numbers_of(row) == {"epoch": 2.0, "probes/linear L": 31.5}


def test_unknown_and_missing_places(run, tmp_path, monkeypatch):
    said = run("train", TOY, "--run", tmp_path / "run", "--log", "wandbb")
    assert "--log goes to wandb or mlflow, got 'wandbb' (did you mean 'wandb'?)" in said.line
    monkeypatch.setitem(sys.modules, "wandb", None)
    said = run("train", TOY, "--run", tmp_path / "run", "--log", "wandb")
    assert "--log wandb needs wandb: pip install 'coview[wandb]'" in said.line
    assert not (tmp_path / "run").exists()


def test_quiet_says_what_was_found_alone(run, tmp_path):
    said = run("train", TOY, "--run", tmp_path / "run", "--set", "steps=2", "--quiet")
    assert said.out.splitlines() == [
        f"2 steps done, in {tmp_path / 'run'}. Next:  coview probe {tmp_path / 'run'}"
    ]
