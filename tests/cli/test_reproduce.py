"""`coview reproduce`: the list, the plan, what is written, and what wrong use gets."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from rich.console import Console

import coview.cli.app
from coview.cli import main
from coview.studies.find import shipped_studies

STUDY = Path(__file__).parents[1] / "toy_study.py"


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Call the command line in a folder of its own; gives the exit code, what was written, and errors."""
    monkeypatch.setattr(coview.cli.app, "console", Console(width=200))
    monkeypatch.chdir(tmp_path)

    def call(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["coview", "reproduce", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return call


def test_without_a_name_the_studies_and_their_claims_are_listed(run):
    code, out, _ = run()
    words = " ".join(out.split())
    assert code == 0
    for name, study in shipped_studies().items():
        assert f"{name} " in words
        assert " ".join(study.claim.split()[:4]) in words


def test_the_plan_says_what_would_run_and_runs_nothing(run, tmp_path):
    code, out, err = run(f"{STUDY}:toys", "--plan", "--set", "epochs=6", "--seeds", "3,4,5")
    assert (code, err) == (0, "")
    rows = {line.split("  ")[0]: " ".join(line.split()) for line in out.splitlines()}
    assert rows["five negatives"].endswith(" toy_study.py:small 6 36 576 0 of 3 done not known")
    assert rows["random"].endswith(" toy_study.py:small, random – – – 0 of 3 done not known")
    assert "Data: tables (96 train, 96 labelled)" in out
    assert "12 runs to go on " in out
    assert not list(tmp_path.iterdir())


def test_some_rows_and_seeds_are_run_and_all_is_written(run, tmp_path):
    where = ("--runs", tmp_path / "here", "--out", tmp_path / "out")
    code, out, err = run(f"{STUDY}:toys", "--rows", "random", "--seeds", "7,7,3", *where)
    assert (code, err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "here/toys/tables").iterdir()) == [
        "random-seed3",
        "random-seed7",
    ]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "figure.png",
        "result.json",
        "table.md",
    ]
    record = json.loads((tmp_path / "out/result.json").read_text())
    assert (
        record["command"]
        == f"coview reproduce {STUDY}:toys --seeds 7,7,3 --rows random --out {tmp_path}/out --runs {tmp_path}/here"
    )
    assert "1 to go, time about" in out
    assert "twenty beat random: cannot be said (row 'twenty negatives' has no number for hidden)" in out
    code, out, _ = run(f"{STUDY}:toys", "--rows", "random", "--seeds", "7,3", *where)
    assert "Nothing is left to run." in out


def test_a_failure_is_told_by_the_exit_code(run):
    code, out, _ = run(f"{STUDY}:with_failure", "--rows", "broken")
    assert code == 1
    assert "broken, seed 0 failed, the others go on: RuntimeError: the bank is closed" in out
    assert Path("results/with-failure-tables/table.md").is_file()


def test_stopped_it_says_that_the_same_command_goes_on(run, monkeypatch):
    def stop(live, row):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("coview.cli.live.LiveTraining.observe", stop)
        code, _, err = run(f"{STUDY}:toys", "--rows", "five", "--seeds", "1")
    assert (code, err) == (130, "coview: interrupted: the same command goes on\n")
    assert Path("results/toys-tables/table.md").is_file()
    _, out, _ = run(f"{STUDY}:toys", "--rows", "five", "--seeds", "1", "--plan")
    assert "0 of 1 done, 1 begun" in out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop_it_saves_and_begins_no_other_run(run, monkeypatch, number):
    asked = []

    def ask(live, row):
        if not asked:  # a second SIGINT would not wait
            asked.append(row)
            os.kill(os.getpid(), number)

    with monkeypatch.context() as patch:
        patch.setattr("coview.cli.live.LiveTraining.observe", ask)
        code, out, _ = run(f"{STUDY}:toys", "--rows", "negatives", "--seeds", "1")
    assert code == 75
    assert f"stopped by {number.name} after step" in out
    assert "go on with the same command" in out
    assert "failed" not in out
    _, out, _ = run(f"{STUDY}:toys", "--rows", "negatives", "--seeds", "1", "--plan")
    assert "0 of 1 done, 1 begun" in out
    assert "failed" not in out
    assert len(list(Path("runs/toys/tables").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["toyss"], "no study 'toyss'"),
        (
            [f"{STUDY}:toys", "--seeds", "1,x"],
            "--seeds wants whole numbers with commas between them, as 0,1,2; got '1,x'",
        ),
        ([f"{STUDY}:toys", "--rows", "nine"], "no row fits --rows 'nine'"),
        ([f"{STUDY}:toys", "--set", "epoch=3"], "no field 'epoch' to set in 'epoch' (did you mean 'epochs'"),
        ([f"{STUDY}:toys", "--data-name", "chairs"], "there are no data 'chairs': get them from the shop"),
    ],
)
def test_wrong_use_is_one_line_and_starts_nothing(run, tmp_path, arguments, message):
    code, _, err = run(*arguments)
    assert (code, len(err.splitlines())) == (2, 1)
    assert err.startswith(f"coview: {message}")
    assert not list(tmp_path.iterdir())


def test_several_processes_are_refused(run, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, _, err = run(f"{STUDY}:toys")
    assert code == 2
    assert "leave torchrun out, and say --at-once 8" in err


def test_two_processes_share_the_runs(run, tmp_path):
    where = ("--runs", tmp_path / "here", "--out", tmp_path / "out")
    code, out, _ = run(f"{STUDY}:toys", "--rows", "random", "--seeds", "7,3", *where, "--at-once", "2")
    assert code == 0
    assert "[2/2] random, seed 3, in " in out
    assert "random, seed 7: kNN " in out
    record = json.loads((tmp_path / "out/result.json").read_text())
    assert "--at-once" not in record["command"]  # it changes nothing
    code, out, _ = run(f"{STUDY}:toys", "--rows", "random", "--seeds", "7,3", *where, "--plan")
    assert "Nothing is left to run." in out
