"""Checkpoints: written whole or not at all, with everything that changes training."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import torch

from coview.files import write_whole

FORMAT = "coview checkpoint 1"


class TrainingError(RuntimeError):
    """Training cannot go on; the message says what happened and where to go on from."""

    exit_code = 1  # of the command line


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint; where there is no room, say so and name the last good one."""
    try:
        write_whole(path, lambda file: torch.save({"format": FORMAT, **state}, file))
    except (OSError, RuntimeError) as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: Exception) -> TrainingError:
    """Why a file of a run could not be written, in one line, and where to go on from."""
    number = error.errno if isinstance(error, OSError) else None
    reason, remedy = str(error), "mend that"
    if number in (errno.EROFS, errno.EACCES, errno.EPERM):
        reason, remedy = "the folder is read-only", "let it be written"
    elif number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or _no_room(path.parent):
        reason, remedy = "the disk is full", "make room"
    folder = path.parent if path.suffix == ".pt" else path.parent / "checkpoints"
    return TrainingError(
        f"could not write {path}: {reason}; last good checkpoint: {last_checkpoint(folder) or 'none'}; "
        f"{remedy} and go on with --resume"
    )


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint that this package wrote."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise
    except Exception as error:  # foreign bytes make the reader fail in any way it can
        others = [one for one in checkpoints(path.parent) if one != path]
        raise ValueError(
            f"{path} is cut off or no checkpoint ({os.path.getsize(path):,} bytes): delete it"
            + (f" to go on from {others[-1]}" if others else "; there is no other in that folder")
        ) from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        kind = state.get("format", "no format") if isinstance(state, dict) else type(state).__name__
        if str(kind).startswith("coview checkpoint"):
            raise ValueError(
                f"{path} was written by another version: this one reads '{FORMAT}', got '{kind}'"
            )
        raise ValueError(f"{path} is not a checkpoint of this package: wanted '{FORMAT}', got {kind}")
    return state


def part_of(path: Path, number: int) -> Path:
    """Where a process keeps its part of a checkpoint, if it has one."""
    return path.with_suffix(".parts") / f"{number:04d}.pt"


def tidy(folder: Path, keep: int) -> None:
    """Delete all but the last checkpoints, and parts whose checkpoint was never finished."""
    for old in checkpoints(folder)[:-keep]:
        old.unlink()
    for parts in folder.glob("step-*.parts"):
        if not parts.with_suffix(".pt").exists():
            shutil.rmtree(parts)


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a folder, oldest first."""
    return sorted(folder.glob("step-*.pt"))


def last_checkpoint(folder: Path) -> Path | None:
    return next(reversed(checkpoints(folder)), None)


def _no_room(folder: Path) -> bool:
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < 1 << 20
