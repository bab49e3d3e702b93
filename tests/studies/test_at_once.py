"""Several runs at a time: each is run once, kinds stay together, and what ends before its time is told."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from toys import toy

from coview.studies import at_once
from coview.studies.at_once import Crew, share_out
from coview.studies.job import Job
from coview.studies.study import Row

# In the place of `coview reproduce --serve`: writes who it is into the folder; "dies" ends it, "waits" lasts.
WORKER = """
import json, os, sys, time
for line in sys.stdin:
    folder = line.rstrip()
    if "dies" in folder:
        os._exit(7)
    print(json.dumps({"tell": f"at {os.path.basename(folder)}"}), flush=True)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/who", "a") as file:
        file.write(f"{os.getpid()} {os.environ['OMP_NUM_THREADS']}\\n")
    time.sleep(60 if "waits" in folder else 0.05)
    print(json.dumps({"over": True}), flush=True)
"""
COMMAND = [sys.executable, "-c", WORKER]


def jobs(folder: Path, *names: str) -> list[Job]:
    """Runs in folders called KIND-..."""
    return [
        Job(
            row=Row(name=name.partition("-")[0]),
            seed=n,
            recipe=toy(),
            origin={},
            folder=folder / name,
            samples=96,
        )
        for n, name in enumerate(names)
    ]


@pytest.fixture(autouse=True)
def kinds(monkeypatch):
    monkeypatch.setattr(at_once, "shape", lambda job: job.row.name)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def who(job) -> list[str]:
    return [line.split()[0] for line in (job.folder / "who").read_text().splitlines()]


def test_each_run_is_run_once_and_kinds_stay_with_a_process(tmp_path):
    todo = jobs(tmp_path, "a-0", "a-1", "a-2", "b-0", "b-1", "b-2")
    told, calls = [], []
    share_out(todo, COMMAND, 2, told.append, lambda: calls.append(len(told)))
    ran = [who(job) for job in todo]
    assert all(len(one) == 1 for one in ran)
    kept = {(job.row.name, one[0]) for job, one in zip(todo, ran, strict=True)}
    assert len(kept) <= 3  # who runs out of his own kind helps with the other
    assert len(calls) == 6
    assert [line for line in told if line.startswith("[")][:2] == [
        f"[1/6] a, seed 0, in {tmp_path}/a-0",
        f"[2/6] b, seed 3, in {tmp_path}/b-0",
    ]
    assert sorted(line for line in told if line.startswith("at ")) == sorted(
        f"at {job.folder.name}" for job in todo
    )
    assert (tmp_path / "a-0/who").read_text().split()[1] == str(max((os.cpu_count() or 1) // 2, 1))


def test_a_process_that_ends_costs_its_run_alone(tmp_path):
    todo = jobs(tmp_path, "a-0", "a-dies", "a-2", "a-3")
    told = []
    share_out(todo, COMMAND, 1, told.append, lambda: None)
    assert [len(who(job)) for job in (todo[0], todo[2], todo[3])] == [1, 1, 1]
    assert who(todo[0]) != who(todo[2]) == who(todo[3])
    assert todo[1].result() == {"failed": "its process ended with 7"}
    assert "a, seed 1 failed, the others go on: its process ended with 7" in told


def test_stopped_nothing_more_is_begun_and_nothing_counts_as_failed(tmp_path):
    todo = jobs(tmp_path, "a-waits", "b-waits", "c-0")
    crew = Crew(todo, COMMAND, 2, lambda text: None, lambda: None)
    threads = [threading.Thread(target=crew.work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 30
    while not all((job.folder / "who").exists() for job in todo[:2]) and time.monotonic() < end:
        time.sleep(0.01)
    crew.stop()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert [process.returncode for process in crew.processes] == [-signal.SIGINT] * 2
    assert not todo[2].folder.exists()
    assert [job.result() for job in todo] == [{}, {}, {}]


def test_a_process_that_starts_as_all_are_stopped_is_asked_nothing(tmp_path, monkeypatch):
    todo = jobs(tmp_path, "a-waits")
    crew = Crew(todo, COMMAND, 1, lambda text: None, lambda: None)
    start = crew._start

    def late(number):
        crew.stop()
        return start(number)

    monkeypatch.setattr(crew, "_start", late)
    crew.work(0)
    assert [process.returncode for process in crew.processes] == [0]
    assert not todo[0].folder.exists()


def test_each_has_a_device_of_its_own_where_there_are_several(monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 3)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [at_once._place(number, 4)["CUDA_VISIBLE_DEVICES"] for number in range(4)] == ["0", "1", "2", "0"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,2,7")
    assert at_once._place(1, 4)["CUDA_VISIBLE_DEVICES"] == "2"
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert "CUDA_VISIBLE_DEVICES" not in at_once._place(1, 4)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert at_once._place(0, 4) == {}


def test_answers_are_lines_of_json_and_nothing_else(tmp_path, monkeypatch, capfd):
    def some(asked, tell, watch, after):
        for job in asked:
            print("a library says hello")
            tell(f"{job.name} is at work")
            after()

    monkeypatch.setattr(at_once, "carry_out", some)
    todo = jobs(tmp_path, "a-0", "b ü-1")
    monkeypatch.setattr(sys, "stdin", [f"{todo[1].folder}\n", f"{todo[0].folder}\n"])
    kept = os.dup(1)
    try:
        monkeypatch.setattr(sys, "stdout", os.fdopen(os.dup(1), "w"))
        read, write = os.pipe()
        os.dup2(write, sys.stdout.fileno())
        os.close(write)
        at_once.serve(todo)
        sys.stdout.close()
    finally:
        os.dup2(kept, 1)
    with os.fdopen(read) as answers:
        said = [json.loads(line) for line in answers]
    assert said == [
        {"tell": "b ü, seed 1 is at work"},
        {"over": True},
        {"tell": "a, seed 0 is at work"},
        {"over": True},
    ]
