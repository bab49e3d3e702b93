"""Several processes on the CPU: the same code, the same encoders and memory in all, and one run folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from toys import tables
from training import processes
from training.processes import AS_ONE, held
from warm import ended, launch, said

from coview.contrast.negatives.sharded import stretch
from coview.data.shards import pack
from coview.training import fit

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> Path:
    """The folder of everything that two processes did."""
    folder = tmp_path_factory.mktemp("two")
    pack(tables("train"), folder / "shards/train", megabytes=0.004)
    crew = launch(processes.main, folder, folder=folder)
    assert ended(crew, folder) == [0, 0], said(folder)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one process holds after a recipe, and the folder of its run; each is trained once."""
    done: dict[str, tuple[dict[str, torch.Tensor], Path]] = {}

    def train(name):
        folder = tmp_path_factory.mktemp("alone") / "run"
        return done.setdefault(name, (held(fit(AS_ONE[name](), folder)), folder))

    return train


def found(folder: Path, name: str, count: int = 2) -> list[dict[str, torch.Tensor]]:
    return [torch.load(folder / f"{name}-{rank}.pt", weights_only=True) for rank in range(count)]


def assert_same(one, other, what):
    assert one.keys() == other.keys()
    for name in one:
        if not name.startswith("part "):
            assert torch.equal(one[name].nan_to_num(7), other[name].nan_to_num(7)), f"{what}: {name}"


def assert_close(parts, whole):
    """Parts of a bank, one after the other, are the whole one."""
    assert parts[0].keys() == whole.keys()
    for name, right in whole.items():
        mine = torch.cat([part[name] for part in parts]) if name.startswith("part ") else parts[0][name]
        torch.testing.assert_close(mine, right, rtol=1e-4, atol=1e-5, equal_nan=True, msg=name)


def curve(folder: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", list(AS_ONE))
def test_two_learn_what_one_learns(name, two, alone):
    first, second = found(two, name)
    assert_same(first, second, name)
    right, folder = alone(name)
    assert_close([first, second], right)
    assert curve(two / name) == pytest.approx(curve(folder), rel=1e-4)


def test_a_run_goes_on_bit_for_bit(two):
    for name in ("whole", "parts"):
        assert_same(*found(two, name), name)
    assert_same(found(two, "parts")[1], found(two, "whole")[1], "stopped after 1 and 8 steps, and resumed")


def test_from_shards_two_learn_what_one_learns(two, tmp_path):
    right = held(fit(processes.from_shards(two), tmp_path / "run"))
    assert_close(found(two, "from shards"), right)


@pytest.mark.parametrize("name", ["slow", "mixed", "both", "looked"])
def test_both_hold_the_same(name, two):
    assert_same(*found(two, name), name)


def test_the_first_process_alone_looks_in(two):
    assert_same(found(two, "looked")[0], found(two, "whole")[0], "looked at by the first process alone")
    rows = [json.loads(line) for line in (two / "looked/metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows if "probes" in row] == [0, 6, 12]


@pytest.mark.parametrize("count", [1, 3])
def test_a_sharded_run_goes_on_on_another_number_of_processes(count, two, alone, tmp_path):
    shutil.copytree(two / "halves", tmp_path / "halves")
    crew = launch(processes.go_on, tmp_path, folder=tmp_path, processes=count)
    assert ended(crew, tmp_path) == [0] * count, said(tmp_path)
    right, _ = alone("sharded")
    assert_close(found(tmp_path, "ended", count), right)


def test_each_process_saves_its_part_and_no_more(two):
    folder = two / "sharded/checkpoints"
    assert sorted(path.name for path in folder.iterdir()) == [
        "step-00000008.parts",
        "step-00000008.pt",
        "step-00000016.parts",
        "step-00000016.pt",
    ]
    for number in (0, 1):
        part = torch.load(folder / f"step-00000016.parts/{number:04d}.pt", weights_only=True)
        first, last = stretch(96, number, 2)
        assert [len(value) for value in part["held"][0].values()] == [last - first] * 6
    assert not any(
        "rows" in name for name in torch.load(folder / "step-00000016.pt", weights_only=True)["objective"]
    )


def test_a_batch_that_does_not_divide(two):
    for rank in (0, 1):
        message = (two / f"odd-{rank}.txt").read_text()
        assert "15 samples does not divide among 2 processes: set batch_size to a multiple of 2" in message
    assert not (two / "odd").exists()


def test_the_command_line_under_torchrun(tmp_path):
    # "--" keeps torchrun from reading --run as one of its own options.
    words = ["-m", "--", "coview", "train", f"{TESTS / 'toys.py'}:toy", "--run", tmp_path / "run"]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *words]
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
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
