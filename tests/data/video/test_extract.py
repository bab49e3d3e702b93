"""Packing clips with their flow: resumed, written whole, and what is broken named."""

import json

import pytest
import torch

av = pytest.importorskip("av", reason="videos are written by PyAV: pip install coview[video]")

from films import film, write_sound, write_video  # noqa: E402

from coview.cli import main  # noqa: E402
from coview.data.video import Pack, clips_below  # noqa: E402
from coview.data.video.extract import Extraction, extract, flow_of, left_to_do  # noqa: E402
from coview.flow import FAST, TVL1, from_eight_bits, grey  # noqa: E402

CPU = torch.device("cpu")
QUICK = Extraction(size=(24, 32), flow=TVL1(scales=2, warps=2, inner=5), workers=2, pairs=3)


@pytest.fixture
def clips(tmp_path):
    folder = tmp_path / "clips"
    for number, name in enumerate(("run/one", "run/two", "sit/three")):
        write_video(folder / f"{name}.mp4", film(number, frames=7))
    (folder / "sit/text.avi").write_text("no film")
    write_sound(folder / "sit/sound.mkv")
    return folder


def test_every_clip_is_packed_and_what_is_broken_is_named(clips, tmp_path):
    found = clips_below(clips)
    done = list(extract(found, tmp_path / "out", QUICK, CPU))
    assert {one.name: one.frames for one in done if one.fault is None} == {
        "run/one": 7,
        "run/two": 7,
        "sit/three": 7,
    }
    assert sorted(one.name for one in done if one.fault) == ["sit/sound", "sit/text"]
    pack = Pack(tmp_path / "out/run/one.zip")
    assert (pack.meta["height"], pack.meta["width"], pack.meta["largest"]) == (24, 32, 20.0)
    assert pack.flow([5]).shape == (1, 2, 24, 32)


def test_it_goes_on_where_it_stopped(clips, tmp_path):
    found, out = clips_below(clips), tmp_path / "out"
    running = extract(found, out, QUICK, CPU)
    first = next(running).name
    running.close()
    assert (out / f"{first}.zip").is_file()
    assert not list(out.rglob("*.unfinished"))
    left = left_to_do(found, out, QUICK)
    assert first not in left
    before = (out / f"{first}.zip").stat().st_mtime_ns
    assert {one.name for one in extract(found, out, QUICK, CPU)} == set(left)
    assert (out / f"{first}.zip").stat().st_mtime_ns == before
    assert left_to_do(found, out, QUICK) == ["sit/sound", "sit/text"]


def test_packs_of_two_kinds_do_not_mix(clips, tmp_path):
    left_to_do(clips_below(clips), tmp_path / "out", QUICK)
    with pytest.raises(ValueError, match=r"size = \[24, 32\], wanted is \[128, 171\]"):
        left_to_do(clips_below(clips), tmp_path / "out", Extraction(flow=QUICK.flow))


def test_flow_does_not_depend_on_how_many_pairs_go_at_once():
    frames = film(6, frames=6)
    one, other = (flow_of(frames, FAST, CPU, pairs=pairs) for pairs in (2, 16))
    assert (one.int() - other.int()).abs().max() <= 1
    first = FAST(grey(frames[:1]), grey(frames[1:2]))
    torch.testing.assert_close(from_eight_bits(one[:1]), first.clamp(-20, 20), atol=0.16, rtol=0)


def test_the_command(clips, tmp_path, monkeypatch, capsys):
    (clips / "splits.csv").write_text("clip,video,split1\n")
    out = tmp_path / "packed"

    def run(*more: str) -> int:
        command = [
            "coview",
            "flow",
            str(clips),
            "--out",
            str(out),
            "--size",
            "16x24",
            "--tvl1",
            "none",
            *more,
        ]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as over:
            main()
        return int(over.value.code or 0)

    assert run("--rate", "7.5") == 0
    said = capsys.readouterr().out
    assert "5 of 5 clips to do" in said
    assert "2 clips are broken and left out" in said
    assert "text.avi: Invalid data" in said
    assert len(Pack(out / "run/one.zip")) == 4, "every second frame"
    assert json.loads((out / "flow.json").read_text())["tvl1"] is None
    assert (out / "splits.csv").is_file()
    assert run("--rate", "7.5") == 0
    assert "3 are there already" in capsys.readouterr().out
    assert run() == 2
    assert "rate = 7.5, wanted is None" in capsys.readouterr().err
    assert run("--tvl1", "nine") == 2
