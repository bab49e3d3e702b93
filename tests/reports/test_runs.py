"""Run folders read back, and compared with a calculation by hand."""

import json
from math import sqrt

import pytest

from coview.reports.runs import compare, read_run, report_page
from coview.reports.tables import Table


def row(step, loss, bounds=(1.0, 2.0), rate=100.0):
    names = ("L->ab", "ab->L")
    terms, found = dict.fromkeys(names, loss / 2), dict(zip(names, bounds, strict=True))
    return {"step": step, "epoch": step / 10, "loss": loss, "terms": terms, "bounds": found, "rate": rate}


def make_run(folder, rows, *, recipe="demo", result=None, **fields):
    folder.mkdir(parents=True)
    (folder / "recipe.json").write_text(json.dumps({"recipe": recipe, "fields": fields}))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if result is not None:
        (folder / "result.json").write_text(json.dumps(result))
    return folder


def cells(table, number=0):
    return dict(zip(table.columns, table.rows[number], strict=True))


def test_a_run_is_read_back(tmp_path):
    rows, result = [row(1, 5.0), row(2, 4.0)], {"command": "coview probe x", "accuracy": 50.5}
    run = read_run(make_run(tmp_path / "first", rows, result=result, seed=3, epochs=2))
    assert (run.name, run.history, run.result) == ("first", rows, result)
    assert run.recipe == {"recipe": "demo", "fields": {"seed": 3, "epochs": 2}}


def test_a_folder_that_is_no_run_names_the_file_looked_for(tmp_path):
    with pytest.raises(ValueError, match=r"no run folder.*recipe\.json"):
        read_run(tmp_path)
    with pytest.raises(ValueError, match=r"recipe\.json"):
        read_run(tmp_path / "nowhere")


def test_a_broken_recipe_and_a_recipe_of_another_kind_are_named(tmp_path):
    (tmp_path / "recipe.json").write_text("{")
    with pytest.raises(ValueError, match=r"recipe\.json is not valid JSON"):
        read_run(tmp_path)
    (tmp_path / "recipe.json").write_text("[]")
    with pytest.raises(ValueError, match=r"should hold a JSON object, came: list"):
        read_run(tmp_path)


@pytest.mark.parametrize("tail", [b'{"step": 3, "lo', b'{"step": 3', b'{"terms": {"\xc3', b"\n\n", b""])
def test_a_last_line_that_was_cut_is_left_out(tmp_path, tail):
    folder = make_run(tmp_path / "run", [row(1, 5.0), row(2, 4.0)])
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(tail)
    assert [row["step"] for row in read_run(folder).history] == [1, 2]


@pytest.mark.parametrize("broken", ['{"step": 1, "lo', "[1]", '{"loss": 3}'])
def test_a_broken_line_elsewhere_is_named_by_its_number(tmp_path, broken):
    folder = make_run(tmp_path / "run", [row(1, 5.0)])
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(f"\n{broken}\n{json.dumps(row(2, 4.0))}\n")
    with pytest.raises(ValueError, match=r"metrics\.jsonl, line 3"):
        read_run(folder)


def test_steps_that_a_resumed_run_wrote_again_count_once(tmp_path):
    rows = [row(1, 5.0), row(2, 4.0), row(3, 3.0), row(2, 4.5), row(3, 3.5)]
    history = read_run(make_run(tmp_path / "run", rows)).history
    assert [(row["step"], row["loss"]) for row in history] == [(1, 5.0), (2, 4.5), (3, 3.5)]


def look(step, knn):
    return {"step": step, "epoch": step / 10, "probes": {"knn": knn, "linear": knn + 1}}


def test_looks_stand_beside_the_steps_they_follow(tmp_path):
    rows = [look(0, 10.0), row(10, 5.0), look(10, 30.0), row(20, 4.0), look(20, 40.0)]
    assert read_run(make_run(tmp_path / "run", rows)).history == rows
    again = [*rows[:4], row(15, 4.5), row(20, 4.4), look(20, 41.0)]  # step 20 was done again
    assert read_run(make_run(tmp_path / "again", again)).history == [*rows[:3], *again[4:]]
    twice = [*rows[:3], row(10, 5.5), look(10, 31.0)]
    assert read_run(make_run(tmp_path / "twice", twice)).history == [rows[0], *twice[3:]]


def test_a_run_with_looks_has_the_loss_of_its_last_step_and_the_last_look(tmp_path):
    rows = [look(0, 10.0), row(10, 5.0), look(10, 30.0), row(20, 4.0), look(20, 40.25)]
    found = cells(compare([read_run(make_run(tmp_path / "run", rows, seed=0))]))
    assert (found["steps"], found["loss"], found["bound"], found["images/s"]) == (
        "20",
        "4.00",
        "1.50",
        "100.00",
    )
    assert (found["look, knn"], found["look, linear"]) == ("40.25", "41.25")
    html = report_page([read_run(tmp_path / "run")])
    assert "data:image/png" not in html
    assert "held-out training samples" in html


def test_a_run_of_looks_alone_is_shown(tmp_path):
    run = read_run(make_run(tmp_path / "run", [look(0, 10.0)], seed=0))
    assert cells(compare([run]))["look, knn"] == "10.00"
    assert "only" not in report_page([run])


def test_probes_of_a_run_are_a_table_on_its_page(tmp_path):
    folder = make_run(tmp_path / "run", [row(1, 2.0)], seed=0)
    probes = [
        {"encoders": "trained", "kind": kind, "layer": "fc", "view": "L", "protocol": "ours", "classes": 4}
        | {"accuracy": accuracy}
        for kind, accuracy in (("linear", 61.25), ("knn", 58.5))
    ]
    (folder / "probes.json").write_text(json.dumps({"probes": probes}))
    html = report_page([read_run(folder)])
    assert ">61.2</td>" in html
    assert ">58.5</td>" in html


def test_one_row_for_a_run_has_its_last_loss_and_its_results(tmp_path):
    rows = [
        row(1, 9.0, rate=1.0),
        row(2, 5.0, bounds=(1.0, 2.5), rate=10.0),
        row(3, 4.0, bounds=(2.0, 3.0), rate=12.0),
    ]
    result = {"command": "x", "tables": {"t": {"n": 1.0}}, "accuracy": {"L": 50.25}, "done": True, "knn": 7.5}
    table = compare([read_run(make_run(tmp_path / "run", rows, result=result, seed=0))])
    expected = {"run": "run", "recipe": "demo", "seeds": 1, "steps": "3", "loss": "4.00", "bound": "2.50"}
    assert cells(table) == expected | {"images/s": "10.00", "accuracy L": "50.25", "knn": "7.50"}


def test_seeds_are_joined_with_mean_and_sample_deviation(tmp_path):
    losses, accuracies = (2.0, 3.0, 7.0), (50.0, 52.0, 57.0)
    runs = [
        read_run(
            make_run(
                tmp_path / f"seed-{seed}", [row(4, loss)], result={"linear": accuracy}, seed=seed, epochs=2
            )
        )
        for seed, (loss, accuracy) in enumerate(zip(losses, accuracies, strict=True))
    ]
    table = compare(runs)
    assert len(table.rows) == 1
    found = cells(table)
    assert (found["run"], found["seeds"], found["steps"]) == ("seed-0 … seed-2", 3, "4")
    assert found["loss"] == f"4.00 ± {sqrt((4 + 1 + 9) / 2):.2f}"
    assert found["linear"] == f"53.00 ± {sqrt((9 + 1 + 16) / 2):.2f}"
    assert found["bound"] == "1.50 ± 0.00"


def test_other_fields_and_other_recipes_are_rows_of_their_own(tmp_path):
    changes = [{"epochs": 2}, {"epochs": 3}, {"epochs": 2, "recipe": "demo_core"}, {"epochs": 2}]
    runs = [
        read_run(make_run(tmp_path / str(seed), [row(1, 2.0)], seed=seed, **change))
        for seed, change in enumerate(changes)
    ]
    assert [line[:3] for line in compare(runs).rows] == [
        ("0 … 3", "demo", 2),
        ("1", "demo", 1),
        ("2", "demo_core", 1),
    ]


def test_runs_that_failed_are_listed_too(tmp_path):
    good = read_run(make_run(tmp_path / "good", [row(1, 2.0)], result={"linear": 40.0}, seed=0))
    unfinished = read_run(make_run(tmp_path / "unfinished", [row(1, 3.0)], seed=1))
    unstarted = read_run(make_run(tmp_path / "unstarted", [], recipe="other"))
    table = compare([good, unfinished, unstarted])
    assert cells(table)["linear"] == "40.00 (1 of 2)"
    assert cells(table, 1)["loss"] is None
    broken = [
        read_run(make_run(tmp_path / f"broken{n}", [row(1, loss)]))
        for n, loss in enumerate((float("inf"), 1.0))
    ]
    assert cells(compare(broken))["loss"] == "inf ± nan"


def test_the_report_shows_what_differs_and_every_run(tmp_path):
    table = Table("Linear <probe>", ("view", "ours"), (("L", 61.234),))
    result = {"command": "coview train demo <x>", "tables": {"probe": table.record()}}
    draws = [{"draw": 512, "momentum": 0.5}, {"draw": "all", "momentum": 0.5}]
    folders = [
        make_run(
            tmp_path / f"<b>{seed}", [row(1, 2.0), row(2, 1.0)], result=result, seed=seed, negatives=draw
        )
        for seed, draw in enumerate(draws)
    ]
    html = report_page([read_run(folder) for folder in folders])
    assert "<b>0" not in html
    assert html.count('data-kind="curves"') == 3  # of both together, and of each
    assert html.count('data-kind="pairs"') == 2
    assert html.count("<td>61.2</td>") == 2
    assert "coview train demo &lt;x&gt;" in html
    differs = html[html.index("Recipe fields") : html.index("</table>", html.index("Recipe fields"))]
    assert "negatives.draw" in differs
    assert "negatives.momentum" not in differs
    assert "2 runs compared" in html


def test_many_fields_that_differ_are_folded_and_a_recipe_in_a_file_goes_by_its_name(tmp_path):
    fields = {f"part{n}": n for n in range(20)}
    one = read_run(make_run(tmp_path / "one", [row(1, 2.0)], seed=0, **fields))
    other = read_run(make_run(tmp_path / "other", [row(1, 2.0)], recipe="/home/me/mine.py:mine", seed=0))
    html = report_page([one, other])
    assert "<summary>21 fields of the recipes</summary>" in html
    assert [line[1] for line in compare([one, other]).rows] == ["demo", "mine.py:mine"]


def test_a_report_of_one_run_and_of_none(tmp_path):
    html = report_page([read_run(make_run(tmp_path / "only", [row(1, 2.0)], seed=0))])
    assert "Recipe demo" in html
    assert "What differs" not in html
    with pytest.raises(ValueError, match="at least one run"):
        report_page([])
