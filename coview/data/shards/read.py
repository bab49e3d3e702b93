"""Shards from anywhere: local files, and by webdataset's means http(s), gs, hf and others; s3 by the AWS command."""

import importlib
import shutil
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from coview.data.shards.record import MEMBER, Record

TRIES = 3
PAUSE = 1.0  # seconds before the second try, twice that before the third
MOST = 2**32  # bytes of a shard; more are refused


def is_remote(root: str) -> bool:
    return "://" in root


def read_bytes(root: str, name: str) -> bytes:
    """A whole file from beside the shards."""
    with opened(root, name) as file:
        return file.read()


def read_shard(root: str, name: str, numbers: range, *, most: int = MOST) -> dict[int, Record]:
    """Every sample of a shard, as it is stored; what is not whole after some tries counts as broken."""
    tries = TRIES if is_remote(root) else 1
    for last in [*[False] * (tries - 1), True]:
        try:
            with opened(root, name) as file:
                return _records(file, numbers, most)
        except OSError:
            if last:
                raise
            time.sleep(PAUSE)
    raise AssertionError("there is a last try")


@contextmanager
def opened(root: str, name: str) -> Iterator[Any]:
    """A file beside others, wherever they are; what goes wrong there is an OSError."""
    if not is_remote(root):
        with (Path(root) / name).open("rb") as file:
            yield file
        return
    url = f"{root.rstrip('/')}/{name}"
    try:
        with closing(_remote(url)) as file:
            yield file
    except OSError as error:  # of the command that fetches
        raise OSError(f"{url} cannot be read: {error}") from error


def _remote(url: str) -> Any:
    gopen = _webdataset()
    scheme = url.partition("://")[0]
    if scheme == "pipe":
        raise ValueError(f"{url}: a pipe would run whatever it says; give the place itself")
    if scheme == "s3":
        if shutil.which("aws") is None:
            raise OSError("s3:// needs the AWS command line (`aws`)")
        return gopen.Pipe(["aws", "s3", "cp", "--quiet", url, "-"], mode="rb", ignore_status=[141])
    return gopen.gopen(url, "rb")


def _webdataset() -> Any:
    try:
        gopen = importlib.import_module("webdataset.gopen")
    except ImportError as error:
        raise ModuleNotFoundError(
            "shards from elsewhere need webdataset: pip install 'coview[shards]'"
        ) from error
    return gopen


def _records(file: Any, numbers: range, most: int) -> dict[int, Record]:
    found: dict[int, Record] = {}
    try:
        with tarfile.open(fileobj=file, mode="r|") as archive:
            for member in archive:
                match = MEMBER.fullmatch(member.name)
                if match is None or not member.isreg() or member.issparse() or int(match[1]) not in numbers:
                    continue  # nothing of ours
                most -= member.size
                if most < 0:
                    raise OSError("it is larger than a shard may be")
                body = archive.extractfile(member)
                assert body is not None
                found.setdefault(int(match[1]), {})[match[2]] = match[3], body.read()
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise OSError(f"not a whole tar file: {error or type(error).__name__}") from error
    return found
