"""Reads files for another process into memory that both see; run as a script, so it knows Python alone.

A request is a line of JSON: {"at": place, "room": bytes, "pixels": most, "side": most, "paths": [...]}. The answer is a
line with a triple for each file: its place, its size (-1: it was not read), and whether it is a JPEG for the device.
"""

import json
import mmap
import os
import signal
import sys

# Markers in a JPEG: the start of its pixels, their end, how they are stored, and in which colours.
SCAN, END = b"\xff\xda", b"\xff\xd9"
FRAMES = (b"\xff\xc0", b"\xff\xc1", b"\xff\xc2")  # baseline, extended, progressive
ADOBE = b"\xff\xee"
TAIL = 4096  # bytes in which the end is looked for


def goes_together(data: bytes | bytearray | memoryview, pixels: int, side: int = sys.maxsize) -> bool:
    """Whether a file is surely a JPEG for the device; all others are judged by the decoder of the workers.

    Read here, since Pillow takes longer for the header than the disk for the file.
    """
    place, plain = 2, False
    while data[:2] == b"\xff\xd8" and place < len(data):
        marker, size = data[place : place + 2], int.from_bytes(data[place + 2 : place + 4], "big")
        if marker == SCAN:  # an end follows; the thumbnail in a header has an end of its own
            return plain and END in bytes(data[max(place, len(data) - TAIL) :])
        if marker in FRAMES:
            plain = _is_plain(data[place + 4 : place + 2 + size], pixels, side)
        elif marker == ADOBE and data[place + 15 : place + 16] == b"\0":  # stored as RGB or CMYK
            return False
        place += 2 + size
    return False


def _is_plain(frame: bytes | bytearray | memoryview, pixels: int, side: int) -> bool:
    """Whether a frame has 8 bits, a size that is allowed, and grey or YCbCr values."""
    height, width = (int.from_bytes(frame[place : place + 2], "big") for place in (1, 3))
    channels = frame[6::3]  # their names
    known = len(channels) in (1, 3) and channels != b"RGB"
    return known and frame[:1] == b"\x08" and 0 < height * width <= pixels and max(height, width) <= side


def answer(memory: memoryview, request: dict) -> list[tuple[int, int, bool]]:
    """The files of a request, one behind the other; those that fail or do not fit are left to who asks."""
    found, at, end = [], request["at"], request["at"] + request["room"]
    for path in request["paths"]:
        try:
            size = _read(path, memory[at:end])
        except OSError:
            size = -1
        plain = size > 0 and goes_together(memory[at : at + size], request["pixels"], request["side"])
        found.append((at, size, plain))
        at += max(size, 0)
    return found


def _read(path: str, room: memoryview) -> int:
    """How many bytes of a file there are now; -1 if they are too many."""
    file, there = os.open(path, os.O_RDONLY), 0
    try:
        size = os.fstat(file).st_size
        if size > len(room):
            return -1
        while there < size and (count := os.readv(file, [room[there:size]])):
            there += count
    finally:
        os.close(file)
    return there


def main(memory: int, size: int) -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks decides when it is over
    with mmap.mmap(memory, size) as shared, memoryview(shared) as room:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(json.dumps(answer(room, json.loads(line))).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
