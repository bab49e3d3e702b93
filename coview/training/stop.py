"""Stopping when asked: after SIGTERM or SIGINT the step ends, a checkpoint is written, and the run can go on later."""

import signal
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import Tensor

from coview import processes
from coview.training.checkpoint import TrainingError

SIGNALS = (signal.SIGTERM, signal.SIGINT)
LAG = (
    2  # steps until an answer of all processes is waited for, so that none waits for the others at every step
)


class Stopped(TrainingError):
    """Training was asked to stop, and did so after a checkpoint."""

    exit_code = 75  # of sysexits.h: try again later

    def __init__(self, by: str, step: int, path: Path) -> None:
        super().__init__(f"stopped by {by} after step {step}, all of it in {path}: go on with --resume")


class Wish:
    """Whether somebody wants training to stop: asked after every step, and answered alike on all processes.

    A second SIGINT does not wait for the end of the step. Outside the main thread signals cannot be listened to.
    """

    def __init__(self) -> None:
        self.heard: signal.Signals | None = None
        self.before: dict[signal.Signals, Any] = {}
        self.asked: deque[Callable[[], Tensor]] = deque()

    def __enter__(self) -> "Wish":
        if threading.current_thread() is threading.main_thread():
            self.before = {one: signal.signal(one, self._hear) for one in SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        for one, handler in self.before.items():
            signal.signal(one, handler)
        while self.asked and kind in (None, Stopped):  # else the others may be gone
            self.asked.popleft()()

    @property
    def by(self) -> str:
        return self.heard.name if self.heard else "a signal to another process"

    def granted(self) -> bool:
        """Whether to stop now. Of several processes all stop after the same step."""
        if processes.count() == 1:
            return self.heard is not None
        self.asked.append(processes.total_later(torch.tensor(self.heard is not None, dtype=torch.int32)))
        return len(self.asked) > LAG and bool(self.asked.popleft()())

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.heard == number == signal.SIGINT:
            raise KeyboardInterrupt
        self.heard = signal.Signals(number)
