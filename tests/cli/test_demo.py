"""`coview demo` at a size for seconds: the page, the numbers, and the command that goes on."""

import json
import re
import shlex
import sys

import pytest
from rich.console import Console

import coview.cli.app
from coview.cli import main

VIEWS = ("L", "ab", "depth", "normal")
SMALL = {
    "data.train": 90,
    "data.test": 70,
    "data.size": 24,
    "augment.size": 24,
    "augment.padding": 3,
    "batch_size": 30,
    "epochs": 2,
    "probe_layer": "embedding",
    **{f"encoders.{view}.width": 4 for view in VIEWS},
}


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line as `coview ...` does; gives the exit code and what was written."""
    monkeypatch.setattr(coview.cli.app, "console", Console(width=200))
    monkeypatch.setattr("coview.cli.demo.SUPERVISED_EPOCHS", 1)

    def call(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["coview", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def demo(run):
    """Run the small demo into a folder."""

    def call(folder, *more) -> tuple[str, dict]:
        code, out, err = run("demo", "--run", folder, *settings(), *more)
        assert (code, err) == (0, "")
        return out, json.loads((folder / "result.json").read_text())

    return call


def test_the_page_the_numbers_and_how_to_go_on(demo, run, tmp_path, monkeypatch):
    """Three runs: one as it is, one of the same seed that is interrupted and goes on, one of another seed."""
    folder = tmp_path / "my demo"  # a name that a shell would cut in two
    out, result = demo(folder)
    assert_page(folder / "report.html", result)
    assert_tables(out, result)
    assert 0 < result["seconds"] < 120
    assert f"{result['seconds']:.0f} seconds." in out
    assert str(folder / "report.html") in out
    assert_goes_on(out, result, run)
    code, _, err = run("demo", "--run", folder)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "exists already: go on with it by --resume" in err

    with monkeypatch.context() as patch:
        patch.setattr("coview.cli.live.LiveTraining.observe", interrupt_after_an_epoch)
        assert run("demo", "--run", tmp_path / "same", *settings())[0] == 130
    assert [path.name for path in (tmp_path / "same/checkpoints").iterdir()] == ["step-00000003.pt"]
    _, same = demo(tmp_path / "same", "--resume")
    assert without_seconds(same) == without_seconds(result)
    assert losses(tmp_path / "same") == losses(folder)

    _, other = demo(tmp_path / "other", "--seed", 5)
    assert numbers(other, "linear probe") != numbers(result, "linear probe")
    assert losses(tmp_path / "other")[-1]["loss"] != losses(folder)[-1]["loss"]


def interrupt_after_an_epoch(live, row) -> None:
    if row["step"] > 3:
        raise KeyboardInterrupt


def settings() -> list[str]:
    return [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]


def losses(folder) -> list[dict]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [{**json.loads(line), "rate": None} for line in lines]


def without_seconds(result: dict) -> dict:
    """What may not differ between two runs of one seed."""
    return {name: value for name, value in result.items() if name not in ("seconds", "command")}


def numbers(result: dict, table: str) -> dict[str, list[float]]:
    """The rows of a table, by their name."""
    return {name: row for name, *row in result["tables"][table]["rows"]}


def assert_goes_on(out: str, result: dict, run) -> None:
    """The command that was named runs."""
    assert result["command"] in out
    name, *words = shlex.split(result["command"])
    assert name == "coview"
    code, probed, _ = run(*words)
    assert code == 0
    assert [line.split()[1] for line in probed.splitlines() if line.startswith("│")] == [*VIEWS, "all"]


def assert_tables(out: str, result: dict) -> None:
    """Every number of both tables is in result.json, and none is anywhere else."""
    lines = [line for line in out.splitlines() if line[:1] == "│"]
    shown = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    linear, recall = numbers(result, "linear probe"), numbers(result, "retrieval")
    assert result["tables"]["linear probe"]["columns"] == ["view", "random", "contrastive", "supervised"]
    assert list(linear) == [*VIEWS, "all views"]
    assert set(recall) == {f"{one}->{other}" for one in VIEWS for other in VIEWS if one != other}
    assert all(chance == pytest.approx(100 / 70) for _, chance in recall.values())
    rows = {**linear, **recall}
    assert shown == [[name, *(f"{number:.1f}" for number in row)] for name, row in rows.items()]
    assert all(0 <= number <= 100 for row in rows.values() for number in row)
    gains = [linear[view][1] - linear[view][0] for view in VIEWS]
    assert result["margin"] == pytest.approx(sum(gains) / 4)
    assert f"{result['margin']:.1f} points above random" in " ".join(out.split())


def assert_page(path, result: dict) -> None:
    """One file, with everything in it."""
    text = path.read_text()
    headings = ["Views", "Objective", "Training", "Result", "Neighbours", "Go on"]
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", text) == headings
    sections = dict(zip(headings, re.split(r"<h2[^>]*>", text)[1:], strict=True))
    with_picture = [name for name, part in sections.items() if "data:image/png;base64," in part]
    assert with_picture == ["Views", "Objective", "Training", "Neighbours"]
    assert sections["Result"].count("<table>") == 2
    cells = [row[2] for row in numbers(result, "linear probe").values()]
    assert all(f">{supervised:.1f}</td>" in sections["Result"] for supervised in cells)
    assert "coview probe" in sections["Go on"]
    sources = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert all(source.startswith(("data:", "#")) for source in sources)  # nothing beside it
    assert not re.search(r"<script|url\(|@import", text)
