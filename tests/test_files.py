"""Files are whole, limits can be raised, and archives write nowhere but where they should."""

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from coview.data.stream import decode_picture
from coview.files import in_a_line, inside, limit, unpack

EVIL = ("../out.txt", "/tmp/coview-was-here.txt", "a/../../out.txt")


def tar(path: Path, *names: str, link: str | None = None) -> Path:
    with tarfile.open(path, "w") as archive:
        if link is not None:
            member = tarfile.TarInfo("link")
            member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member)
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"abc"))
    return path


def packed(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "abc")
    return path


@pytest.mark.parametrize("make", [tar, packed])
def test_an_archive_is_unpacked_into_its_folder(make, tmp_path):
    unpack(make(tmp_path / "x", "a/b.txt", "c.txt"), tmp_path / "out")
    assert {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.txt")} == {
        "a/b.txt",
        "c.txt",
    }


@pytest.mark.parametrize("name", EVIL)
@pytest.mark.parametrize("make", [tar, packed])
def test_an_archive_writes_nowhere_else(make, name, tmp_path):
    archive = make(tmp_path / "x", name)
    (tmp_path / "deep").mkdir()
    with pytest.raises(ValueError, match="leads out of"):
        unpack(archive, tmp_path / "deep/out")
    assert not list(tmp_path.rglob("out.txt"))
    assert not Path(EVIL[1]).exists()


def test_an_archive_does_not_write_through_its_links(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    unpack(tar(tmp_path / "x", "link/a.txt", link=str(tmp_path / "elsewhere")), tmp_path / "out")
    assert not list((tmp_path / "elsewhere").iterdir())
    assert (tmp_path / "out/link/a.txt").read_text() == "abc"


def test_what_is_no_archive_is_named(tmp_path):
    (tmp_path / "x").write_bytes(b"hello")
    with pytest.raises(ValueError, match="x cannot be unpacked: "):
        unpack(tmp_path / "x", tmp_path / "out")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc"])
def test_a_name_that_leads_out(name, tmp_path):
    with pytest.raises(ValueError, match="leads out of"):
        inside(tmp_path, name)


@pytest.mark.parametrize(("said", "found"), [("", 7), ("31", 31), ("-3", 7), ("many", 7)])
def test_a_limit_is_raised_by_the_environment(said, found, monkeypatch):
    monkeypatch.setenv("COVIEW_TEST", said)
    assert limit("COVIEW_TEST", 7) == found


def test_an_error_in_a_line():
    assert in_a_line(ValueError("one\n  two")) == "one two"
    assert in_a_line(KeyError()) == "KeyError"


def bomb(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("width", "height", "message"),
    [
        (100_000, 3, r"100000x3 is wider or higher than side=30,000 allows: COVIEW_SIDE=... raises it"),
        (9_000, 9_001, r"9000x9001 is more than pixels=50,000,000 allow: COVIEW_PIXELS=... raises them"),
    ],
)
def test_a_picture_that_would_fill_the_memory(width, height, message):
    data = bomb(width, height)
    assert len(data) < 20_000
    with pytest.raises(ValueError, match=message):
        decode_picture(data)


def test_the_limit_of_pictures_can_be_raised(tmp_path):
    (tmp_path / "wide.png").write_bytes(bomb(100_000, 3))
    code = (
        "import sys; from coview.data.stream import decode_picture; "
        "print(decode_picture(open(sys.argv[1], 'rb').read()).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "wide.png"],
        env={**os.environ, "COVIEW_SIDE": "100000", "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[3, 3, 100000]" in done.stdout
