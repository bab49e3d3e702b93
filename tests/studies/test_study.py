"""A study of toys from plan to table: run, stopped, taken up, failed in part, and refused where it cannot be right."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import toy_study
from rich.console import Console

from coview.studies import Place
from coview.studies.carry_out import carry_out
from coview.studies.find import find_study
from coview.studies.job import spell
from coview.studies.pace import read_pace
from coview.studies.plan import choose, make_plan, slug
from coview.studies.table import lines_of
from coview.studies.write import write_results

COMMAND = "coview reproduce toys"
WHEN = re.compile(r"\| +[\d.,]+ \| +[\d.,]+ \| +0\.00 \|$", re.MULTILINE)  # minutes and images/s differ


class Display:
    """What a study tells, and an observer that can stop it."""

    def __init__(self, stop_in: str = "") -> None:
        self.said, self.stop_in = [], stop_in

    def __call__(self, title):
        self.title = title
        return self

    def __enter__(self):
        return self.observe

    def __exit__(self, *error):
        return None

    def observe(self, row):
        if self.title == self.stop_in and row["step"] > 6:
            raise KeyboardInterrupt


def planned(tmp_path, study=None, **more):
    return make_plan(study or toy_study.toys(), Place(data="tables", runs=tmp_path / "runs"), **more)


def run(plan, out, display=None):
    display = display or Display()
    try:
        carry_out(plan.todo, display.said.append, display, lambda: None)
    finally:
        write_results(plan, out, COMMAND)
    return display


def table(out: Path) -> str:
    return WHEN.sub("", (out / "table.md").read_text())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The study as it is, run once for all tests that only look."""
    base = tmp_path_factory.mktemp("whole")
    display = run(planned(base), base / "out")
    return base, display


def test_every_number_of_the_table_is_from_a_run_folder(whole):
    base, _ = whole
    plan, text = planned(base), (base / "out/table.md").read_text()
    for line in lines_of(plan):
        jobs = [job for job in plan.jobs if job.row.name == line.name]
        for column, found in line.numbers.items():
            kept = [json.loads((job.folder / "result.json").read_text())["measured"][column] for job in jobs]
            assert list(found.values) == kept
            assert str(found) in text
    assert [line.name for line in lines_of(plan) if line.numbers] == [
        "five negatives",
        "twenty negatives",
        "random",
        "supervised",
    ]
    assert re.search(r"five negatives +\| +\S+ ± \S+ \| +61\.25 \|", text)  # the paper's number beside ours
    assert re.search(r"another paper's +\| +– \| +33\.00 \|", text)  # as many decimals as its neighbours


def test_the_table_says_what_holds_and_where_it_is_from(whole):
    base, _ = whole
    text = (base / "out/table.md").read_text()
    assert re.search(r"- twenty beat random: \*\*(holds|does not hold|cannot be said)\*\* \(.+\)", text)
    assert f"`{COMMAND}`" in text
    assert re.search(r"machine: .+; commit \S+\n- torch \S+; \d{4}-\d\d-\d\d", text)
    assert "Failed" not in text


def test_the_record_has_all_runs_and_what_they_ran_on(whole):
    base, _ = whole
    record = json.loads((base / "out/result.json").read_text())
    assert [(one["row"], one["seed"]) for one in record["runs"]] == [
        (job.row.name, job.seed) for job in planned(base).jobs
    ]
    first = record["runs"][0]
    assert set(first["measured"]) == {"hidden", "kNN"} == set(first["how"]) == set(first["seconds"])
    assert first["trained"]["steps"] == 18
    by_hand = sum(size * 32 + 2 * 32 + (32 + 1) * 11 for size in (9, 5, 7))  # a batch norm, no bias before it
    assert first["trained"]["parameters"] == by_hand
    assert first["versions"]["packages"]["torch"]
    assert (Path(first["folder"]) / "recipe.json").is_file()
    assert record["claims"][1]["verdict"] in ("holds", "does not hold", "cannot be said")


def test_the_figure_is_a_picture(whole):
    from PIL import Image

    with Image.open(whole[0] / "out/figure.png") as image:
        assert image.size[0] > 600
        assert len(image.convert("RGB").getcolors(1 << 20)) > 5


def test_seeds_differ_and_rows_do(whole):
    base, _ = whole
    weights = {}
    for job in planned(base).jobs:
        rows = (
            (job.folder / "metrics.jsonl").read_text().splitlines()
            if job.steps and job.row.way.name == "contrast"
            else []
        )
        if rows:
            weights[job.name] = json.loads(rows[-1])["loss"]
    assert len(set(weights.values())) == len(weights) == 4


def test_each_run_can_be_probed_and_gone_on_with_on_its_own(whole):
    from coview.cli.probe import Options, probe_run

    folder = whole[0] / "runs/toys/tables/five-negatives-seed1"
    found = probe_run(folder, Options(kinds=("knn",)), Console())
    assert found.rows[-1][0] == "all views"
    kept = json.loads((folder / "result.json").read_text())["measured"]["hidden"]
    assert found.rows[-1][1] == kept


def test_what_is_done_is_not_done_again(whole):
    base, _ = whole
    plan = planned(base)
    assert plan.todo == []
    before = (base / "out/table.md").read_text()
    write_results(plan, base / "out", COMMAND)
    assert (base / "out/table.md").read_text() == before


def test_stopped_and_taken_up_it_is_the_same_table(whole, tmp_path):
    plan, stop_in = planned(tmp_path), "five negatives, seed 1"
    with pytest.raises(KeyboardInterrupt):
        run(plan, tmp_path / "out", Display(stop_in))
    part = next(job for job in plan.jobs if job.name == stop_in)
    assert [path.name for path in (part.folder / "checkpoints").iterdir()] == ["step-00000006.pt"]
    assert "–" in table(tmp_path / "out")  # what is there so far is written all the same
    done = [job.name for job in plan.jobs if job.done]
    assert stop_in not in done
    display = run(planned(tmp_path), tmp_path / "out")
    assert display.said
    assert not any(said.startswith(done[0]) for said in display.said)
    assert table(tmp_path / "out").replace(str(tmp_path), "") == table(whole[0] / "out").replace(
        str(whole[0]), ""
    )


def test_a_probe_that_is_there_is_kept_and_one_that_changed_is_taken_again(whole, tmp_path):
    shutil.copytree(whole[0] / "runs", tmp_path / "runs")
    study = toy_study.toys()
    first = toy_study.rows("tables")[0]
    changed = replace(
        first, measures={**first.measures, "kNN": toy_study.partial(toy_study.accuracy, kind="linear")}
    )
    plan = planned(tmp_path, replace(study, rows=lambda data: [changed]))
    assert [list(job.unmeasured()) for job in plan.jobs] == [["kNN"], ["kNN"]]
    display = run(plan, tmp_path / "out")
    assert not any("hidden" in said for said in display.said)
    assert all(job.done for job in plan.jobs)


def test_probes_are_fitted_by_another_protocol(whole, tmp_path):
    shutil.copytree(whole[0] / "runs", tmp_path / "runs")
    place = Place(data="tables", runs=tmp_path / "runs", protocol="advised")
    plan = make_plan(toy_study.toys(), place, pattern="random")
    spelled = {spell(one) for job in plan.jobs for one in job.row.measures.values()}
    assert all('protocol="advised"' in one for one in spelled)
    assert [list(job.unmeasured()) for job in plan.todo] == [["hidden", "kNN"]] * 2
    with pytest.raises(ValueError, match=r"no protocol 'advisd' \(did you mean 'advised'"):
        make_plan(toy_study.toys(), replace(place, protocol="advisd"))


def test_a_run_that_fails_is_listed_and_the_others_go_on(tmp_path):
    study = toy_study.with_failure()
    plan = make_plan(study, Place(data="tables", runs=tmp_path / "runs"))
    display = run(plan, tmp_path / "out")
    text = (tmp_path / "out/table.md").read_text()
    assert re.search(r"\| broken +\| failed \|", text)
    assert "- broken, seed 0: RuntimeError: the bank is closed\n" in text
    assert [job.done for job in plan.jobs] == [True, False, True]
    assert any("failed, the others go on" in said for said in display.said)
    columns = text.splitlines()[4]
    assert all(name in columns for name in ("sound", "touch", "smell", "all views", "R@1"))
    assert [job.name for job in make_plan(study, plan.place).todo] == ["broken, seed 0"]  # to be tried again


def test_rows_are_chosen_by_part_of_their_name(tmp_path):
    rows = toy_study.rows("tables")
    assert choose(rows, None) == ["five negatives", "twenty negatives", "random", "supervised"]
    assert choose(rows, "NEG") == ["five negatives", "twenty negatives"]
    assert choose(rows, "t*") == ["twenty negatives"]
    with pytest.raises(ValueError, match=r"no row fits --rows 'randon' \(did you mean 'random'\?\)"):
        choose(rows, "randon")
    plan = planned(tmp_path, pattern="random", seeds=[4])
    assert [job.name for job in plan.todo] == ["random, seed 4"]
    assert len(plan.jobs) == 4


def test_other_settings_in_the_same_folder_are_refused(whole):
    with pytest.raises(ValueError, match="was trained with epochs = 3, wanted is 5: set it back"):
        planned(whole[0], settings=["epochs=5"])
    with pytest.raises(ValueError, match=r"no field 'epoch' to set .*did you mean 'epochs'"):
        planned(whole[0], settings=["epoch=5"])


def test_settings_reach_the_rows_that_have_them(tmp_path):
    plan = planned(tmp_path, settings=["epochs=6", "critic.temperature=0.2"])
    assert {job.recipe.epochs for job in plan.jobs} == {6}
    assert {job.recipe.milestones for job in plan.jobs if job.row.way.name == "contrast"} == {(4,)}
    assert {job.recipe.critic().temperature for job in plan.jobs} == {0.2}


def test_other_data_are_fitted_by_name(tmp_path):
    plan = make_plan(toy_study.toys(), Place(data="tables48", runs=tmp_path / "runs"))
    job = plan.jobs[0]
    assert (job.samples, job.steps, len(job.recipe.data("train"))) == (48, 9, 48)
    assert job.folder == tmp_path / "runs/toys/tables48/five-negatives-seed0"
    write_results(plan, tmp_path / "out", COMMAND)
    assert "the paper's numbers are of tables, those here of tables48. As many samples" in table(
        tmp_path / "out"
    )


def test_the_time_left_is_estimated_from_runs_of_the_same_kind(whole, tmp_path):
    shutil.copytree(whole[0] / "runs", tmp_path / "runs")
    shutil.rmtree(tmp_path / "runs/toys/tables/five-negatives-seed1")
    plan = planned(tmp_path)
    pace = read_pace(plan.jobs)
    kin, left = plan.jobs[0], plan.todo[0]
    rate = pace.rates[kin.folder]
    measures = sum(pace.measures[spell(one)] for one in left.row.measures.values())
    assert pace.seconds_left(left) == pytest.approx(18 * 16 / rate + measures)
    assert pace.seconds_left(kin) == 0
    new = planned(tmp_path / "new")
    assert read_pace(new.jobs).seconds_left(new.jobs[0]) is None


def test_runs_with_looks_at_the_encoders_are_timed_and_probed_like_others(tmp_path):
    """Rows of looks have no loss and no rate."""
    plan = planned(tmp_path, pattern="five", settings=["probe_every=1"])
    todo = plan.todo
    run(plan, tmp_path / "out")
    assert todo
    for job in todo:
        assert job.done
        assert job.result()["trained"]["rate"] > 0
        lines = (job.folder / "metrics.jsonl").read_text().splitlines()
        assert any("probes" in json.loads(line) for line in lines)
        assert all("loss" in row for row in job.history())


def test_folders_are_named_so_that_every_system_takes_them():
    assert slug("CMC, exact softmax") == "cmc-exact-softmax"
    assert slug("/data/My Pictures/") == "my-pictures"
    assert slug("x0.5, {Y, DbDr}") == "x0.5-y-dbdr"


def test_a_study_of_the_users_own():
    assert find_study(f"{toy_study.HERE}:toys").name == "toys"
    with pytest.raises(ValueError, match=r"must return a coview\.studies\.Study, got a list"):
        find_study(f"{toy_study.HERE}:nothing")
    with pytest.raises(ValueError, match=r"no study 'negativ'"):
        find_study("negativ")
    with pytest.raises(ValueError, match=r"has no function 'toy_'.*it has"):
        find_study(f"{toy_study.HERE}:toy_")
