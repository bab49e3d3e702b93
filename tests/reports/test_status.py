"""Where runs stand, from nothing but their folders."""

import json
import os
import time

import pytest

from coview.reports.status import best_probe, progress, status


def make(folder, *, rows=(), age=0.0, result=None, lock=False, **fields):
    folder.mkdir(parents=True)
    if lock:
        (folder / ".lock").write_text("{}")
    record = {"recipe": "demo", "fields": {"epochs": 10, "steps": None, "batch_size": 50, **fields}}
    (folder / "recipe.json").write_text(json.dumps(record))
    if rows:
        (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if result is not None:
        (folder / "result.json").write_text(json.dumps(result))
    for file in folder.iterdir():
        os.utime(file, (time.time() - age,) * 2)
    return folder


def row(step, epoch, loss=3.0):
    return {
        "step": step,
        "epoch": epoch,
        "loss": loss,
        "rate": 25.0,
        "terms": {},
        "bounds": {"a->b": 1.0, "b->a": 2.0},
    }


def rows_of(table):
    return {one[0]: dict(zip(table.columns, one, strict=True)) for one in table.rows}


def test_runs_of_every_state(tmp_path):
    make(tmp_path / "going", rows=[row(30, 3.0), row(40, 4.0, 2.5)], lock=True)
    make(tmp_path / "deep/stopped", rows=[row(40, 4.0)], age=3600, lock=True)  # killed: its lock is old
    make(tmp_path / "done", rows=[row(100, 10.0)], age=7200)
    make(tmp_path / "short", rows=[row(7, 0.7)], age=10, steps=7)
    make(tmp_path / "fresh", age=5, lock=True)
    found = rows_of(status(tmp_path))
    assert {name: (one["state"], one["progress"]) for name, one in found.items()} == {
        "going": ("running", "40 %"),
        "fresh": ("running", "0 %"),
        "short": ("done", "100 %"),
        "deep/stopped": ("stopped", "40 %"),
        "done": ("done", "100 %"),
    }
    assert next(iter(found)) == "going"
    going = found["going"]
    assert (going["left"], going["loss"], going["bound"]) == (
        "2 min",
        "2.50",
        "1.50",
    )  # 60 steps of 50 at 25 a second
    assert found["deep/stopped"]["heard"] == "60 min ago"
    assert found["done"]["left"] is None


def test_the_best_probe_of_looks_and_tables(tmp_path):
    from coview.reports.runs import read_run

    rows = [row(1, 0.1), {"step": 1, "epoch": 0.1, "probes": {"linear L": 40.0, "knn L": 22.0}}]
    table = {"columns": ["view", "random", "contrastive"], "rows": [["L", 99.0, 41.0], ["ab", 3.0, None]]}
    with_table = make(
        tmp_path / "a",
        rows=rows,
        result={"tables": {"linear probe": table, "retrieval": {"columns": ["x"], "rows": [[77]]}}},
    )
    assert best_probe(read_run(with_table)) == "41.0 (L)"
    assert best_probe(read_run(make(tmp_path / "b", rows=rows))) == "40.0 (linear L)"
    assert best_probe(read_run(make(tmp_path / "c"))) is None
    assert progress(read_run(make(tmp_path / "d", epochs=0))) == 0


def test_broken_and_missing(tmp_path):
    folder = make(tmp_path / "a")
    (folder / "recipe.json").write_text("{")
    assert "is not valid JSON" in rows_of(status(tmp_path))["a"]["state"]
    (tmp_path / "empty").mkdir()
    assert "there are no runs in" in status(tmp_path / "empty").note
    with pytest.raises(FileNotFoundError, match="no folder"):
        status(tmp_path / "nowhere")


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    import sys

    from coview.cli import main

    make(tmp_path / "going", rows=[row(40, 4.0)], lock=True)
    monkeypatch.setattr(sys, "argv", ["coview", "status", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert "running" in capsys.readouterr().out
