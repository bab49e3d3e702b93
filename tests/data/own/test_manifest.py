"""Tables that name views: which column is what, and the one line for each thing that is wrong with them."""

import numpy as np
import pytest
from toy_files import picture, save

from coview.data.own import find


def table(place, text, name="things.csv", encoding="utf-8"):
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(text, encoding=encoding)
    return place / name


def with_pictures(place, count=4):
    for number in range(count):
        save(place / f"shots/{number}.png", picture(number))
        save(place / f"shots/{number}.tif", picture(number, channels=1).astype(np.float32))


def test_paths_numbers_label_and_split(tmp_path):
    with_pictures(tmp_path)
    file = table(
        tmp_path,
        "id,photo,heat,air.t,air.p,noise,label,split\n"
        "a,shots/0.png,shots/0.tif,1.5,20,7,cat,train\n"
        "b,shots/1.png,,NaN,,8,dog,train\n"
        "ç,,shots/2.tif,3.5,40,9,dog,test\n"
        "d,shots/3.png,shots/3.tif,-2,na,,cat,test\n",
    )
    found = find(file)
    assert found.samples == ("a", "b", "ç", "d")
    assert list(found.columns) == ["photo", "heat", "air", "noise"]
    assert [file and file.name for file in found.columns["photo"].files] == ["0.png", "1.png", None, "3.png"]
    nan = np.nan
    np.testing.assert_array_equal(found.columns["air"].values, [[1.5, 20], [nan, nan], [3.5, 40], [-2, nan]])
    assert found.columns["air"].present.tolist() == [True, False, True, True]
    assert found.columns["noise"].present.tolist() == [True, True, True, False]
    assert found.label.tolist() == [0, 1, 1, 0]
    assert found.part("test").tolist() == [2, 3]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_other_separators_and_a_byte_order_mark(tmp_path, mark):
    file = table(tmp_path, f"left{mark}right\n1{mark}2\n3{mark}4\n", encoding="utf-8-sig")
    found = find(file)
    assert list(found.columns) == ["left", "right"]
    assert found.samples == ("0", "1")


def test_a_folder_with_a_manifest_is_read_by_it(tmp_path):
    with_pictures(tmp_path)
    table(tmp_path, "photo,heat\nshots/1.png,shots/1.tif\n", name="manifest.csv")
    assert list(find(tmp_path).columns) == ["photo", "heat"]


def test_only_one_column_names_the_samples_and_none_of_them_is_a_view(tmp_path):
    found = find(table(tmp_path, "name,id,left,right\nx,5,1,2\nx,7,3,4\ny,8,5,6\n"))
    assert found.samples == ("5", "7", "8")
    assert list(found.columns) == ["left", "right"]
    assert found.notes == ("column 'name' is left aside",)


def test_parquet_with_lists(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = {
        "sound": [[1.0, 2.0, 3.0], None, [4.0, 5.0, 6.0]],
        "air.t": [1, 2, None],
        "label": [3.0, 11.0, 3.0],
    }
    parquet.write_table(pyarrow.table(rows), tmp_path / "things.parquet")
    found = find(tmp_path / "things.parquet")
    np.testing.assert_array_equal(found.columns["sound"].values, [[1, 2, 3], [np.nan] * 3, [4, 5, 6]])
    assert found.columns["air"].present.tolist() == [True, True, False]
    assert found.label is None  # two classes of three samples: a number, not a class
    assert "2 different values" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no rows: wanted a line of column names, and a line for each sample"),
        ("left,right\n", "has no rows"),
        ("label,split\n1,train\n", "has no column of a view: it has label, split"),
        ("left,left\n1,2\n", "two columns called 'left'"),
        ("left,right\n1,2\n3\n", "line 3: wanted 2 cells, got 1"),
        (
            "left,words\n1,hello\n2,\n",
            "column 'words' of .* holds neither numbers nor files .*: 'hello'; leave it out",
        ),
        ("left,film\n1,a.mp4\n", "column 'film' of .* holds neither"),
        (
            "left,photo\n1,shots/7.png\n2,shots/1.png\n",
            "column 'photo' .*: 1 of 2 files are not there, first .*7.png",
        ),
        ("left,photo\n1,shots/1.png\n2,shots/x.txt\n", "names x.txt: only .* can be read"),
        ("left,right\n1,\n2,\n", "view 'right' of .* is empty"),
        ("left,right\n1,\n,2\n", "view 'left' shares no sample"),
        (
            "id,left,right\n7,1,2\n7,3,4\n",
            r"names sample '7' more than once \(column 'id'\): wanted is one row",
        ),
        ("stem,left,right\na,1,2\n,3,4\n", "leaves a sample without a name"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, text, words):
    with_pictures(tmp_path, 2)
    (tmp_path / "shots/x.txt").write_text("hello")
    with pytest.raises((ValueError, FileNotFoundError), match=words) as error:
        find(table(tmp_path, text))
    assert "\n" not in str(error.value)


def test_other_bytes(tmp_path):
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        find(table(tmp_path, "größe,x\n1,2\n", encoding="latin-1"))
    pytest.importorskip("pyarrow")
    (tmp_path / "x.parquet").write_bytes(b"hello")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        find(tmp_path / "x.parquet")
