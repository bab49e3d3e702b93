"""Frames of clips by number, whatever the clip is, and clips that are none."""

import pytest
import torch
from PIL import Image

av = pytest.importorskip("av", reason="videos are written by PyAV: pip install coview[video]")

from films import film, write_sound, write_video  # noqa: E402

from coview.data.video.decode import BrokenClip, FrameFolder, VideoFile, at_rate  # noqa: E402
from coview.data.video.find import clips_below, open_clip  # noqa: E402
from coview.data.video.pack import Pack, write_pack  # noqa: E402
from coview.data.video.size import cover, parse_size  # noqa: E402


@pytest.fixture(scope="module")
def frames():
    return film(3, frames=13)


@pytest.mark.parametrize("kind", ["mp4", "avi", "mkv"])
def test_a_frame_is_the_same_alone_and_among_others(tmp_path, frames, kind):
    video = VideoFile(write_video(tmp_path / f"clip.{kind}", frames))
    every = video.frames(range(len(video)))
    assert every.shape == frames.shape
    assert (every.float() - frames.float()).abs().mean() < 12, "the codec's loss, and nothing worse"
    for number in (12, 0, 7, 4, 5, 7):
        assert torch.equal(video.frames([number])[0], every[number]), number
    assert torch.equal(video.frames([9, 2, 9]), every[[9, 2, 9]])


def test_frames_before_the_key_frame_are_not_decoded(tmp_path, frames, monkeypatch):
    video = VideoFile(write_video(tmp_path / "clip.mp4", frames, keys=4))
    assert len(video.keys) >= 3
    seeks = []
    decode = VideoFile._decode

    def spy(self, container, wanted):
        class Spy:
            streams = container.streams

            def seek(self, stamp, **more):
                seeks.append(stamp)
                container.seek(stamp, **more)

            decode = staticmethod(container.decode)

        return decode(self, Spy(), wanted)

    monkeypatch.setattr(VideoFile, "_decode", spy)
    video.frames([0, 1, 12])
    assert seeks == [video.stamps[0], video.stamps[12]]


def test_a_video_without_stamps_is_counted_from_its_start(tmp_path, frames):
    video = VideoFile(write_video(tmp_path / "clip.avi", frames))
    every = video.frames(range(13))
    video.stamps = None
    assert torch.equal(video.frames([11, 3]), every[[11, 3]])


def test_odd_sizes(tmp_path):
    odd = film(4, frames=4, size=37)[..., :33]
    assert VideoFile(write_video(tmp_path / "odd.mp4", odd)).frames([2]).shape == (1, 3, 37, 33)


def test_variable_rate_by_number_and_by_time(tmp_path):
    frames = film(5, frames=6)
    stamps = [0, 100, 200, 600, 1000, 1100]
    video = VideoFile(write_video(tmp_path / "clip.mkv", frames, stamps=stamps))
    assert len(video) == 6
    assert video.times() == pytest.approx([stamp / 1000 for stamp in stamps], abs=2e-3)
    assert at_rate(video, 5.0) == [0, 2, 2, 3, 3, 4]
    assert at_rate(video, None) == list(range(6))


def test_what_is_no_video_says_so(tmp_path):
    text = tmp_path / "notes.avi"
    text.write_text("these are notes, and no film\n" * 40)
    with pytest.raises(BrokenClip, match=r"notes\.avi: Invalid data"):
        VideoFile(text)
    with pytest.raises(BrokenClip, match="only sound"):
        VideoFile(write_sound(tmp_path / "sound.mkv"))
    (tmp_path / "empty.mp4").touch()
    with pytest.raises(BrokenClip):
        VideoFile(tmp_path / "empty.mp4")


def test_a_clip_cut_short_says_which_frame_is_lost(tmp_path, frames):
    whole = write_video(tmp_path / "whole.avi", frames).read_bytes()
    (tmp_path / "cut.avi").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BrokenClip, match=r"cut\.avi"):
        VideoFile(tmp_path / "cut.avi").frames(range(13))


def test_a_number_that_is_not_there(tmp_path, frames):
    with pytest.raises(IndexError, match="frames 0 to 12, not 13"):
        VideoFile(write_video(tmp_path / "clip.mp4", frames)).frames([13])


def test_a_folder_of_frames(tmp_path, frames):
    for number in range(5):
        Image.fromarray(frames[number].movedim(0, -1).numpy()).save(tmp_path / f"{number:03d}.png")
    folder = FrameFolder(tmp_path)
    assert torch.equal(folder.frames([3, 1]), frames[[3, 1]])
    assert at_rate(folder, 2.0) == [0, 1, 2, 3, 4]
    (tmp_path / "002.png").write_bytes(b"no picture")
    with pytest.raises(BrokenClip, match="not a picture"):
        folder.frames([2])


def test_packs_keep_flow_exactly_and_frames_nearly(tmp_path, frames):
    codes = torch.randint(-127, 128, (12, 2, 36, 36), dtype=torch.int8)
    write_pack(tmp_path / "clip.zip", frames, codes, {"rate": 15.0, "largest": 20.0})
    pack = Pack(tmp_path / "clip.zip")
    assert (len(pack), pack.rate, pack.meta["largest"]) == (13, 15.0, 20.0)
    assert torch.equal(pack.flow([11, 0]), codes[[11, 0]])
    assert (pack.frames([4]).float() - frames[4]).abs().mean() < 9
    (tmp_path / "bad.zip").write_bytes((tmp_path / "clip.zip").read_bytes()[:300])
    with pytest.raises(BrokenClip, match="no packed clip"):
        Pack(tmp_path / "bad.zip")
    write_pack(tmp_path / "still.zip", frames, None, {})
    with pytest.raises(BrokenClip, match="coview flow"):
        Pack(tmp_path / "still.zip").flow([0])


def test_clips_of_every_kind_are_found(tmp_path, frames):
    write_video(tmp_path / "run/one.mp4", frames[:2])
    write_pack(tmp_path / "run/two.zip", frames[:3], None, {})
    (tmp_path / "jump/three").mkdir(parents=True)
    for number in range(4):
        Image.fromarray(frames[number].movedim(0, -1).numpy()).save(tmp_path / f"jump/three/{number}.png")
    (tmp_path / "run/readme.txt").write_text("not a clip")
    found = clips_below(tmp_path)
    assert {name: len(open_clip(path)) for name, path in found.items()} == {
        "run/one": 2,
        "run/two": 3,
        "jump/three": 4,
    }


@pytest.mark.parametrize(("height", "width"), [(24, 40), (40, 24), (36, 36), (50, 61)])
def test_frames_cover_a_size_and_keep_their_shape(frames, height, width):
    assert cover(frames[:2], height, width).shape == (2, 3, height, width)
    even = torch.full((1, 3, 31, 47), 99, dtype=torch.uint8)
    assert (cover(even, height, width) == 99).all()


def test_sizes_are_written_as_height_x_width():
    assert parse_size("128x171") == (128, 171)
    for wrong in ("128", "axb", "4x99"):
        with pytest.raises(ValueError, match="128x171"):
            parse_size(wrong)
