"""Checkpoints: whole or not at all, and only our own."""

import errno
import os
import pickle
import subprocess
import sys

import pytest
import torch

from coview.training import TrainingError
from coview.training.checkpoint import checkpoints, load_checkpoint, save_checkpoint


def test_it_comes_back_as_it_was(tmp_path):
    path = tmp_path / "checkpoints/step-00000003.pt"
    save_checkpoint(path, {"step": 3, "rows": torch.arange(5)})
    state = load_checkpoint(path)
    assert state["step"] == 3
    assert torch.equal(state["rows"], torch.arange(5))
    assert [one.name for one in path.parent.iterdir()] == ["step-00000003.pt"]


@pytest.mark.parametrize("kept", [0, 10, 700, -1])
def test_cut_off(tmp_path, kept):
    good, bad = tmp_path / "step-00000001.pt", tmp_path / "step-00000002.pt"
    save_checkpoint(good, {"step": 1, "rows": torch.arange(500)})
    bad.write_bytes(good.read_bytes()[:kept])
    with pytest.raises(
        ValueError, match=r"step-00000002.pt is cut off or no checkpoint .* to go on from .*step-00000001.pt"
    ):
        load_checkpoint(bad)


def test_foreign(tmp_path):
    path = tmp_path / "step-00000001.pt"
    torch.save({"epoch": 3, "state_dict": {}}, path)
    with pytest.raises(
        ValueError, match="is not a checkpoint of this package: wanted 'coview checkpoint 1', got no format"
    ):
        load_checkpoint(path)
    torch.save({"format": "coview checkpoint 2", "step": 3}, path)
    with pytest.raises(
        ValueError, match="was written by another version: this one reads 'coview checkpoint 1'"
    ):
        load_checkpoint(path)
    path.write_text("hello, this is no checkpoint")
    with pytest.raises(ValueError, match="is cut off or no checkpoint"):
        load_checkpoint(path)


def test_code_in_a_checkpoint_is_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    path = tmp_path / "step-00000001.pt"
    torch.save({"format": "coview checkpoint 1", "evil": Evil()}, path)
    with pytest.raises(ValueError, match="no checkpoint"):
        load_checkpoint(path)
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ValueError, match="no checkpoint"):
        load_checkpoint(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_full_disk(tmp_path, monkeypatch, moment):
    good = tmp_path / "step-00000001.pt"
    save_checkpoint(good, {"step": 1})

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, moment, full)
    message = (
        r"could not write .*step-00000002.pt: the disk is full; last good checkpoint: .*step-00000001.pt"
    )
    with pytest.raises(TrainingError, match=message):
        save_checkpoint(tmp_path / "step-00000002.pt", {"step": 2})
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001.pt"]  # nothing half written is left
    assert load_checkpoint(good)["step"] == 1


def test_a_disk_that_is_really_full(tmp_path):
    """A process that may write no more than 20,000 bytes a file: the system's own error, through torch.save."""
    script = """
import resource, signal, sys, torch
from pathlib import Path
from coview.training.checkpoint import save_checkpoint
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
save_checkpoint(Path(sys.argv[1]), {"rows": torch.zeros(100_000)})
"""
    pytest.importorskip("resource")
    command = [sys.executable, "-c", script, str(tmp_path / "step-00000002.pt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "TrainingError: could not write" in done.stderr
    assert "last good checkpoint: none" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_they_are_found_in_order(tmp_path):
    for step in (12, 3, 100):
        save_checkpoint(tmp_path / f"step-{step:08d}.pt", {"step": step})
    assert [load_checkpoint(path)["step"] for path in checkpoints(tmp_path)] == [3, 12, 100]
