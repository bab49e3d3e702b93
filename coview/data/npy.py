"""Files of NumPy and MATLAB, read without running anything in them or believing what they claim of their size."""

import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from io import BytesIO
from os import PathLike
from pathlib import Path

import numpy as np

from coview.files import in_a_line, limit

LARGEST = limit("COVIEW_BYTES", 2**36)  # of an array; more are refused
BOMB = limit("COVIEW_BYTES", 2**30)  # more is refused of an array that was packed to a hundredth of it
RAISE = ": COVIEW_BYTES=... raises what is allowed"
MAGIC = b"\x93NUMPY"  # how a `.npy` file begins
PLAIN = "biufcUS"  # kinds of values: numbers and texts, no Python objects
HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,  # the same, but that names may be any Unicode
}

# Matrices by name; those of a cell array by its name and their place in it.
MATLAB = """
import sys, numpy as np
from scipy.io import loadmat
found = {}
for name, values in loadmat(sys.argv[1]).items():
    if name.startswith("__") or not isinstance(values, np.ndarray) or values.dtype.names:
        continue
    if values.dtype != object:
        found[name] = values
        continue
    cells = [cell for cell in values.ravel() if isinstance(cell, np.ndarray) and cell.dtype != object]
    found |= {f"{name}/{number}": cell for number, cell in enumerate(cells)}
np.savez(sys.argv[2], **found)
"""


class NewMatlab(ValueError):
    """A MATLAB file that is one of HDF5."""


def read_npy(data: bytes | bytearray, *, largest: int = LARGEST) -> np.ndarray:
    """The array of a `.npy` file, which must hold as many values as it claims."""
    file = BytesIO(data)
    try:
        shape, columns_first, kind = HEADERS[np.lib.format.read_magic(file)](file)
        size = kind.itemsize
        for side in shape:
            size *= side
    except Exception as error:  # a header is parsed as Python, which can go wrong in any way
        raise ValueError(f"not an array of NumPy: {in_a_line(error)}") from error
    if kind.hasobject:
        raise ValueError("it holds Python objects, wanted are plain arrays of numbers")
    if kind.kind not in PLAIN or any(side < 0 for side in shape):
        raise ValueError(f"wanted plain numbers or texts, got {kind} {list(shape)}")
    if size > largest:
        raise ValueError(f"{kind} {list(shape)} is more than {largest:,} bytes{RAISE}")
    there = len(data) - file.tell()
    if there != size:
        raise ValueError(f"it is cut off: {kind} {list(shape)} takes {size:,} bytes, and {there:,} are there")
    if not size:
        return np.zeros(shape, kind)
    whole = data if isinstance(data, bytearray) else bytearray(data)  # bytes could not be written to
    body = np.frombuffer(whole, np.uint8, offset=file.tell()).view(kind)
    return body.reshape(shape, order="F" if columns_first else "C")


def read_npz(source: str | PathLike[str] | bytes, *, largest: int = LARGEST) -> dict[str, np.ndarray]:
    """The arrays of a `.npz` file by name; none that claims to unpack to more than `largest` bytes."""
    try:
        with zipfile.ZipFile(BytesIO(source) if isinstance(source, bytes) else source) as archive:
            members = [one for one in archive.infolist() if one.filename.endswith(".npy")]
            for one in members:
                most = largest if one.file_size <= 100 * one.compress_size else min(BOMB, largest)
                if one.file_size > most:
                    raise ValueError(f"array '{one.filename[:-4]}' is more than {most:,} bytes{RAISE}")
            return {one.filename[:-4]: _member(archive, one, largest) for one in members}
    except (FileNotFoundError, ValueError):
        raise
    except Exception as error:  # of zipfile and zlib, which raise whatever they stumble over
        raise ValueError(f"not a NumPy archive: {in_a_line(error)}") from error


def read_mat(path: Path) -> dict[str, np.ndarray]:
    """The matrices of a MATLAB file; SciPy's reader may crash on a damaged one, so it runs in a process of its own."""
    if find_spec("scipy") is None:
        raise ModuleNotFoundError("MATLAB files need scipy: pip install 'coview[own]'")
    with tempfile.TemporaryDirectory(prefix="coview-mat-") as folder:
        found = Path(folder) / "found.npz"
        command = [sys.executable, "-c", MATLAB, str(path), str(found)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return read_npz(found)
    said = done.stderr.strip().splitlines()
    reason = said[-1][:200] if said else f"its reader crashed ({done.returncode})"
    if reason.startswith("NotImplementedError"):
        raise NewMatlab(f"{path} is a MATLAB file of version 7.3: save it with -v7, or as .npz")
    raise ValueError(f"{path} cannot be read as a MATLAB file: {reason}")


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, largest: int) -> np.ndarray:
    with archive.open(member) as file:
        data = bytearray(file.read(member.file_size + 1))  # no more than it claims, whatever it unpacks to
    try:
        return read_npy(data, largest=largest)
    except ValueError as error:
        raise ValueError(f"array '{member.filename[:-4]}' cannot be read: {error}") from error
