"""Files read by processes beside this one: the right bytes, memory used again, and what is left to others."""

import io
import os
import signal
import threading

import numpy as np
import pytest
import torch
from PIL import Image

from coview.data import Stream
from coview.data.stream import bulk as module
from coview.data.stream import decode_picture
from coview.data.stream.bulk import POSSIBLE, Bulk
from coview.data.stream.reading import answer

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="needs memory files, which Linux has")


def jpeg(number: int, side: int = 24) -> bytes:
    values = np.random.default_rng(number).integers(256, size=(side, side + 3, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(values).save(file, "JPEG", quality=60 + number % 30)
    return file.getvalue()


@pytest.fixture
def files(tmp_path):
    paths = [str(tmp_path / f"{number}.jpg") for number in range(13)]
    for number, path in enumerate(paths):
        with open(path, "wb") as file:
            file.write(jpeg(number))
    return paths


@pytest.fixture
def bulk():
    with Bulk(2, requests=3, pixels=10**6, side=1000) as found:
        yield found
    assert all(reader.process.poll() is not None for reader in found.readers)


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def test_bytes_are_those_of_the_files_as_long_as_anyone_holds_them(bulk, files):
    held = [bulk.read(files[first : first + 4]) for first in (0, 4, 8)]
    for found, first in zip(held, (0, 4, 8), strict=True):
        assert list(found) == files[first : first + 4]
        for path, one in found.items():
            assert one.data == content(path)


def test_memory_is_used_again_once_it_is_let_go(files):
    with Bulk(1, requests=2, pixels=10**6, side=1000) as bulk:
        places = bulk.readers[0].places
        for _ in range(5):
            first, second = bulk.read(files[:3]), bulk.read(files[3:7])
            assert places.qsize() == 0
            assert first[files[1]].data == content(files[1])
            last = second[files[6]]
            del first, second
            assert places.qsize() == 1
            assert last.data == content(files[6])
            del last
            assert places.qsize() == 2


def test_what_is_no_jpeg_for_the_device_is_left_out(bulk, files, tmp_path):
    strange = tmp_path / "strange.jpg"
    strange.write_bytes(b"\xff\xd8 no picture")
    large = tmp_path / "large.jpg"
    large.write_bytes(jpeg(1, side=1001))
    asked = [files[0], str(tmp_path / "absent.jpg"), str(strange), str(tmp_path), str(large), files[1]]
    assert list(bulk.read(asked)) == [files[0], files[1]]
    assert list(bulk.read([])) == []


def test_files_that_do_not_fit_are_left_out(files, monkeypatch):
    sizes = [os.path.getsize(path) for path in files]
    monkeypatch.setattr(module, "ROOM", sizes[0] + 3)
    with Bulk(1, requests=1, pixels=10**6, side=1000) as bulk:
        assert list(bulk.read(files[:4])) == files[:1]
    request = {"at": 2, "room": sizes[4] + 3, "pixels": 10**6, "side": 1000, "paths": files[4:6]}
    memory = memoryview(bytearray(sizes[4] + sizes[5] + 9))
    assert answer(memory, request) == [(2, sizes[4], True), (2 + sizes[4], -1, False)]


def test_any_name_that_a_file_can_have(bulk, tmp_path):
    names = [b"\xff\xfe.jpg", "grün\n\"'.jpg".encode(), b" .jpg"]
    paths = [os.path.join(os.fspath(tmp_path), os.fsdecode(name)) for name in names]
    for number, path in enumerate(paths):
        with open(path, "wb") as file:
            file.write(jpeg(number))
    found = bulk.read(paths)
    assert [found[path].data == content(path) for path in paths] == [True] * 3


def test_threads_share_the_readers(bulk, files):
    wrong = []

    def read() -> None:
        for turn in range(20):
            some = files[turn % 9 : turn % 9 + 4]
            wrong.extend(path for path, one in bulk.read(some).items() if one.data != content(path))

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_reader_outlives_an_interrupt_and_its_death_is_told(bulk, files):
    for reader in bulk.readers:
        bulk.read(files[:1])  # it has started
        reader.process.send_signal(signal.SIGINT)
    assert bulk.read(files[:2])[files[1]].data == content(files[1])
    assert bulk.read(files[:2])[files[1]].data == content(files[1])
    for reader in bulk.readers:
        reader.process.kill()
        reader.process.wait()
    with pytest.raises(OSError, match=r"a process that reads files has ended|Broken pipe"):
        bulk.read(files[:2])


def test_a_stream_reads_the_same_with_and_without(files, monkeypatch):
    def together(jpegs):
        return [decode_picture(bytes(one.tolist())) for one in jpegs]

    stream = Stream("x", {"rgb": files}, workers=2, together=together)
    order = [torch.randperm(13)[:12].split(4) for _ in range(3)]
    found = [[sample.fields["rgb"] for sample in stream.epoch(batches)] for batches in order]
    monkeypatch.setattr("coview.data.stream.stream.POSSIBLE", False)
    for batches, pictures in zip(order, found, strict=True):
        for sample, picture in zip(stream.epoch(batches), pictures, strict=True):
            assert torch.equal(sample.fields["rgb"], picture)
