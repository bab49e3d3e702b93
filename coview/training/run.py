"""The run folder: resolved recipe, versions, metrics, TensorBoard events and checkpoints of one run."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coview.files import write_text
from coview.training.checkpoint import not_written
from coview.training.lock import Lock
from coview.training.machine import machine_name

LOCK, UNFINISHED = ".lock", ".*.unfinished"
PACKAGES = (
    "coview",
    "torch",
    "torchvision",
    "lightning",
    "numpy",
    "jaxtyping",
    "matplotlib",
    "typer",
    "rich",
)
RECIPE = "recipe.py"  # a run of your own data has its recipe beside it


class RunFolder:
    """One folder a run: `recipe.json`, `versions.json`, `metrics.jsonl`, `events/`, `checkpoints/`, `result.json`."""

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self.path, self.write = path, write
        self.checkpoints = path / "checkpoints"
        self.lock = Lock(path / LOCK)
        self._events: Any = None

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    def enter(self, resume: bool) -> dict[str, Any] | None:
        """Hold the folder; what it says of the run to go on with, None where it is to begin."""
        if not resume:
            self.check_free()
        elif not self.path.is_dir() or self._used():
            before = self.read_json("recipe.json")
            self._hold()
            return before
        self._hold()  # else it was stopped before it had begun
        return None

    def check_free(self) -> None:
        """Refuse a folder that holds something other than a recipe that waits to be trained."""
        if self.path.exists() and (not self.path.is_dir() or self._used()):
            raise FileExistsError(
                f"{self.path} exists already: go on with it by --resume, or name another folder with --run"
            )

    def create(self, record: dict[str, Any], seed: int) -> None:
        """Make the folder and write down what will run and with what."""
        self.check_free()
        self.path.mkdir(parents=True, exist_ok=True)
        self.write_json("versions.json", {**versions(), "seed": seed})
        self.write_json("recipe.json", record)  # with this one it has begun

    def read_json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        if not path.is_file():
            raise FileNotFoundError(f"{self.path} is not a run folder: it has no {name}")
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is not valid JSON: {error}") from error

    def write_json(self, name: str, value: dict[str, Any]) -> None:
        if self.write:
            text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
            write_text(self.path / name, text)

    def log(self, row: dict[str, Any]) -> None:
        """Add a row to the metrics and to the TensorBoard events."""
        if not self.write:
            return
        try:
            with self.metrics.open("a") as file:
                file.write(json.dumps(row) + "\n")
                file.flush()
                os.fsync(file.fileno())
            self._log_event(row)
        except OSError as error:
            raise not_written(self.metrics, error) from error

    def forget_after(self, step: int) -> None:
        """Take back metrics of steps that a resumed run will do again."""
        if not self.write or not self.metrics.exists():
            return
        rows = [line for line in self.metrics.read_text().splitlines() if _step_of(line) <= step]
        write_text(self.metrics, "".join(f"{row}\n" for row in rows))

    def close(self) -> None:
        """Finish the events, and let others have the folder."""
        if self._events is not None:
            self._events.close()
            self._events = None
        if self.lock.file is not None:
            self.lock.release()
            if not any(self.path.iterdir()):  # nothing came of it
                self.path.rmdir()

    def _hold(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.lock.acquire()
            for path in [*self.path.glob(UNFINISHED), *self.checkpoints.glob(f"**/{UNFINISHED}")]:
                path.unlink()  # of a run that was killed
        except FileExistsError:
            raise
        except OSError as error:
            raise not_written(self.path / LOCK, error) from error

    def _used(self) -> bool:
        """Whether there is more than a waiting recipe, and what a run leaves that is killed before it has begun."""
        left = {LOCK, RECIPE, "versions.json", *(path.name for path in self.path.glob(UNFINISHED))}
        return any(path.name not in left for path in self.path.iterdir())

    def _log_event(self, row: dict[str, Any]) -> None:
        events = self._open_events(row["step"])
        for group in ("terms", "bounds", "probes"):  # a look has probes alone
            for name, value in row.get(group, {}).items():
                events.add_scalar(f"{group}/{name}", value, row["step"])
        for name in ("loss", "learning_rate", "rate"):
            if name in row:
                events.add_scalar(name, row[name], row["step"])

    def _open_events(self, step: int) -> Any:
        if self._events is None:
            from torch.utils.tensorboard import SummaryWriter  # takes a second to import

            self._events = SummaryWriter(str(self.path / "events"), purge_step=step)
        return self._events


def versions() -> dict[str, Any]:
    """What this runs on, and when: Python, packages, machine, and the commit of this package's checkout."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "machine": machine_name(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": found,
        "commit": _commit(Path(__file__).parent),
    }


def _commit(folder: Path) -> str | None:
    """The commit of the checkout, with a + where files differ from it; None outside of one."""
    try:
        git = ["git", "-C", str(folder)]
        tracked = subprocess.run(
            [*git, "ls-files", "run.py"], capture_output=True, text=True, check=True
        ).stdout
        head = subprocess.run(
            [*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        status = [*git, "status", "--porcelain", "--untracked-files=no"]
        changed = subprocess.run(status, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{head}{'+' if changed.strip() else ''}" if tracked or head else None


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")  # cut off while it was written
