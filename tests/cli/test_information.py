"""`coview mi` and `coview choose-views`: what they tell and write, for views of which the answer is known."""

import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

import coview.cli.app
from coview.cli import main

TOYS = Path(__file__).parents[1] / "information_toys.py"
WEATHER, ROOMS = f"{TOYS}:weather", f"{TOYS}:rooms"
QUICK = ("--steps", "40", "--batch", "128", "--seeds", "1")


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Call the command line in a folder of its own; gives the exit code, what was written, and errors."""
    monkeypatch.setattr(coview.cli.app, "console", Console(width=160))
    monkeypatch.chdir(tmp_path)

    def call(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["coview", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return call


def test_mi_tells_nats_and_bits_and_writes_both_files(run, tmp_path):
    code, out, err = run(
        "mi", WEATHER, "--views", "heat", "light", *QUICK, "--seeds", "2", "--out", "heat.png"
    )
    assert (code, err) == (0, "")
    written = json.loads((tmp_path / "heat.json").read_text())
    assert 1.7 < written["nats"] < 2.0  # two Gaussian pairs of 0.92 nats each
    assert f"{written['nats']:.3f} ± {written['spread']:.3f}" in out
    assert len(written["curves"]) == len(written["by_seed"]) == 2
    assert "300 of 1,200 samples, held out by each of 2 seeds" in " ".join(out.split())
    assert (tmp_path / "heat.png").read_bytes()[:4] == b"\x89PNG"


def test_mi_by_another_bound_and_critic_of_fewer_samples(run, tmp_path):
    more = ("--bound", "infonce", "--critic", "concatenated", "--samples", "700", "--still")
    code, out, _ = run("mi", WEATHER, "--views", "light", "dice", *QUICK, *more)
    assert code == 0
    written = json.loads((tmp_path / "mi.json").read_text())
    assert (written["bound"], written["samples"]) == ("InfoNCE", 700)
    assert abs(written["nats"]) < 0.05
    assert "700 samples on" in out


def test_identical_views_are_said_to_have_infinite_information(run, tmp_path):
    code, out, _ = run("mi", WEATHER, "--views", "heat", "heat", *QUICK)
    assert code == 0
    assert "their information is infinite" in out
    written = json.loads((tmp_path / "mi.json").read_text())
    assert written["nats"] is None  # JSON has no infinity
    assert (tmp_path / "mi.png").is_file()


def test_choose_views_finds_the_plan_of_the_tables(run, tmp_path):
    code, out, err = run("choose-views", WEATHER, *QUICK, "--out", "weather.png", "--check", "1")
    words = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "dice shares nothing with any other view: left out" in words
    assert "Favoured: core_graph('light', ['heat', 'wind'])" in words
    order = [out.index(pair) for pair in ("│ heat – light", "│ light – wind", "│ light – dice")]
    assert order == sorted(order)
    assert "heat | light wind" in out
    assert "the paper finds the colour spaces best" in words.lower()
    assert (tmp_path / "weather.png").is_file()


def test_choose_views_knows_geometry_from_colour_and_noise(run):
    """Depth and normals share what is where, noise shares nothing: in 300 rooms of 16 pixels."""
    short = ("--steps", "25", "--batch", "64", "--seeds", "1")
    code, out, _ = run("choose-views", ROOMS, *short, "--check", "0", "--bound", "infonce")
    assert code == 0
    assert "nuisance shares nothing with any other view: left out" in out
    order = [out.index(f"│ {pair} ") for pair in ("depth – normal", "ab – depth", "depth – nuisance")]
    assert order == sorted(order)


def test_choose_among_the_channels_of_a_view(run):
    code, out, _ = run("choose-views", WEATHER, "--channels", "light", *QUICK, "--check", "0")
    assert code == 0
    assert "light0 and light1" in out
    assert "there is nothing to learn by contrast" in out  # a table whose columns are independent
    code, out, _ = run("choose-views", ROOMS, "--channels", "RGB", *QUICK)
    assert code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mi", WEATHER, "--views", "heat", "lite"), "there is no view 'lite' (did you mean 'light'?)"),
        (("mi", "demmo", "--views", "L", "ab"), "no recipe or image set 'demmo' (did you mean 'demo'"),
        (
            ("mi", WEATHER, "--views", "heat", "wind", "--bound", "min"),
            "--bound is one of mine, infonce, nwj",
        ),
        (("mi", WEATHER, "--views", "heat", "wind", "--critic", "joint"), "--critic is one of separable"),
        (("mi", WEATHER, "--views", "heat", "wind", "--samples", "90"), "90 samples leave 57 to learn from"),
        (("mi", WEATHER, "--views", "heat"), "Option '--views' requires 2 arguments"),
        (("choose-views", WEATHER, "--view", "heat"), "wanted two or more different views"),
        (
            ("choose-views", WEATHER, "--channels", "lights"),
            "there is no view 'lights' (did you mean 'light'?)",
        ),
    ],
)
def test_wrong_use_is_one_line(run, arguments, message):
    code, _, err = run(*arguments)
    assert code == 2
    (line,) = err.splitlines()
    assert line.startswith("coview: ")
    assert message in line
