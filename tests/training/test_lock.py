"""A lock names its holder, and is free once the holder is gone: here, or on another machine."""

import json
import os
import socket
import time
from pathlib import Path

import pytest

from coview.training import lock as locks
from coview.training.lock import Lock


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / ".lock"


def left_by(path: Path, *, host: str, pid: int = 4321, seconds_ago: float = 0.0) -> None:
    path.write_text(json.dumps({"pid": pid, "host": host, "since": "2031-05-06"}))
    os.utime(path, (time.time() - seconds_ago,) * 2)


def test_held_by_one(path):
    first = Lock(path)
    first.acquire()
    with pytest.raises(
        FileExistsError, match=f"is in use by process {os.getpid()} on {socket.gethostname()} since 20"
    ):
        Lock(path).acquire()
    first.release()
    assert not path.exists()
    second = Lock(path)
    second.acquire()
    second.release()


def test_a_holder_that_died_here(path):
    left_by(path, host=socket.gethostname(), pid=os.getpid())  # even if its number is in use again
    one = Lock(path)
    one.acquire()
    assert json.loads(path.read_text())["since"] != "2031-05-06"
    one.release()


def test_a_holder_elsewhere_that_lives(path, monkeypatch):
    monkeypatch.setattr(locks, "GONE", 5.0)
    left_by(path, host="elsewhere", seconds_ago=2)
    monkeypatch.setattr(time, "sleep", lambda seconds: os.utime(path))  # its sign of life
    with pytest.raises(
        FileExistsError, match="in use by process 4321 on elsewhere since 2031-05-06: wait for it"
    ):
        Lock(path).acquire()
    assert json.loads(path.read_text())["pid"] == 4321


@pytest.mark.parametrize("seconds_ago", [0.0, 1000.0])
def test_a_holder_elsewhere_that_is_gone(path, seconds_ago, monkeypatch):
    monkeypatch.setattr(locks, "GONE", 0.4)
    left_by(path, host="elsewhere", seconds_ago=seconds_ago)
    one = Lock(path)
    one.acquire()
    assert json.loads(path.read_text())["pid"] == os.getpid()
    one.release()
    assert list(path.parent.iterdir()) == []


def test_a_holder_elsewhere_that_ends_meanwhile(path, monkeypatch):
    left_by(path, host="elsewhere")
    monkeypatch.setattr(time, "sleep", lambda seconds: path.unlink())
    one = Lock(path)
    one.acquire()
    assert json.loads(path.read_text())["pid"] == os.getpid()
    one.release()


def test_signs_of_life(path, monkeypatch):
    monkeypatch.setattr(locks, "SIGN", 0.01)
    one = Lock(path)
    one.acquire()
    os.utime(path, (1, 1))
    deadline = time.monotonic() + 20
    while path.stat().st_mtime < 100:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    one.release()


def test_a_child_does_not_hold_it(path):
    one = Lock(path)
    one.acquire()
    ready, wake = os.pipe(), os.pipe()
    child = os.fork()
    if not child:  # lives on with whatever it got of its parent
        os.write(ready[1], b"x")
        os.read(wake[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    assert one.file is not None
    os.close(one.file)  # as if this process had ended, without a word
    one.file = None
    second = Lock(path)
    second.acquire()
    second.release()
    os.write(wake[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    for end in (*ready, *wake):
        os.close(end)


@pytest.mark.parametrize("lives", [False, True])
def test_where_the_system_knows_no_locks(path, lives, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    left_by(path, host=socket.gethostname(), pid=os.getppid() if lives else 2**22 + 5)
    if lives:
        with pytest.raises(FileExistsError, match=f"process {os.getppid()} on "):
            Lock(path).acquire()
    else:
        one = Lock(path)
        one.acquire()
        one.release()


def test_a_lock_that_is_cut_off(path):
    path.write_text('{"pid": 7, "ho')
    one = Lock(path)
    one.acquire()
    one.release()
