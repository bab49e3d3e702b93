"""Clips as a dataset: moments, in memory and from packs, official splits, and what cannot be used."""

import zipfile

import pytest
import torch
from packed import pack

from coview.data import Dataset
from coview.data.video import BrokenClip, Clips, Pack, Takes, clip_data, takes, write_pack
from coview.data.video.layouts import hmdb51, ucf101
from coview.data.video.memory import MemorySource
from coview.data.video.packs import PackedSource


@pytest.fixture
def folder(tmp_path):
    for number in range(10):
        pack(tmp_path / f"run/clip{number}.zip", 9 + number, number % 4)
        pack(tmp_path / f"sit/clip{number}.zip", 12, number % 4)
    return tmp_path


def small(folder, split="train", **more) -> Clips:
    return clip_data(str(folder), split, later=3, stack=4, **more)


@pytest.mark.parametrize("limit", [2**30, 0])
def test_a_sample_is_frames_and_flow_around_one_moment(folder, limit):
    data = small(folder, limit=limit)
    assert isinstance(data, Dataset)
    assert isinstance(data.source, PackedSource if limit == 0 else MemorySource)
    assert data.classes == ("run", "sit")
    seen = set()
    for epoch in range(20):
        order = torch.randperm(16, generator=torch.Generator().manual_seed(epoch))
        for sample in data.epoch(order.split(7)):
            assert sample.fields["rgb"].shape[1:] == (2, 3, 16, 24)
            assert sample.fields["flow"].shape[1:] == (4, 2, 16, 24)
            for row, number in enumerate(sample.index.tolist()):
                first, later = (sample.fields["rgb"][row, at, 0, 0, 0].item() for at in (0, 1))
                moment = round((first - 1.5) / 8)  # marks are less than half of a frame's step
                assert abs(later - first - 3 * 8) <= 2
                assert sample.fields["flow"][row, :, 0, 0, 0].tolist() == [
                    moment + one for one in (-2, -1, 0, 1)
                ]
                assert 2 <= moment < data.length[number] - 3
                seen.add((number, moment))
    longest = int(data.length.argmax())
    assert len({moment for number, moment in seen if number == longest}) > 6, "moments differ between epochs"


def test_moments_are_those_that_have_all_frames():
    wanted = takes(later=10, stack=10)
    assert (wanted.before, wanted.after, wanted.shortest) == (5, 10, 16)
    assert Takes(rgb=(0,), flow=(0, 1, 2)).shortest == 4, "a flow needs the frame that it leads to"
    lengths = torch.tensor([16, 17, 40])
    assert wanted.moments(lengths).tolist() == [1, 2, 25]
    assert wanted.at(lengths, torch.zeros(3)).tolist() == [5, 5, 5]
    assert wanted.at(lengths, torch.ones(3)).tolist() == [5, 6, 29]


def test_the_same_batch_draws_the_same_moments_again():
    wanted, lengths, index = takes(), torch.full((50,), 90), torch.randperm(50)
    drawn = wanted.drawn(lengths, index)
    assert torch.equal(drawn, wanted.drawn(lengths, index.clone()))
    assert not torch.equal(drawn, wanted.drawn(lengths, index.flip(0)))
    assert drawn.min() >= 5
    assert drawn.max() <= 79


def test_memory_and_packs_give_the_same(folder):
    resident, packed = small(folder), small(folder, limit=0)
    for one, other in zip(resident.batches(5), packed.batches(5), strict=True):
        assert torch.equal(one.index, other.index)
        assert torch.equal(one.label, other.label)
        for name in one.fields:
            assert torch.equal(one.fields[name], other.fields[name])


def test_the_same_frame_twice_is_the_same(folder):
    data = small(folder, limit=0)
    one, other = (data.fetch(torch.tensor([4, 2])) for _ in range(2))
    assert torch.equal(one.fields["rgb"], other.fields["rgb"])


def test_a_part_keeps_videos_labels_and_lengths(folder):
    data = small(folder)
    part = data.subset(torch.tensor([15, 3]))
    assert part.video.tolist() == [data.video[15], data.video[3]]
    assert part.fetch(torch.tensor([1])).label.tolist() == [data.label[3]]
    assert torch.equal(
        part.fetch(torch.tensor([0])).fields["flow"], data.fetch(torch.tensor([15])).fields["flow"]
    )
    with pytest.raises(IndexError, match="index 16 is out of bounds"):
        data.fetch(torch.tensor([16]))


def test_short_and_broken_clips_are_left_out_counted_and_named(folder):
    pack(folder / "sit/short.zip", 5)
    (folder / "run/broken.zip").write_bytes(b"PK but nothing behind it")
    pack(folder / "run/still.zip", 20, flow=False)
    with pytest.warns(UserWarning, match="clips of .* are left out") as told:
        found = len(small(folder)) + len(small(folder, "test"))
    assert found == 20
    said = " ".join(str(one.message) for one in told)
    for words in ("short.zip: 5 frames, a sample takes 6", "broken.zip: no packed clip", "no flow in it"):
        assert words in said


def test_nothing_left_is_an_error(tmp_path):
    for number in range(3):
        pack(tmp_path / f"one/clip{number}.zip", 4)
    with pytest.raises(BrokenClip, match="none of the 2 clips"):
        small(tmp_path)


def test_a_pack_that_breaks_later_gives_way_to_the_next(folder):
    data = small(folder, limit=0)
    path = data.source.packs[3]
    whole = Pack(path)
    with zipfile.ZipFile(path, "w") as broken:
        broken.writestr("meta.json", "{}")
    assert len(whole) >= 9
    with pytest.raises(OSError, match=r"1 of 16 samples .* are broken"):
        list(data.epoch(torch.arange(16).split(8)))


def test_clips_of_two_sizes_are_refused(folder):
    write_pack(
        folder / "run/wide.zip",
        torch.zeros(9, 3, 16, 30, dtype=torch.uint8),
        torch.zeros(8, 2, 16, 30, dtype=torch.int8),
        {},
    )
    with pytest.raises(ValueError, match="one --size"):
        [small(folder, split) for split in ("train", "test")]


def test_ucf101_in_its_official_layout(tmp_path):
    lists, clips = tmp_path / "ucf101/ucfTrainTestlist", tmp_path / "ucf101/UCF-101-packed"
    lists.mkdir(parents=True)
    for fold in (1, 2, 3):
        train, test = [], []
        for group in range(1, 5):
            names = [f"Archery/v_Archery_g{group:02d}_c{clip:02d}" for clip in (1, 2)]
            names.append(f"Biking/v_Biking_g{group:02d}_c01")
            (test if group == fold else train).extend(names)
            for name in names:
                pack(clips / f"{name}.zip", 9)
        (lists / f"trainlist0{fold}.txt").write_text("".join(f"{name}.avi 1\n" for name in train))
        (lists / f"testlist0{fold}.txt").write_text("".join(f"{name}.avi\n" for name in test))
    for fold in (1, 2, 3):
        train, test = (
            clip_data("ucf101", part, root=tmp_path, fold=fold, later=3, stack=4)
            for part in ("train", "test")
        )
        assert (len(train), len(test)) == (9, 3)
        assert train.classes == ("Archery", "Biking")
        assert len(train.video.unique()) == 6
    layout = ucf101(lists, clips)
    assert layout.video["Archery/v_Archery_g02_c01"] == layout.video["Archery/v_Archery_g02_c02"]
    with pytest.raises(ValueError, match="folds 1, 2, 3"):
        clip_data("ucf101", "train", root=tmp_path, fold=4)


def test_hmdb51_in_its_official_layout(tmp_path):
    lists, clips = tmp_path / "testTrainMulti_7030_splits", tmp_path / "hmdb51_org"
    lists.mkdir()
    names = {"Old_Film_wave_u_nm_np1_fr_med_0": 1, "Old_Film_wave_u_nm_np1_fr_med_1": 0, "New_wave_f_0": 2}
    for fold in (1, 2, 3):
        (lists / f"wave_test_split{fold}.txt").write_text(
            "".join(f"{name}.avi {mark} \n" for name, mark in names.items())
        )
    for name in names:
        pack(clips / f"wave/{name}.zip", 9)
    layout = hmdb51(lists, clips)
    assert layout.folds[2] == {
        "train": ["wave/Old_Film_wave_u_nm_np1_fr_med_0"],
        "test": ["wave/New_wave_f_0"],
    }
    assert sorted(set(layout.video.values())) == ["New", "Old_Film"]


def test_a_list_of_splits_and_a_second_camera(tmp_path):
    for number in range(4):
        pack(tmp_path / f"first/a/{number}.zip", 9, number)
        pack(tmp_path / f"second/a/{number}.zip", 8, number + 4)
    rows = [f"a/{number},take{number // 2},{'train' if number < 3 else 'test'}" for number in range(4)]
    (tmp_path / "splits.csv").write_text("\n".join(["clip,video,split1", *rows]))
    data = small(tmp_path, second=True)
    assert data.video.tolist() == [0, 0, 1]
    assert data.length.tolist() == [8, 8, 8]
    sample = data.fetch(torch.tensor([2]))
    assert sample.fields["second"].shape == (1, 1, 3, 16, 24)
    assert (sample.fields["second"][0, 0].int() - sample.fields["rgb"][0, 0].int() - 4).abs().max() <= 2


def test_absent_data_say_how_to_get_them(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"ucfTrainTestlist.*crcv\.ucf\.edu.*coview flow"):
        clip_data("ucf101", "train", root=tmp_path)
    with pytest.raises(FileNotFoundError, match="did you mean 'hmdb51'"):
        clip_data("hmdb5", "train", root=tmp_path)


def test_rendered_clips_have_their_true_flow():
    data = clip_data("scenes", "train", samples=5, later=2, stack=4)
    assert len(data.classes) == 9
    assert len(data.video.unique()) == 5
    moving = data.fetch(torch.arange(5)).fields["flow"]
    assert moving.dtype == torch.int8
    assert (moving != 0).any()
    with pytest.raises(ValueError, match="one camera"):
        clip_data("scenes", "train", samples=5, second=True)
