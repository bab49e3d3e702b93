"""Archives from a server of the test's own: checked, unpacked whole or not at all, and not waited for without end."""

import hashlib
import io
import socket
import tarfile
import threading
import zipfile
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import layouts
import pytest

from coview.data.images import fetch as module
from coview.data.images import image_data
from coview.data.images.fetch import Archive, fetch
from coview.data.images.sets import SETS

pytestmark = pytest.mark.filterwarnings(
    "ignore:Python 3.14 will:DeprecationWarning"
)  # of torchvision's unpacking


class Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def server(tmp_path):
    """The address of a server of the files in `served`."""
    (tmp_path / "served").mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "served"))) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def packed(served, folder, name: str) -> str:
    """An archive of a folder, and its checksum."""
    data = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(data, "w") as archive:
            for path in folder.rglob("*"):
                archive.write(path, path.relative_to(folder.parent))
    else:
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            archive.add(folder, folder.name)
    (served / name).write_bytes(data.getvalue())
    return hashlib.md5(data.getvalue()).hexdigest()


@pytest.mark.parametrize(
    ("name", "write"), [("cifar10", layouts.cifar10), ("stl10", layouts.stl10), ("tiny", layouts.tiny)]
)
def test_a_set_is_downloaded_once(tmp_path, server, monkeypatch, name, write):
    write(tmp_path / "made")
    (folder,) = (tmp_path / "made").iterdir()
    archive = SETS[name].archive
    file = archive.url.rpartition("/")[2]
    assert archive.folder == folder.name in SETS[name].folders
    md5 = packed(tmp_path / "served", folder, file)
    ours = replace(SETS[name], archive=replace(archive, url=f"{server}/{file}", md5=md5))
    monkeypatch.setitem(SETS, name, ours)
    root = tmp_path / "new/data"
    there = image_data(name, "test", root=root, download=True)
    assert [path.name for path in root.iterdir()] == [folder.name]  # and nothing besides
    (tmp_path / "served" / file).unlink()
    again = image_data(name, "test", root=root, download=True)
    assert (again.fields["rgb"] == there.fields["rgb"]).all()
    assert len(there) == len(image_data(name, "test", root=tmp_path / "made"))


def test_what_came_is_not_what_it_should_be(tmp_path, server):
    (tmp_path / "served/a.zip").write_bytes(b"something else")
    with pytest.raises(OSError, match=r"^what came from .*/a.zip is not what it should be .*: try again$"):
        fetch(Archive(f"{server}/a.zip", "0" * 32, "a"), tmp_path / "root")
    assert list((tmp_path / "root").iterdir()) == []


def test_a_source_that_has_no_such_file(tmp_path, server):
    with pytest.raises(OSError, match=r"/gone.zip cannot be fetched \(.*\): fetch it elsewhere, .* .*root$"):
        fetch(Archive(f"{server}/gone.zip", "0" * 32, "gone"), tmp_path / "root")


def test_a_source_that_is_silent(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WAIT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/a.zip"
        with pytest.raises(OSError, match=r"a.zip cannot be fetched \(.*timed out.*\): "):
            fetch(Archive(url, "0" * 32, "a"), tmp_path / "root")
    assert socket.getdefaulttimeout() is None
    assert list((tmp_path / "root").iterdir()) == []


def test_the_addresses_are_those_of_torchvision():
    from torchvision.datasets import CIFAR10, STL10

    for name, known in {"cifar10": CIFAR10, "stl10": STL10}.items():
        archive = SETS[name].archive
        assert (archive.url, archive.md5, archive.folder) == (known.url, known.tgz_md5, known.base_folder)
        assert SETS[name].checksums().items() >= dict(known.test_list).items()
