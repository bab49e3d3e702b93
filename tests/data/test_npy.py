"""Arrays of NumPy and MATLAB from elsewhere: nothing in them is run, and no claim of theirs is believed."""

import io
import zipfile

import numpy as np
import pytest
import scipy.io

from coview.data import npy
from coview.data.npy import read_mat, read_npy, read_npz


def saved(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(12, dtype=">i4").reshape(3, 4)),
        np.array(["a", "bcd"]),
        np.zeros((0, 5), np.float32),
        np.array(3.5),
    ],
)
def test_arrays_come_back(values):
    found = read_npy(saved(values))
    assert found.dtype == values.dtype
    assert np.array_equal(found, values)
    assert found.flags.writeable


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello", "not an array of NumPy"),
        (saved(np.arange(5))[:-3], r"cut off: int64 \[5\] takes 40 bytes, and 37 are there"),
        (saved(np.array([None, 2], dtype=object)), "Python objects"),
        (saved(np.zeros(2, [("a", int)])), "wanted plain numbers or texts"),
        (saved(np.arange(5)).replace(b"(5,)", b"(-5,)"), "not an array|wanted plain"),
        (saved(np.zeros(100)), r"float64 \[100\] is more than 500 bytes: COVIEW_BYTES=... raises what is"),
    ],
)
def test_arrays_that_are_none(data, message):
    with pytest.raises(ValueError, match=message):
        read_npy(data, largest=500)


def test_archives_of_arrays(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", a=np.arange(3), b=np.ones((2, 2)))
    found = read_npz(tmp_path / "x.npz")
    assert list(found) == ["a", "b"]
    assert np.array_equal(found["b"], np.ones((2, 2)))
    np.savez_compressed(tmp_path / "bomb.npz", a=np.zeros(10_000_000))
    with pytest.raises(ValueError, match=r"array 'a' is more than 1,000 bytes: COVIEW_BYTES="):
        read_npz(tmp_path / "bomb.npz", largest=1000)
    with pytest.raises(ValueError, match="not a NumPy archive"):
        read_npz(b"PK hello")


def test_what_is_packed_too_well_is_a_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr(npy, "BOMB", 70_000)
    np.savez_compressed(tmp_path / "zeros.npz", a=np.zeros(90_000))
    with pytest.raises(ValueError, match="array 'a' is more than 70,000 bytes: COVIEW_BYTES"):
        read_npz(tmp_path / "zeros.npz")
    numbers = np.random.default_rng(0).normal(size=90_000)
    np.savez_compressed(tmp_path / "numbers.npz", a=numbers)
    assert np.array_equal(read_npz(tmp_path / "numbers.npz")["a"], numbers)


def test_an_array_that_unpacks_to_more_than_it_claims(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", saved(np.zeros(5000)))
    size = len(saved(np.zeros(5000))).to_bytes(4, "little")
    lied = file.getvalue().replace(size, (300).to_bytes(4, "little"))
    with pytest.raises(ValueError, match=r"cut off|not a NumPy archive"):
        read_npz(lied, largest=1000)


def test_matrices_and_cells_of_matlab(tmp_path):
    cells = np.empty(2, dtype=object)
    cells[:] = [np.zeros((4, 3)), np.ones((4, 2))]
    scipy.io.savemat(tmp_path / "x.mat", {"X": cells, "gt": np.arange(4)})
    found = read_mat(tmp_path / "x.mat")
    assert {name: one.shape for name, one in found.items()} == {"X/0": (4, 3), "X/1": (4, 2), "gt": (1, 4)}
    (tmp_path / "y.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))
    with pytest.raises(ValueError, match=r"y.mat cannot be read as a MATLAB file: "):
        read_mat(tmp_path / "y.mat")
