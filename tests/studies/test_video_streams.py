"""The study of streams: its rows for clips of every kind, and one carried through."""

from functools import partial
from pathlib import Path

import pytest
from packed import two_cameras

from coview.probes.action import FineTuning
from coview.recipes.find import find_recipe
from coview.recipes.measure import open_run
from coview.studies import video_streams as study
from coview.studies.find import find_study
from coview.studies.subject import Subject
from coview.training import fit


def test_rows_have_the_numbers_of_the_paper():
    rows = {row.name: row for row in find_study("video-streams").rows("ucf101")}
    ours = {name: row for name, row in rows.items() if row.recipe is not None}
    assert list(ours) == ["random", "supervised", "V", "D", "V+D"]
    assert [name for name in rows if name not in ours] == list(study.OTHERS)
    assert rows["V+D"].paper == {"UCF-101": 59.1, "HMDB-51": 26.7}
    assert all(set(row.measures) == {"UCF-101", "linear", "retrieval"} for row in ours.values())


def test_two_cameras_have_a_row_more_and_rendered_clips_other_columns():
    rows = {row.name: row for row in study.rows("two-camera")}
    assert rows["V+D+camera"].recipe == "video_camera"
    assert not any(row.paper for row in rows.values())
    rooms = {row.name: set(row.measures) for row in study.rows("scenes")}
    assert rooms["V"] == {"all views"}
    assert rooms["D"] == {"all views", "flow"}


def test_measures_of_a_run(tmp_path):
    settings = ["steps=1", "batch_size=8", "channels_last=false"]
    widths = [f"encoders.{view}.width=0.02" for view in ("frame", "flow")]
    cameras = two_cameras(tmp_path / "mine")
    recipe, origin = find_recipe(f"video_ventral_dorsal@{cameras}", settings + widths)
    fit(recipe, tmp_path / "run", origin=origin)
    subject = Subject(open_run(tmp_path / "run"), tmp_path / "run")
    tuned = partial(study.action, tuning=FineTuning(epochs=1, hidden=8), frames=2, crops=1)
    hits = 8 * tuned(subject) / 100
    assert hits == pytest.approx(round(hits)), "two splits with four clips to test on each"
    assert 0 <= study.two_frames(subject) <= 100
    assert list(study.retrieval(subject)) == ["R@1", "R@5", "R@10"]


def test_absent_clips_say_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("COVIEW_DATA", str(Path(tmp_path)))
    with pytest.raises(FileNotFoundError, match="coview flow"):
        find_study("video-streams").samples("hmdb51", None)
