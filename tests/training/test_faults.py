"""What goes wrong around a training: it is asked to stop, loses a companion, or is not alone in its folder."""

import errno
import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from toys import toy
from training import faults
from warm import ended, launch, said, start

from coview.recipes.find import find_recipe
from coview.training import TrainingError, fit
from coview.training.checkpoint import checkpoints, load_checkpoint
from coview.training.run import RunFolder

LONG, SLOW = (f"{Path(faults.__file__)}:{name}" for name in ("long", "slow"))


def until(there, *, seconds: float = 60.0) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


def logged(folder: Path) -> list[int]:
    path = folder / "metrics.jsonl"
    return [json.loads(line)["step"] for line in path.read_text().splitlines()] if path.exists() else []


def one(folder: Path, *words: str):
    """A training that is on its way."""
    process = start(
        faults.command, "train", LONG, "--run", str(folder / "run"), *words, said=folder / "said-0"
    )
    until(lambda: logged(folder / "run"))
    return process


def two(folder: Path, **environment: str):
    words = ("train", LONG, "--run", str(folder / "run"))
    crew = launch(faults.command, *words, folder=folder, environment=environment)
    until(lambda: logged(folder / "run"))
    return crew


def last(folder: Path) -> int:
    return load_checkpoint(checkpoints(folder / "run/checkpoints")[-1])["step"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop(number, tmp_path):
    process = one(tmp_path)
    os.kill(process.pid, number)
    assert ended([process], tmp_path) == [75]
    step = last(tmp_path)
    assert f"coview: stopped by {number.name} after step {step}, all of it in " in said(tmp_path)
    assert said(tmp_path).rstrip().endswith("go on with --resume")
    assert not (tmp_path / "run/.lock").exists()
    recipe, _ = find_recipe(LONG, [f"steps={step + 2}"])
    assert fit(recipe, tmp_path / "run", resume=True).step == step + 2


def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(tmp_path):
    def stop_at_eight(row):
        if row["step"] == 8:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingError, match="stopped by SIGTERM after step 9"):
        fit(toy(), tmp_path / "parts", observe=stop_at_eight)
    parts, whole = fit(toy(), tmp_path / "parts", resume=True), fit(toy(), tmp_path / "whole")
    for name, value in whole.encoders.state_dict().items():
        assert torch.equal(parts.encoders.state_dict()[name], value), name
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_interrupted_twice_it_does_not_wait(tmp_path):
    def interrupt_twice(row):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        fit(toy(), tmp_path / "run", observe=interrupt_twice)


def test_of_two_processes_one_is_asked_to_stop(tmp_path):
    crew = two(tmp_path)
    os.kill(crew[1].pid, signal.SIGTERM)
    assert ended(crew, tmp_path) == [75, 75], said(tmp_path)
    assert f"coview: stopped by a signal to another process after step {last(tmp_path)}" in said(tmp_path)
    assert said(tmp_path).count("stopped by") == 1


def test_of_two_processes_one_is_killed(tmp_path):
    crew = two(tmp_path)
    crew[1].kill()
    started = time.monotonic()
    assert ended(crew, tmp_path) == [69, -9], said(tmp_path)
    assert time.monotonic() - started < 60
    assert "coview: another process of the 2 of this run is gone; process 0 ends too" in said(tmp_path)


@pytest.mark.parametrize("which", [0, 1])
def test_of_two_processes_one_does_not_answer(which, tmp_path):
    crew = two(tmp_path, COVIEW_PATIENCE="3")
    os.kill(crew[which].pid, signal.SIGSTOP)
    other = crew[1 - which]
    other.join(50)
    try:
        assert other.exitcode == 69, said(tmp_path)
        assert f"coview: process {which} of the 2 of this run is gone; process {1 - which} ends too" in said(
            tmp_path
        )
    finally:
        crew[which].kill()
        crew[which].join()


def test_of_two_processes_one_fails_and_says_why(tmp_path):
    words = ("train", f"{Path(faults.__file__)}:spoiled", "--run", str(tmp_path / "run"))
    crew = launch(faults.command, *words, folder=tmp_path)
    assert sorted(ended(crew, tmp_path)) in ([1, 1], [1, 69]), said(tmp_path)
    assert "coview: view 'touch' of dataset 'tables' is not finite" in (tmp_path / "said-1").read_text()
    assert "coview: " in (tmp_path / "said-0").read_text()


def test_what_the_first_refuses_all_refuse(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/mine.txt").write_text("not a run")
    crew = launch(faults.command, "train", SLOW, "--run", str(tmp_path / "run"), folder=tmp_path)
    assert ended(crew, tmp_path) == [2, 2], said(tmp_path)
    assert said(tmp_path).count("exists already: go on with it by --resume") == 1


def test_two_runs_in_one_folder(tmp_path):
    first = one(tmp_path)
    second = start(
        faults.command, "train", LONG, "--run", str(tmp_path / "run"), "--resume", said=tmp_path / "said-1"
    )
    assert ended([second], tmp_path) == [2]
    assert f"{tmp_path / 'run'} is in use by process {first.pid} on " in (tmp_path / "said-1").read_text()
    before = logged(tmp_path / "run")
    until(lambda: logged(tmp_path / "run") != before)  # the first was not disturbed
    first.kill()
    first.join()
    assert (tmp_path / "run/.lock").exists()
    until(lambda: checkpoints(tmp_path / "run/checkpoints"))
    recipe, _ = find_recipe(LONG, [f"steps={last(tmp_path) + 1}"])
    assert fit(recipe, tmp_path / "run", resume=True).step == last(tmp_path)


@pytest.mark.parametrize("left", [[], ["versions.json"], [".lock", ".recipe.json.77.unfinished"]])
def test_killed_before_it_had_begun(left, tmp_path):
    (tmp_path / "run").mkdir()
    for name in left:
        (tmp_path / "run" / name).write_text("")
    assert fit(replace(toy(), steps=2), tmp_path / "run", resume=True).step == 2
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "checkpoints",
        "events",
        "metrics.jsonl",
        "recipe.json",
        "versions.json",
    ]


def test_what_was_not_finished_is_swept_up(tmp_path):
    fit(replace(toy(), steps=2), tmp_path / "run")
    unfinished = tmp_path / "run/checkpoints/.step-00000006.pt.77.unfinished"
    unfinished.write_bytes(b"half")
    parts = tmp_path / "run/checkpoints/step-00000001.parts"
    parts.mkdir()
    (parts / "0000.pt").write_bytes(b"of a checkpoint that never came")
    fit(replace(toy(), steps=3), tmp_path / "run", resume=True)
    assert not unfinished.exists()
    assert not parts.exists()


def test_nothing_is_left_where_nothing_came_of_it(tmp_path):
    with pytest.raises(ValueError, match="probe_layer"):
        fit(replace(toy(), probe_layer="fc"), tmp_path / "deep/run")
    assert not (tmp_path / "deep/run").exists()


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written(number, tmp_path, monkeypatch):
    def refuse(*arguments, **rest):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    message = (
        r"could not write .*run/.lock: the folder is read-only; last good checkpoint: none; let it be written"
    )
    with pytest.raises(TrainingError, match=message):
        fit(toy(), tmp_path / "run")


def test_a_disk_that_fills_up_between_checkpoints(tmp_path, monkeypatch):
    write = RunFolder._log_event

    def full(run, row):
        if row["step"] == 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(run, row)

    monkeypatch.setattr(RunFolder, "_log_event", full)
    message = r"could not write .*metrics.jsonl: the disk is full; last good checkpoint: .*step-00000006.pt; make room"
    with pytest.raises(TrainingError, match=message):
        fit(toy(), tmp_path / "run")
    monkeypatch.undo()
    assert fit(toy(), tmp_path / "run", resume=True).step == 18
