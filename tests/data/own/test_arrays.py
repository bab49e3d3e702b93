"""Arrays of views: their forms, their labels, and the one line for each thing that is wrong with them."""

import numpy as np
import pytest

from coview.data.own import find

N = 9


def numbers(*shape, gaps=()):
    values = np.random.default_rng(len(shape)).normal(size=shape)
    values[list(gaps)] = np.nan
    return values


def test_npz(tmp_path):
    np.savez(
        tmp_path / "a.npz",
        sound=numbers(N, 5, gaps=(2, 7)),
        touch=numbers(N),
        photo=(numbers(N, 8, 6, 3) > 0).astype(np.uint8),
        heat=numbers(N, 4, 7, gaps=(1,)),
        y=np.arange(N) % 2,
        split=np.array(["train"] * 6 + ["test"] * 3),
    )
    found = find(tmp_path / "a.npz")
    shapes = {name: column.values.shape for name, column in found.columns.items()}
    assert shapes == {"sound": (N, 5), "touch": (N, 1), "photo": (N, 3, 8, 6), "heat": (N, 1, 4, 7)}
    assert found.columns["photo"].values.dtype == np.uint8
    assert np.flatnonzero(~found.columns["sound"].present).tolist() == [2, 7]
    assert np.flatnonzero(~found.columns["heat"].present).tolist() == [1]
    assert found.classes == ("0", "1")
    assert found.part("test").tolist() == [6, 7, 8]


def test_a_folder_of_npy(tmp_path):
    for name, size in (("sound", 5), ("touch", 3)):
        np.save(tmp_path / f"{name}.npy", numbers(N, size))
    np.save(tmp_path / "labels.npy", np.eye(3)[np.arange(N) % 3])
    found = find(tmp_path)
    assert list(found.columns) == ["sound", "touch"]
    assert found.label.tolist() == (np.arange(N) % 3).tolist()


def test_mat_with_cells_turned_around(tmp_path):
    io = pytest.importorskip("scipy.io")
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = numbers(6, N), numbers(4, N)
    labels = np.empty((1, 2), dtype=object)
    labels[0, 0] = labels[0, 1] = (np.arange(N) % 3 + 1).astype(np.uint8)[:, None]
    io.savemat(tmp_path / "a.mat", {"data": cells, "truelabel": labels})
    found = find(tmp_path / "a.mat")
    assert {name: column.values.shape for name, column in found.columns.items()} == {
        "data1": (N, 6),
        "data2": (N, 4),
    }
    np.testing.assert_allclose(found.columns["data2"].values, cells[0, 1].T, rtol=1e-6)
    assert found.classes == ("1", "2", "3")


def test_without_labels_the_common_side_counts_samples(tmp_path):
    np.savez(tmp_path / "a.npz", a=numbers(5, N), b=numbers(3, N))
    assert {name: c.values.shape for name, c in find(tmp_path / "a.npz").columns.items()} == {
        "a": (N, 5),
        "b": (N, 3),
    }


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"y": np.arange(N)}, "has no arrays of views: it has y"),
        ({"a": numbers(N, 3)}, "has one view, 'a'"),
        ({"a": numbers(N, 3), "b": numbers(7, 4)}, r"view 'b' has 7 for 9: a \[9, 3\], b \[7, 4\]"),
        (
            {"a": numbers(N, 3), "b": numbers(N, 2, 2, 2, 2)},
            r"view 'b' of .* has the shape \[9, 2, 2, 2, 2\]",
        ),
        ({"a": numbers(N, 3), "b": np.array([["x"] * 3] * N)}, "view 'b' of .*: wanted real numbers"),
        ({"a": numbers(N, 3), "b": numbers(N, 2, gaps=range(N))}, "view 'b' of .* is empty"),
        ({"a": numbers(N, 3), "y": np.arange(N - 2)}, "view 'a' has 9 for 7 labels"),
        ({"a": numbers(N, 3), "b": numbers(N, 2), "y": numbers(N, 2)}, "labels should be one a sample"),
        (
            {"a": numbers(N, 3), "b": np.array([{}] * N)},
            "cannot be read: array 'b' cannot be read: it holds Python objects",
        ),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, arrays, words):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=words) as error:
        find(tmp_path / "a.npz")
    assert "\n" not in str(error.value)


def test_other_bytes(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"hello")
    with pytest.raises(ValueError, match=r"a.npz cannot be read"):
        find(tmp_path / "a.npz")
    pytest.importorskip("scipy")
    (tmp_path / "a.mat").write_bytes(b"hello")
    with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
        find(tmp_path / "a.mat")
    (tmp_path / "b.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform".ljust(124) + b"\x00\x02IM" + bytes(64))
    with pytest.raises(ValueError, match=r"version 7\.3: save it with -v7"):
        find(tmp_path / "b.mat")
