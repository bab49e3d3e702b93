"""One run to a folder: a lock that names its holder, and that nobody holds once the holder is gone."""

import json
import os
import socket
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # where there is no flock, holders are told by their sign of life alone
    fcntl = None

SIGN = 20.0  # seconds between signs of life, for other machines
GONE = 90.0  # seconds without one after which a holder on another machine is gone


class Lock:
    """Held from `acquire` to `release`, or until this process ends in whatever way.

    On one machine the system knows who lives. Of a holder on another machine the file's time is watched.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: int | None = None
        self.done = threading.Event()

    def acquire(self) -> None:
        """Hold the lock, or say who does."""
        while self.file is None:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                if _is_held(file, self.path):
                    holder = _in_words(_read(file))
                    raise FileExistsError(
                        f"{self.path.parent} is in use by {holder}: wait for it, or stop it"
                    )
                if _is(file, self.path):  # else the last holder has just taken it away
                    self.file = file
            finally:
                if self.file is None:
                    os.close(file)
        self._sign(self.file)

    def release(self) -> None:
        """Give the lock back, and leave no file."""
        if self.file is not None:
            self.done.set()
            self.path.unlink(missing_ok=True)
            os.close(self.file)
            self.file = None

    def _sign(self, file: int) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        text = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": now})
        os.ftruncate(file, 0)
        os.pwrite(file, text.encode(), 0)
        os.fsync(file)
        if hasattr(os, "register_at_fork"):  # a child that outlives this process must not hold it
            os.register_at_fork(after_in_child=self._forget)
        threading.Thread(target=self._live, name="coview-lock", daemon=True).start()

    def _live(self) -> None:
        while not self.done.wait(SIGN):
            try:
                os.utime(self.path)
            except OSError:
                continue  # a file server may be away for a while

    def _forget(self) -> None:
        if self.file is not None:
            os.close(self.file)
            self.file = None


def _is_held(file: int, path: Path) -> bool:
    """Whether somebody else who lives holds the lock; if not, this process now does."""
    taken, holder = _take(file), _read(file)
    if taken is None and holder.get("host") == socket.gethostname():
        return _lives(int(holder["pid"]))
    return taken is False or (
        holder.get("host", socket.gethostname()) != socket.gethostname() and _beats(path)
    )


def _take(file: int) -> bool | None:
    """Whether this process got the file; None where the system does not tell."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _lives(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _beats(path: Path) -> bool:
    """Whether a holder on another machine still gives signs of life; waits for one if the last is recent."""
    first = path.stat().st_mtime
    while _now(path.parent) - first < GONE:
        time.sleep(min(1.0, GONE / 10))
        if not path.exists():
            return False
        if path.stat().st_mtime > first:
            return True
    return False


def _now(folder: Path) -> float:
    """The time by the clock of whoever keeps the files."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".clock.", suffix=".unfinished") as file:
        return os.stat(file.name).st_mtime


def _is(file: int, path: Path) -> bool:
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _read(file: int) -> dict[str, Any]:
    try:
        found = json.loads(os.pread(file, 4096, 0))
    except ValueError:  # just made, or cut off
        return {}
    return found if isinstance(found, dict) and "pid" in found else {}


def _in_words(holder: dict[str, Any]) -> str:
    if not holder:
        return "another process"
    return f"process {holder.get('pid')} on {holder.get('host')} since {holder.get('since')}"
