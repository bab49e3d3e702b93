"""Processes that hear of each other: when one is gone the others end with a message, and do not hang."""

import os
import sys
import threading
import time
from datetime import timedelta
from types import TracebackType
from typing import Any

import torch
from torch import distributed

from coview import processes
from coview.training.checkpoint import TrainingError

Signs = distributed.TCPStore  # pyright: ignore[reportPrivateImportUsage]
PATIENCE = "COVIEW_PATIENCE"  # seconds without a sign of life after which a process is given up
SECONDS = 30.0
PAUSES = 6  # looks in that time
GRACE = 10.0  # seconds in which a process may end by itself


class Lost(TrainingError):
    """Another process of this run is gone, so this one cannot go on."""

    exit_code = 69  # of sysexits.h: unavailable


class Heartbeat:
    """Each process gives a sign of life and watches that of the next; alone there is nobody to watch.

    A process that fails leaves its last words, so that the others can say why they end.
    """

    def __init__(self) -> None:
        self.pause = float(os.environ.get(PATIENCE, SECONDS)) / PAUSES
        self.done, self.over = threading.Event(), threading.Event()
        self.store: Any = None
        self.next = (processes.rank() + 1) % processes.count()
        self.beat, self.beats, self.answers = (
            b"",
            0,
            0,
        )  # the last that was heard, how many, and of how many looks
        self.lost: str | None = None

    def __enter__(self) -> "Heartbeat":
        if processes.count() > 1:
            self.store = _meet()
            self._beat(0)
            processes.wait()  # everybody has begun
            for work in (self._ask, self._watch):
                threading.Thread(target=work, name="coview-heartbeat", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        if self.store is None:
            return
        if error is None:
            processes.wait()  # the first keeps the signs of all
            self.done.set()
            return
        if _is_of_connection(error):
            self._end_soon()
            raise Lost(self._message("another process")) from error
        self._say(f"process {processes.rank()} ended: {error or kind}")
        self.done.set()

    def _ask(self) -> None:
        """Beat, and note what is heard; the first process may not answer, and then this waits for ever."""
        number = 0
        while not self.done.wait(self.pause):
            number += 1
            try:
                self._beat(number)
                beat = self.store.get(f"beat-{self.next}")
                lost = self.store.get("lost").decode() if self.store.check(["lost"]) else None
            except RuntimeError:
                self.lost = "process 0"
                return
            self.answers += 1
            if beat != self.beat:
                self.beat, self.beats = beat, self.beats + 1
            self.lost = lost

    def _watch(self) -> None:
        """Listen until this process ends, or another one has; silence is counted in own looks: all may be suspended."""
        answers = beats = unheard = unanswered = 0
        while not self.done.wait(self.pause):
            unanswered = 0 if self.answers > answers else unanswered + 1
            unheard = 0 if self.beats > beats else unheard + 1
            answers, beats = self.answers, self.beats
            if self.lost or unanswered > PAUSES:
                self._give_up(self.lost or "process 0", words=not unanswered)
            elif unheard > PAUSES:
                self.store.set("lost", f"process {self.next}")  # the others hear of it too
                self._give_up(f"process {self.next}", words=True)

    def _beat(self, number: int) -> None:
        self.store.set(f"beat-{processes.rank()}", str(number))

    def _give_up(self, whom: str, *, words: bool) -> None:
        """End this process, which may be waiting for the one that is gone; by itself, if it can."""
        if not self.done.wait(GRACE / 10) and not self.over.is_set():
            print(f"coview: {self._message(whom, words=words)}", file=sys.stderr, flush=True)
            os._exit(Lost.exit_code)

    def _end_soon(self) -> None:
        """What is left of a broken group may not let Python end: then the process ends all the same."""
        self.over.set()
        threading.Thread(target=self._end, name="coview-end", daemon=True).start()

    def _end(self) -> None:
        threading.main_thread().join()
        time.sleep(GRACE)
        os._exit(Lost.exit_code)

    def _say(self, words: str) -> None:
        try:
            self.store.set("words", words)
        except RuntimeError:
            return  # nobody listens any more

    def _message(self, whom: str, *, words: bool = True) -> str:
        try:
            found = self.store.get("words").decode() if words and self.store.check(["words"]) else ""
        except RuntimeError:
            found = ""
        said = found or f"{whom} of the {processes.count()} of this run is gone"
        return f"{said}; process {processes.rank()} ends too: go on with --resume"


def _meet() -> Any:
    """Where signs of life are left: with the first process."""
    address, wait = os.environ["MASTER_ADDR"], timedelta(seconds=SECONDS)
    store, port = None, torch.zeros(1, dtype=torch.int64)
    if processes.rank() == 0:
        store = Signs(address, 0, is_master=True, wait_for_workers=False, timeout=wait)
        port += store.port
    processes.as_first([port])
    return store or Signs(address, int(port), is_master=False, wait_for_workers=False, timeout=wait)


def _is_of_connection(error: BaseException) -> bool:
    """Whether an error is that another process did not answer."""
    told = any(word in str(error) for word in ("gloo", "NCCL", "Connection closed", "Connection reset"))
    return isinstance(error, distributed.DistError) or (isinstance(error, RuntimeError) and told)
