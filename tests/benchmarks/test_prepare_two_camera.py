"""The pack of two cameras: its clips by camera and class, and splits that cut no run of actions in two."""

import csv
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture
def prepare(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    sys.modules.pop("prepare_two_camera", None)
    import prepare_two_camera

    return prepare_two_camera.prepare


def test_pairs_go_together_and_runs_are_not_cut(prepare, tmp_path):
    actions = ["slap", "slap", "kick", "club", "club", "club", "stab", "stab", "walk", "kick", "kick", "push"]
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as pack:
        lines = ["label,file,actions"]
        for number, action in enumerate(actions, start=1):
            lines.append(f"violent,{number}.mp4,{action}")
            for camera in ("cam1", "cam2"):
                pack.writestr(f"violent/{camera}/{number}.mp4", f"{camera} {number}")
        pack.writestr("pairs.csv", "\n".join(lines))
    folder = prepare(tmp_path / "pack.zip", tmp_path)
    assert (folder / "second/violent/7.mp4").read_text() == "cam2 7"
    rows = list(csv.DictReader((folder / "splits.csv").read_text().splitlines()))
    tests = [[row["clip"] for row in rows if row[f"split{split}"] == "test"] for split in (1, 2, 3)]
    assert sorted(clip for part in tests for clip in part) == sorted(f"violent/{n}" for n in range(1, 13))
    for split in ("split1", "split2", "split3"):
        sides = {part: {row["video"] for row in rows if row[split] == part} for part in ("train", "test")}
        assert not sides["train"] & sides["test"]
    assert [row["split1"] for row in rows][3:6] == ["test", "", ""]
