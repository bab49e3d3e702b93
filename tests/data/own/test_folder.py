"""Folders of views: what is found, and the one line for each thing that is wrong with them."""

import unicodedata

import numpy as np
import pytest
from toy_files import picture, save, sensors

from coview.data.own import find


def label(place, lines, name="labels.csv"):
    (place / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_views_samples_and_gaps(tmp_path):
    found = find(sensors(tmp_path, 12))
    assert list(found.columns) == ["depth", "heat", "rgb"]
    assert found.samples == tuple(f"{n:04d}" for n in range(12))
    np.testing.assert_array_equal(found.columns["depth"].present, np.arange(12) % 3 > 0)
    assert found.columns["heat"].files[5].name == "0005.tif"
    assert found.columns["rgb"].present.all()
    assert (found.label, found.split, found.notes) == (None, None, ())


def test_folders_below_a_view_are_part_of_the_name(tmp_path):
    for room in ("a", "b"):
        save(tmp_path / f"left/{room}/1.png", picture(1))
        save(tmp_path / f"right/{room}/1.jpg", picture(2))
    assert find(tmp_path).samples == ("a/1", "b/1")


def test_parts_tell_the_split(tmp_path):
    for part, count in (("train", 5), ("test", 3)):
        sensors(tmp_path / part, count, gaps=False)
    found = find(tmp_path)
    assert len(found) == 8
    assert [found.samples[row] for row in found.part("test")] == [f"test/000{n}" for n in range(3)]
    assert len(found.part("all")) == 8


def test_a_share_is_held_out_and_hardly_moves_when_samples_are_added(tmp_path):
    found = find(sensors(tmp_path, 30, gaps=False))
    train, test = found.part("train"), found.part("test")
    assert len(test) == 6
    assert sorted([*train, *test]) == list(range(30))
    held_out = {found.samples[row] for row in test}
    save(tmp_path / "rgb/9999.png", picture(99))
    again = find(tmp_path)
    assert len(held_out & {again.samples[row] for row in again.part("test")}) >= 5


def test_labels_by_name_with_and_without_ending(tmp_path):
    sensors(tmp_path, 6)
    rows = [f"{n:04d}{'.png' if n % 2 else ''},{'sink' if n < 4 else 'bed'}" for n in range(6)]
    label(tmp_path, ["stem,label", *rows])
    found = find(tmp_path)
    assert found.classes == ("bed", "sink")
    assert found.label.tolist() == [1, 1, 1, 1, 0, 0]


def test_labels_with_gaps_are_counted(tmp_path):
    sensors(tmp_path, 9)
    label(tmp_path, ["name;label;split", "0000;2;train", "0001;10;train", "0002;;test", "0003;2;test", "0004;10;test",
                     *(f"000{n};;train" for n in range(5, 9)), "0077;2;train"])  # fmt: skip
    found = find(tmp_path)
    assert found.classes == ("2", "10")
    assert found.label.tolist() == [0, 1, -1, 0, 1, -1, -1, -1, -1]
    assert found.part("test").tolist() == [2, 3, 4]
    assert "4 of 9 samples have a label in labels.csv" in found.notes[1]
    assert "1 rows of labels.csv name no sample of any view, first '0077'" in found.notes[0]


def test_names_that_look_alike_are_alike(tmp_path):
    for view, form in (("Wärme", "NFC"), ("深度", "NFD")):
        for number in range(3):
            save(tmp_path / view / f"{unicodedata.normalize(form, f'Küche é {number}')}.png", picture(number))
    found = find(tmp_path)
    assert list(found.columns) == ["Wärme", "深度"]
    assert found.samples == tuple(f"Küche é {number}" for number in range(3))


def test_names_that_no_view_can_have_are_changed(tmp_path):
    for view in ("cam.left", "type"):
        save(tmp_path / view / "1.png", picture(1))
    found = find(tmp_path)
    assert list(found.columns) == ["cam_left", "type_view"]
    assert found.notes == (
        "view 'cam.left' is called 'cam_left' here",
        "view 'type' is called 'type_view' here",
    )
    save(tmp_path / "cam_left/1.png", picture(1))
    with pytest.raises(ValueError, match="would both be called 'cam_left'"):
        find(tmp_path)


def test_other_files_are_left_aside_and_said(tmp_path):
    sensors(tmp_path, 3)
    (tmp_path / "rgb/readme.txt").write_text("hello")
    (tmp_path / "rgb/Thumbs.db").write_text("windows")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.doc").write_text("hello")
    (note,) = find(tmp_path).notes
    assert "notes/ (1 .doc), rgb/ (1 .txt)" in note
    assert ".png .ppm .tif" in note


def no_views(place):
    (place / "talk").mkdir()
    (place / "talk/a.mp4").write_text("film")


def empty_view(place):
    sensors(place, 3)
    (place / "sound").mkdir()


def doubled(place):
    sensors(place, 3)
    save(place / "rgb/0001.jpg", picture(1))


def strangers(place):
    for number in range(3):
        save(place / f"rgb/img_{number}.png", picture(number))
        save(place / f"depth/d{number}.png", picture(number, channels=1))


def alone(place):
    save(place / "rgb/1.png", picture(1))


def twice(place):
    sensors(place, 3)
    label(place, ["stem,label", "0001,a", "0001.png,b"])


def unnamed(place):
    sensors(place, 3)
    label(place, ["stem,kind,colour", "0001,a,b"])


def wrong_split(place):
    sensors(place, 3)
    label(place, ["stem,split", "0000,train", "0001,tset", "0002,train"])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            no_views,
            r"has no views: wanted a folder for each view, found talk/ \(1 .mp4\); files of these types can be",
        ),
        (empty_view, "view 'sound' of .* is empty: fill its folder, or take it away"),
        (doubled, r"view 'rgb' has two files for sample '0001' \(0001.jpg and 0001.png\): keep one"),
        (
            strangers,
            "view 'depth' shares no sample with another view: it has 'd0', 'rgb' has 'img_0'; files of one",
        ),
        (alone, "has one view, 'rgb': contrast needs two"),
        (twice, "names sample '0001' more than once"),
        (unnamed, "has the columns stem, kind, colour: wanted is a sample's name, and label or split"),
        (wrong_split, "must be train or test for every sample, got 'tset'"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, make, words):
    make(tmp_path)
    with pytest.raises(ValueError, match=words) as error:
        find(tmp_path)
    assert "\n" not in str(error.value)


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder or file"):
        find(tmp_path / "nowhere")
    (tmp_path / "talk.mp4").write_text("film")
    with pytest.raises(ValueError, match="of no type that is known here"):
        find(tmp_path / "talk.mp4")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="it has no folders with files"):
        find(tmp_path / "empty")
    save(tmp_path / "empty/1.png", picture(1))
    with pytest.raises(ValueError, match="wanted a folder for each view, 1 file there lies in none"):
        find(tmp_path / "empty")
