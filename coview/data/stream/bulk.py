"""Files read by processes beside this one: where many threads read, they wait for each other to run Python."""

import json
import mmap
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, cast

from coview.data.stream import reading
from coview.data.stream.together import Jpeg

ROOM = (
    2**26
)  # bytes for the files of a request; what does not fit is left out. Of memory, what is used counts
POSSIBLE = hasattr(os, "memfd_create") and hasattr(os, "readv")


class Reader:
    """A process that reads, and the memory that it reads into: that of several requests."""

    def __init__(self, requests: int) -> None:
        size = requests * ROOM
        file = os.memfd_create("coview-files")
        try:
            os.ftruncate(file, size)
            self.memory = mmap.mmap(file, size)
            command = [sys.executable, "-I", "-S", str(Path(reading.__file__)), str(file), str(size)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[file]
            )
        finally:
            os.close(file)
        self.asks, self.tells = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        self.places: SimpleQueue[int] = SimpleQueue()
        for number in range(requests):
            self.places.put(number * ROOM)

    def read(self, paths: Sequence[str], pixels: int, side: int) -> "Part":
        """The bytes of some files, which stay until the part is forgotten."""
        part = Part(self, self.places.get())
        request = {"at": part.at, "room": ROOM, "pixels": pixels, "side": side, "paths": paths}
        self.asks.write(json.dumps(request).encode() + b"\n")
        self.asks.flush()
        told = self.tells.readline()
        if not told:
            raise OSError(f"a process that reads files has ended (with {self.process.wait()})")
        part.found = json.loads(told)
        return part

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.asks, self.tells):
            with suppress(OSError):
                pipe.close()


class Part:
    """What a request has brought; its memory is used again once nobody holds the part."""

    def __init__(self, reader: Reader, at: int) -> None:
        self.reader, self.at = reader, at
        self.found: list[tuple[int, int, bool]] = []

    def __del__(self) -> None:
        self.reader.places.put(self.at)


class Bulk:
    """Some readers, each busy with one request at a time."""

    def __init__(self, readers: int, *, requests: int, pixels: int, side: int) -> None:
        self.pixels, self.side = pixels, side
        self.readers = [Reader(requests) for _ in range(readers)]
        self.idle: SimpleQueue[Reader] = SimpleQueue()
        for reader in self.readers:
            self.idle.put(reader)

    def read(self, paths: Sequence[str]) -> dict[str, Jpeg]:
        """Those of the files that are JPEGs for the device, by path."""
        reader = self.idle.get()
        try:
            part = reader.read(paths, self.pixels, self.side)
        finally:
            self.idle.put(reader)
        whole = memoryview(reader.memory)
        return {
            path: Jpeg(whole[at : at + size], kept_by=part)
            for path, (at, size, plain) in zip(paths, part.found, strict=True)
            if plain
        }

    def close(self) -> None:
        for reader in self.readers:
            reader.close()

    def __enter__(self) -> "Bulk":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
