"""What is said of the views that were found, and that none of it comes from a test sample."""

import numpy as np
import pytest
from toy_files import picture, save, sensors

from coview.data.own import find, survey


def look(place):
    found = find(place)
    return survey(found, found.part("train"))


def test_forms_sizes_and_gaps(tmp_path):
    views = look(sensors(tmp_path, 24))
    assert (views["rgb"].kind, views["rgb"].channels, views["rgb"].bytes) == ("map", 3, True)
    assert (views["depth"].channels, views["depth"].bytes) == (1, False)
    assert views["heat"].sizes == ((5, 7),)
    assert (views["depth"].present, views["heat"].present, views["rgb"].present) == (16, 18, 24)


def test_ranges_are_robust_and_of_the_training_part(tmp_path):
    values = np.random.default_rng(0).uniform(-3, 3, size=(2000, 2))
    values[3, 0] = 1e6
    split = np.array(["train"] * 1000 + ["test"] * 1000)
    values[1000:, 1] += 50
    constant = np.full((2000, 1), 7.0)
    np.savez(tmp_path / "a.npz", a=values, b=constant, split=split)
    views = look(tmp_path / "a.npz")
    assert views["a"].low == pytest.approx((-3, -3), abs=0.1)
    assert views["a"].high == pytest.approx((3, 3), abs=0.1)
    assert views["a"].extent == (pytest.approx(-3, abs=0.1), 1e6)
    assert (views["b"].low, views["b"].high) == ((7.0,), (7.0,))


def test_holes_are_counted_in_rows_that_are_there(tmp_path):
    values = np.ones((50, 4))
    values[:, 1] = np.nan
    values[10:20] = np.nan
    values[0] = np.inf
    split = np.array(["train"] * 40 + ["test"] * 10)
    np.savez(tmp_path / "a.npz", a=values, b=np.ones((50, 1)), split=split)
    assert look(tmp_path / "a.npz")["a"].holes == pytest.approx((29 + 4) / 120)


def test_grey_among_colour_is_colour(tmp_path):
    sensors(tmp_path, 12, gaps=False)
    save(tmp_path / "rgb/0003.png", picture(3, channels=1))
    assert look(tmp_path)["rgb"].channels == 3


def test_mixed_sizes_are_counted(tmp_path):
    sensors(tmp_path, 12, gaps=False)
    save(tmp_path / "rgb/0003.png", picture(3, 20, 30))
    save(tmp_path / "rgb/0004.png", picture(3, 20, 31))
    sizes = look(tmp_path)["rgb"].sizes
    assert sizes[0] == (10, 14)
    assert set(sizes) <= {(10, 14), (20, 30), (20, 31)}


def test_broken_files_are_named(tmp_path):
    sensors(tmp_path, 12, gaps=False)
    for number in range(12):
        if number != 5:
            (tmp_path / f"heat/{number:04d}.tif").write_bytes(b"oh")
    found = find(tmp_path)
    view = survey(found, np.arange(12))["heat"]
    assert len(view.broken) == 11
    assert "0000.tif (not a picture" in view.broken[0]
    (tmp_path / "heat/0005.tif").write_bytes(b"oh")
    with pytest.raises(ValueError, match=r"no file of view 'heat' can be read: .*0000\.tif"):
        survey(found, np.arange(12))


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (picture(1).astype(np.float32), "view 'rgb' mixes 3 channels of 8 bits and 3 channels"),
        (
            np.zeros((2, 6, 4), dtype=np.uint8),
            r"3 channels of 8 bits and 2 channels of 8 bits \(.*0001.tif\)",
        ),
    ],
)
def test_mixed_channels_are_refused(tmp_path, odd, words):
    sensors(tmp_path, 12, gaps=False)
    (tmp_path / "rgb/0001.png").unlink()
    save(tmp_path / "rgb/0001.tif", odd)
    with pytest.raises(ValueError, match=words):
        survey(find(tmp_path), np.arange(12))
