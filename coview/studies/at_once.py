"""Several runs of a study at a time: processes, on one device or on all there are, each take the next that is left."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from threading import Lock, Thread
from typing import IO, Any, cast

import torch

from coview.studies.carry_out import Tell, carry_out
from coview.studies.job import Job
from coview.studies.pace import shape


def share_out(
    jobs: Sequence[Job], command: Sequence[str], count: int, tell: Tell, after: Callable[[], None]
) -> None:
    """Every run, so many at a time; `command` starts a process that does as `serve` does."""
    crew = Crew(jobs, command, count, tell, after)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # both are passed on as an interrupt
    threads = [Thread(target=crew.work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        crew.stop()
        for thread in threads:
            thread.join()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def serve(jobs: Sequence[Job]) -> None:
    """Run what is asked for, a folder a line, and tell of it in lines of JSON, until nobody asks."""
    by_folder = {str(job.folder): job for job in jobs}
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed is no answer

        def say(**message: Any) -> None:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

        asked = (by_folder[line.rstrip("\n")] for line in sys.stdin)
        carry_out(asked, lambda text: say(tell=text), lambda title: nullcontext(None), lambda: say(over=True))


class Crew:
    """Threads of which each talks to a process; runs of one kind stay with the process that has compiled it."""

    def __init__(
        self, jobs: Sequence[Job], command: Sequence[str], count: int, tell: Tell, after: Callable[[], None]
    ) -> None:
        self.waiting, self.total, self.begun = list(jobs), len(jobs), 0
        self.command, self.count, self.tell, self.after = command, count, tell, after
        self.kinds: set[str] = set()
        self.processes: list[subprocess.Popen] = []
        self.lock, self.stopping = Lock(), False

    def work(self, number: int) -> None:
        """One process after the other, should one end before its time."""
        kind, process = None, None
        while (job := self._take(kind)) is not None:
            kind, process = shape(job), process or self._start(number)
            if self.stopping:  # it may have been started too late to be told
                break
            over = self._ask(process, job)
            code, process = (None, process) if over else (_end(process), None)
            with self.lock:
                if not over and not self.stopping:
                    job.folder.mkdir(parents=True, exist_ok=True)
                    job.note(failed=f"its process ended with {code}")
                    self.tell(f"{job.name} failed, the others go on: its process ended with {code}")
                self.after()
        if process is not None:
            _end(process)

    def stop(self) -> None:
        """Start nothing more; runs at hand save what they have."""
        with self.lock:
            self.stopping = True
            self.waiting.clear()
            for process in self.processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)

    def _take(self, kind: str | None) -> Job | None:
        with self.lock:
            alike = (job for job in self.waiting if shape(job) == kind)
            new = (job for job in self.waiting if shape(job) not in self.kinds)
            job = next(alike, None) or next(new, None) or next(iter(self.waiting), None)
            if job is not None:
                self.waiting.remove(job)
                self.kinds.add(shape(job))
                self.begun += 1
                self.tell(f"[{self.begun}/{self.total}] {job.name}, in {job.folder}")
            return job

    def _start(self, number: int) -> subprocess.Popen:
        process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **_place(number, self.count)},
            start_new_session=True,  # an interrupt is passed on once, by `stop`
        )
        with self.lock:
            self.processes.append(process)
        return process

    def _ask(self, process: subprocess.Popen, job: Job) -> bool:
        """Whether the process has seen the run through, whichever way it ended."""
        asks, answers = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
        try:
            asks.write(f"{job.folder}\n")
            asks.flush()
        except OSError:
            return False
        for line in answers:
            message = json.loads(line)
            if "over" in message:
                return True
            with self.lock:
                self.tell(message["tell"])
        return False


def _end(process: subprocess.Popen) -> int:
    """Let a process go; the code it ends with."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # it may be gone already
            cast("IO[str]", pipe).close()
    return process.wait()


def _place(number: int, count: int) -> dict[str, str]:
    """A device for a process, where there are several, and its share of the cores."""
    threads = str(max((os.cpu_count() or 1) // count, 1))
    found = {} if "OMP_NUM_THREADS" in os.environ else {"OMP_NUM_THREADS": threads}
    if torch.cuda.device_count() > 1:
        every = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(torch.cuda.device_count())))
        names = every.split(",")
        found["CUDA_VISIBLE_DEVICES"] = names[number % len(names)]
    return found
