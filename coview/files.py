"""Files that are there as a whole or not at all."""

import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Let `write` fill a file beside `path`, and put it in place once it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
        _sync_folder(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole."""
    write_whole(path, lambda file: file.write(text.encode()))


def limit(name: str, default: int) -> int:
    """How large something in a file may be; a variable of the environment raises it."""
    said = os.environ.get(name, "")
    return int(said) if said.isdecimal() else default


def in_a_line(error: Exception) -> str:
    """What is wrong with a file, as another library says it, in a line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def inside(folder: Path, name: str) -> Path:
    """The path of a name below a folder; names that lead out of it are refused."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or path == folder.resolve():
        raise ValueError(f"'{name}' leads out of {folder}")
    return path


def unpack(archive: Path, folder: Path) -> None:
    """Every file of a tar or zip archive, into a folder and nowhere else; links and devices are left out."""
    try:
        _unpack(archive, folder)
    except (OSError, ValueError):
        raise
    except Exception as error:  # of tarfile, zipfile and zlib, which raise whatever they stumble over
        raise ValueError(f"{archive} cannot be unpacked: {in_a_line(error)}") from error


def _unpack(archive: Path, folder: Path) -> None:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for member in packed.infolist():
                if not member.is_dir():
                    with packed.open(member) as file:
                        _copy(file, inside(folder, member.filename))
        return
    with tarfile.open(archive) as packed:
        for member in packed:
            if member.isreg() and not member.issparse():
                file = packed.extractfile(member)
                assert file is not None
                _copy(file, inside(folder, member.name))


def _copy(file: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as written:
        shutil.copyfileobj(file, written, 1 << 20)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # elsewhere a folder cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
