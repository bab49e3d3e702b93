"""Whole shards in memory: those in use, and those that come next on their way."""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from threading import BoundedSemaphore, Lock, Thread

from coview.data.shards.record import Record

Records = dict[int, Record]


class Shelf:
    """The shards that were asked for last, at most so many; each is read once while it is here."""

    def __init__(self, load: Callable[[int], Records], *, most: int, readers: int) -> None:
        self.load, self.most = load, most
        self.reading = BoundedSemaphore(readers)
        self.lock = Lock()
        self.held: OrderedDict[int, Future[Records]] = OrderedDict()

    def want(self, shard: int) -> "Future[Records]":
        """Set somebody to read a shard, unless it is here or on its way."""
        with self.lock:
            if shard not in self.held:
                self.held[shard] = Future()
                Thread(target=self._read, args=(shard, self.held[shard]), name="coview-shard").start()
            self.held.move_to_end(shard)
            while len(self.held) > self.most:
                self.held.popitem(last=False)  # whoever waits for it still gets it
            return self.held[shard]

    def record(self, shard: int, number: int) -> Record:
        """One sample of a shard; waits until it has been read."""
        found = self.want(shard).result()
        if number not in found:
            raise OSError("the shard does not have it")
        return found[number]

    def _read(self, shard: int, found: "Future[Records]") -> None:
        """In a thread that ends with the shard."""
        with self.reading:
            try:
                found.set_result(self.load(shard))
            except BaseException as error:  # whoever asks for the shard is to have it
                found.set_exception(error)
