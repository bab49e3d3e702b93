"""Views as datasets: what arrives is what was written, in memory or streamed, with its gaps."""

import numpy as np
import pytest
import torch
from toy_files import picture, save, sensors

from coview.data import Dataset, Resident, Stream
from coview.data.own import own_data
from coview.data.own.joined import Joined

CHANNELS = {"rgb": 3, "depth": 1, "heat": 1}


def test_what_was_written_arrives(tmp_path):
    data = own_data("all", path=sensors(tmp_path, 9))
    assert isinstance(data, Resident)
    torch.testing.assert_close(data.fields["rgb"][4], torch.from_numpy(picture(4)).permute(2, 0, 1))
    depth = torch.from_numpy(picture(4, channels=1).astype(np.float32))[None] * 20 + 300
    torch.testing.assert_close(data.fields["depth"][4], depth)
    assert data.present["depth"].tolist() == [n % 3 > 0 for n in range(9)]
    assert set(data.present) == {"depth", "heat"}


def test_streamed_is_the_same(tmp_path):
    place = sensors(tmp_path, 17)
    save(place / "rgb/0003.png", picture(3, channels=1))
    settings = {"path": place, "side": 8, "channels": CHANNELS}
    resident, stream = own_data("train", **settings), own_data("train", resident=0, **settings)
    assert isinstance(stream, Stream)
    assert isinstance(stream, Dataset)
    index = torch.tensor([5, 2, 11])
    ours, theirs = resident.fetch(index), stream.fetch(index)
    for name in CHANNELS:
        have = ours.present.get(name, torch.ones(3, dtype=torch.bool))
        assert ours.fields[name].shape == (3, CHANNELS[name], 8, 8)
        torch.testing.assert_close(theirs.fields[name][have], ours.fields[name][have])
        assert theirs.fields[name].dtype == ours.fields[name].dtype
    assert all(torch.equal(theirs.present[name], ours.present[name]) for name in ours.present)


def test_tables_beside_a_stream(tmp_path):
    lines = ["photo,air.t,air.p,label"]
    for number in range(11):
        save(tmp_path / f"{number}.png", picture(number))
        lines.append(f"{number}.png,{number},{'' if number == 4 else number * 2},{number % 2}")
    (tmp_path / "a.csv").write_text("\n".join(lines))
    data = own_data("all", path=tmp_path / "a.csv", resident=0)
    assert isinstance(data, Joined)
    assert isinstance(data, Dataset)
    assert (len(data), data.name, data.classes, data.device.type) == (11, "a.csv all", ("0", "1"), "cpu")
    assert data.present == {}
    samples = [data.fetch(torch.tensor([7, 3])), next(data.epoch([torch.tensor([7, 3])]))]
    for sample in samples:
        assert sample.fields["air"].tolist() == [[7, 14], [3, 6]]
        torch.testing.assert_close(sample.fields["photo"][1], torch.from_numpy(picture(3)).permute(2, 0, 1))
        assert sample.label.tolist() == [1, 1]
    whole = list(data.to("cpu").batches(4))
    assert [len(one.index) for one in whole] == [4, 4, 3]
    assert torch.cat([one.fields["air"] for one in whole])[:, 0].tolist() == list(range(11))


def test_broken_files_are_gaps(tmp_path):
    place = sensors(tmp_path, 9, gaps=False)
    (place / "heat/0002.tif").write_bytes(b"oh")
    with pytest.warns(
        UserWarning, match=r"1 file of view 'heat' cannot be read and counts as missing: .*0002.tif"
    ):
        data = own_data("all", path=place)
    assert data.present["heat"].tolist() == [n != 2 for n in range(9)]
    for number in range(9):
        (place / f"heat/{number:04d}.tif").write_bytes(b"oh")
    with pytest.raises(ValueError, match="no file of view 'heat' can be read"):
        own_data("all", path=place)


def test_a_view_that_no_test_sample_has_keeps_its_form(tmp_path):
    place = sensors(tmp_path, 9, gaps=False)
    lines = ["stem,split", *(f"{n:04d},{'test' if n > 6 else 'train'}" for n in range(9))]
    (place / "labels.csv").write_text("\n".join(lines))
    for number in (7, 8):
        (place / f"heat/{number:04d}.tif").unlink()
    data = own_data("test", path=place)
    assert data.fields["heat"].shape == (2, 1, 5, 7)
    assert not data.present["heat"].any()


def test_sizes_that_differ_need_a_side(tmp_path):
    place = sensors(tmp_path, 9, gaps=False)
    save(place / "rgb/0003.png", picture(3, 20, 30))
    with pytest.raises(ValueError, match=r"view 'rgb' mixes \[3, 10, 14\] and \[3, 20, 30\] .*0003.png"):
        own_data("all", path=place)
    assert own_data("all", path=place, side=12).fields["rgb"].shape == (9, 3, 12, 12)


def test_wrong_words(tmp_path):
    sensors(tmp_path, 9)
    with pytest.raises(ValueError, match="splits train, test and all, got 'valid'"):
        own_data("valid", path=tmp_path)
    with pytest.raises(ValueError, match="has no samples to test on"):
        own_data("test", path=tmp_path, held_out=0.0)
