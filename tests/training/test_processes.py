"""Two processes on the CPU: the same code, the same encoders and memory in both, and one run folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from training.processes import held, plain

from coview.training import fit

TESTS = Path(__file__).parents[1]


def launch(*what) -> subprocess.CompletedProcess:
    """Run something under two processes, as torchrun does."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *what]
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [str(part) for part in command],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


def test_both_processes_hold_the_same_whatever_happens(tmp_path):
    done = launch(TESTS / "training/processes.py", tmp_path)
    assert done.returncode == 0, done.stderr
    found = {
        name: [torch.load(tmp_path / f"{name}-{rank}.pt", weights_only=True) for rank in (0, 1)]
        for name in ("plain", "whole", "parts", "gaps", "looked", "slow", "both")
    }
    for name, (first, second) in found.items():
        assert_same(first, second, name)
    assert_same(found["parts"][0], found["whole"][0], "stopped after 1 and 8 steps, and resumed")
    assert_is_what_one_process_does(found["plain"][0], tmp_path)
    assert_same(found["looked"][0], found["whole"][0], "looked at by the first process alone")
    rows = [json.loads(line) for line in (tmp_path / "looked/metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows if "probes" in row] == [0, 6, 12, 18]
    for rank in (0, 1):
        message = (tmp_path / f"odd-{rank}.txt").read_text()
        assert "15 samples does not divide among 2 processes: set batch_size to a multiple of 2" in message
    assert not (tmp_path / "odd").exists()


def assert_same(one, other, what):
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), f"{what}: {name}"


def assert_is_what_one_process_does(found, folder):
    """Gradients are averaged, and memory is written with the whole batch."""
    alone = held(fit(plain(), folder / "alone"))
    assert alone.keys() == found.keys()
    for name in alone:
        torch.testing.assert_close(
            found[name], alone[name], rtol=1e-4, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )
    rows = [
        json.loads((folder / run / "metrics.jsonl").read_text().splitlines()[-1])
        for run in ("alone", "plain")
    ]
    assert [row["step"] for row in rows] == [18, 18]
    assert rows[1]["loss"] == pytest.approx(rows[0]["loss"], rel=0.1)  # of the first process's half


def test_the_command_line_under_two_processes(tmp_path):
    # "--" keeps torchrun from reading --run as one of its own options.
    words = ["-m", "--", "coview", "train", f"{TESTS / 'toys.py'}:toy", "--run", tmp_path / "run"]
    done = launch(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("18 steps done") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [4, 6, 8, 12, 16, 18]
    assert sorted(path.name for path in (tmp_path / "run/checkpoints").iterdir()) == [
        "step-00000012.pt",
        "step-00000018.pt",
    ]
    assert len(list((tmp_path / "run/events").iterdir())) == 1
