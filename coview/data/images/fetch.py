"""Archives fetched from where their authors put them, checked, and unpacked whole or not at all."""

import http.client
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

from coview.files import unpack

PACKED = "archive"  # what it is called until it has been unpacked
WAIT = 60  # seconds without a byte after which a source counts as gone


@dataclass(frozen=True)
class Archive:
    """What is fetched: where from, its checksum, and the folder that it unpacks to."""

    url: str
    md5: str
    folder: str


def fetch(archive: Archive, root: Path) -> Path:
    """Fetch and unpack an archive below a root."""
    from torchvision.datasets.utils import download_url  # takes seconds to import

    root.mkdir(parents=True, exist_ok=True)
    patience = socket.getdefaulttimeout()
    socket.setdefaulttimeout(WAIT)
    try:
        with tempfile.TemporaryDirectory(dir=root, prefix=".fetching-") as folder:
            download_url(archive.url, folder, filename=PACKED, md5=archive.md5)
            unpack(Path(folder) / PACKED, Path(folder))
            if not (root / archive.folder).exists():  # another process may have been faster
                (Path(folder) / archive.folder).replace(root / archive.folder)
    except (URLError, TimeoutError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise OSError(
            f"{archive.url} cannot be fetched ({reason}): fetch it elsewhere, and unpack it in {root}"
        ) from error
    except RuntimeError as error:  # what torchvision says of a wrong checksum
        raise OSError(
            f"what came from {archive.url} is not what it should be ({error}): try again"
        ) from error
    finally:
        socket.setdefaulttimeout(patience)
    return root / archive.folder
