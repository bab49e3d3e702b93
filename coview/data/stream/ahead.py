"""Batches made by threads while an earlier one is used: many read, one puts together, none outlives the loop."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from itertools import islice
from threading import Event
from typing import Any


def made_ahead(
    batches: Iterable[list[Any]],
    read: Callable[[list[Any]], Iterable[Any]],
    assemble: Callable[[list[Any], list[Any]], Any],
    *,
    workers: int,
    ahead: int,
) -> Generator[Any, None, None]:
    """What `assemble` makes of each batch and of what `read` found for its numbers, in order."""
    batches, crew = iter(batches), _Crew(read, assemble, workers)
    try:
        waiting = deque(crew.start(numbers) for numbers in islice(batches, ahead))
        while waiting:
            made = waiting.popleft().result()
            waiting.extend(crew.start(numbers) for numbers in islice(batches, 1))
            yield made
    finally:
        crew.close()


class _Crew:
    def __init__(self, read: Callable, assemble: Callable, workers: int) -> None:
        self.read, self.assemble, self.workers = read, assemble, workers
        self.readers = ThreadPoolExecutor(workers, "coview-read")
        self.assembler = ThreadPoolExecutor(1, "coview-assemble")
        self.closing = Event()

    def start(self, numbers: list[Any]) -> Future:
        """Set everybody to work on a batch; a worker takes several files at once, since handing over costs time too."""
        share = -(-len(numbers) // self.workers)
        parts = [numbers[first : first + share] for first in range(0, len(numbers), share)]
        reading = [self.readers.submit(self._read, part) for part in parts]
        return self.assembler.submit(self._assemble, numbers, reading)

    def close(self) -> None:
        """Let everybody go, after the file in hand."""
        self.closing.set()
        for pool in (self.readers, self.assembler):
            pool.shutdown(cancel_futures=True)

    def _read(self, numbers: list[Any]) -> list[Any]:
        found = []
        for row in self.read(numbers):
            if self.closing.is_set():
                raise CancelledError
            found.append(row)
        return found

    def _assemble(self, numbers: list[Any], reading: list[Future]) -> Any:
        return self.assemble(numbers, [row for part in reading for row in part.result()])
