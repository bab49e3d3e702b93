"""The command line: what each command does, and the one line that every wrong use gets."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from command import Said

import coview
import coview.cli.probe
import coview.training
from coview.cli import main
from coview.recipes.find import shipped_recipes
from coview.training import TrainingError

TOYS = Path(__file__).parents[1] / "toys.py"
TOY = f"{TOYS}:toy"
COMMANDS = (
    *("demo", "list", "show", "look", "init", "train", "probe", "embed", "search", "export", "import"),
    *("report", "views", "mi", "choose-views", "data", "bench", "reproduce"),
)
# Those that choose their data are tested in tests/recipes.
ROOMS = [name for name, make in shipped_recipes().items() if not inspect.signature(make).parameters]
SMALL = (
    "--set",
    "data.train=24",
    "--set",
    "data.test=20",
    "--set",
    "data.size=16",
    "--set",
    "augment.size=16",
)


@pytest.fixture
def trained(tmp_path, run):
    """A run folder of two steps."""
    run("train", TOY, "--run", tmp_path / "trained", "--set", "steps=2")
    return tmp_path / "trained"


def own(tmp_path: Path, body: str, name: str = "own_recipe.py") -> str:
    """A recipe file of a user's."""
    path = tmp_path / name
    lead = "from dataclasses import replace\nfrom functools import partial\nfrom toys import *\n"
    path.write_text(f"{lead}\ndef mine():\n    {body}\n")
    return f"{path}:mine"


def whole_process(*arguments, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "coview", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    said = run(command, "--help")
    assert said.code == 0
    assert re.search(rf"Example: coview {command}\b", said.out)
    assert said.err == ""
    assert not re.search(r"--\S+ <", said.out)  # no types of Python


def test_help_of_everything(run):
    said = run("--help")
    assert said.code == 0
    for command in COMMANDS:
        (line,) = re.findall(rf"^ +{command} .*$", said.out, re.MULTILINE)
        assert line.endswith(".")
        assert "..." not in line  # in 80 columns


def test_nothing_asked_shows_the_help_as_it_is(run):
    said = run()
    text = said.out + said.err
    assert said.code in (0, 2)
    assert re.search(r"^ +train ", text, re.MULTILINE)


def test_list_names_every_recipe_with_what_it_shows(run):
    said = run("list")
    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines()][:2] == ["mine", "demo"]
    for name, make in shipped_recipes().items():
        (line,) = [line for line in said.out.splitlines() if line.split()[0] == name]
        assert make.__doc__.splitlines()[0][:40] in line


def test_show(run):
    said = run("show", "demo", "--set", "epochs=37", "--set", "encoders.ab.width=11")
    rows = dict(line.split() for line in said.out.splitlines() if len(line.split()) == 2)
    assert said.code == 0
    assert rows["epochs"] == "37"
    assert rows["encoders.ab.width"] == "11"
    assert rows["encoders.L.width"] == "24"
    assert rows["critic.temperature"] == "0.1"
    assert "L-ab, L-depth" in said.out


def test_train_refuse_resume(run, tmp_path):
    folder = tmp_path / "run"
    said = run("train", TOY, "--run", folder, "--set", "steps=5")
    assert said.code == 0
    assert f"5 steps done, in {folder}. Next:  coview probe {folder}" in said.out
    again = run("train", TOY, "--run", folder)
    assert again.code == 2
    assert (
        f"{folder} exists already: go on with it by --resume, or name another folder with --run" in again.line
    )
    on = run("train", TOY, "--run", folder, "--resume")
    assert on.code == 0
    assert "18 steps done" in on.out
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [4, 5, 6, 8, 12, 16, 18]


def test_what_was_resumed_is_what_the_run_folder_says(run, tmp_path):
    folder = tmp_path / "run"
    run("train", TOY, "--run", folder, "--set", "steps=2")
    run("train", TOY, "--run", folder, "--resume", "--set", "epochs=4")
    record = json.loads((folder / "recipe.json").read_text())
    assert (record["fields"]["epochs"], record["fields"]["steps"]) == (4, None)
    assert record["settings"] == ["epochs=4"]
    assert run("probe", folder).code == 0


def test_a_run_that_stopped_before_its_first_checkpoint_may_go_on_with_another_recipe(
    run, tmp_path, monkeypatch
):
    """What the folder says is then what was trained."""

    def stop(*arguments):
        raise KeyboardInterrupt

    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("coview.training.step.train_step", stop)
        assert run("train", TOY, "--run", folder).code == 130
    assert (
        run("train", TOY, "--run", folder, "--resume", "--set", "encoders.smell.dim=13").code == 2
    )  # sizes differ
    settings = [f"--set=encoders.{view}.hidden=[8]" for view in ("sound", "touch", "smell")]
    assert run("train", TOY, "--run", folder, "--resume", *settings).code == 0
    assert run("probe", folder).code == 0


def test_train_with_looks(run, tmp_path):
    """They are said as they come, stand in the folder, and are drawn in the report; a run goes on with them."""
    said = run("train", TOY, "--run", tmp_path / "run", "--set", "probe_every=2", "--set", "steps=7")
    assert said.code == 0, said.err
    assert "after epoch 0, % of held-out training samples: knn " in said.words
    said = run("train", TOY, "--run", tmp_path / "run", "--set", "probe_every=2", "--resume")
    assert "after epoch 2, % of" in said.words
    assert "after epoch 0" not in said.words
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows if "probes" in row] == [0, 12, 18]
    assert run("probe", tmp_path / "run").code == 0
    report = run("report", tmp_path / "run", "--out", tmp_path / "report.html")
    assert f"{rows[-1]['probes']['knn']:.2f}" in report.words
    drawn = (tmp_path / "report.html").read_text()
    looks = [row["probes"]["knn"] for row in rows if "probes" in row]
    assert '"name":"probes of held-out training samples"' in drawn
    assert f'"knn":[[0,12,18],{json.dumps(looks, separators=(",", ":"))}]' in drawn


def test_looks_without_labels(run, tmp_path):
    recipe = own(tmp_path, "return replace(toy(), data=lambda split: replace(tables(split), label=None))")
    said = run("train", recipe, "--run", tmp_path / "run", "--set", "probe_every=1")
    assert said.line == "coview: dataset 'tables' has no labels to look at: set probe_every=none"
    assert said.code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", TOY, "--set", "probe_every=0"], "probe_every must be 1 or more, got 0"),
        (["train", "demoo"], "no recipe 'demoo' (did you mean 'demo'"),
        (["train", "min"], "no recipe 'min' (did you mean 'mine'"),
        (["show", "nothing_like_it"], "no recipe 'nothing_like_it'; `coview list` names all"),
        (["train", "nowhere.py:toy"], "no file nowhere.py (looked for /"),
        (["train", f"{TOYS}:toyy"], "has no function 'toyy' (did you mean 'toy'?)"),
        (["train", f"{TOYS}"], "a recipe of your own is my_file.py:my_recipe, got '"),
        (["train", f"{TOYS}:tables"], "must"),
        (["train", f"{TOYS}:CLASSES"], "has no function 'CLASSES'"),
        (["train"], "Missing argument 'RECIPE'"),
        (["tarin", "demo"], "No such command 'tarin'"),
        (["train", "demo", "--sett", "epochs=2"], "--sett"),
        (["train", TOY, "--set", "epoch=3"], "no field 'epoch' to set in 'epoch' (did you mean 'epochs'?)"),
        (["train", TOY, "--set", "critic.temperatur=3"], "(did you mean 'temperature'?)"),
        (["show", TOY, "--set", "encoders.tuch.dim=3"], "(did you mean 'touch'?)"),
        (["show", TOY, "--set", "epochs=many"], "'epochs' is 3: wanted is int, got 'many'"),
        (["show", TOY, "--set", "epochs=none"], "'epochs' is 3: wanted is int, got 'none'"),
        (["show", TOY, "--set", "steps=two"], "'steps' is None: wanted is int"),
        (["show", TOY, "--set", "clip=soft"], "'clip' is None: wanted is float"),
        (["show", TOY, "--set", "epochs"], "--set wants name=value, got 'epochs'"),
        (["show", TOY, "--set"], "--set"),
        (["demo", "--seed", "one"], "'--seed'"),
        (["probe", "nowhere"], "nowhere is not a run folder: it has no recipe.json"),
        (["report", "nowhere"], "nowhere is no run folder"),
        (["report"], "Missing argument"),
        (["views", "demo", "--samples", "0"], "'--samples'"),
        (
            ["views", "demo", "--split", "tset", *SMALL],
            "no split 'tset' of the scenes: choose one of train, test",
        ),
    ],
)
def test_wrong_use_is_one_line_and_2(run, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    said = run(*words)
    assert message in said.line
    assert said.code == 2
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []  # nothing is begun


@pytest.mark.parametrize("words", ["linear", "mlp", "knn", "retrieval"])
def test_probe(run, trained, words):
    said = run("probe", trained, "--kind", words)
    assert said.code == 0, said.err
    numbers = {name: float(number) for name, number in re.findall(r"│ ([\w >-]+?) +│ +([\d.]+) │", said.out)}
    if words == "retrieval":
        assert len(numbers) == 6
        assert "touch->smell" in numbers
        assert "layer embedding" in said.words
    else:
        assert list(numbers) == ["sound", "touch", "smell", "all views"]
        assert min(numbers.values()) > 50  # of four classes; noise is small
        assert "layer hidden1" in said.words
    assert "step 2" in said.words


def test_probe_of_some_views_at_a_layer(run, trained):
    said = run("probe", trained, "--view", "smell", "--view", "sound", "--layer", "embedding")
    assert "smell + sound" in said.out
    assert "layer embedding" in said.words
    assert "touch" not in said.out


def cells(said: Said) -> list[list[str]]:
    """The rows of the table that was shown, with its head."""
    head = next(line for line in said.out.splitlines() if line.startswith("┃"))
    lines = [head.replace("┃", "│"), *(line for line in said.out.splitlines() if line.startswith("│"))]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_probe_of_every_layer_view_and_kind(run, trained):
    said = run("probe", trained, "--layer", "all", "--kind", "all", "--protocol", "paper-stl10")
    assert said.code == 0, said.err
    head, *rows = cells(said)
    assert head == ["layer", "view", "linear", "mlp", "knn", "chance"]
    views = ["sound", "touch", "smell", "all views"]
    assert [row[:2] for row in rows] == [
        [layer, view] for layer in ("hidden1", "embedding") for view in views
    ]
    records = json.loads((trained / "probes.json").read_text())["probes"]
    assert len(records) == 2 * 4 * 3
    shown = {(row[0], row[1], kind): row[2 + n] for row in rows for n, kind in enumerate(head[2:5])}
    for one in records:
        assert shown[one["layer"], one["view"], one["kind"]] == f"{one['accuracy']:.1f}"
        assert (one["encoders"], one["protocol"], one["step"]) == ("trained", "paper-stl10", 2)
        assert one["seconds"] > 0
    assert {tuple(one["views"]) for one in records if one["view"] == "all views"} == {tuple(views[:3])}


def test_probe_beside_its_bounds(run, trained):
    words = ["--bounds", "--layer", "hidden1", "--view", "sound", "--kind", "linear", "--kind", "knn"]
    said = run("probe", trained, *words, "--supervised-epochs", 15)
    assert said.code == 0, said.err
    head, *rows = cells(said)
    assert head == ["kind", "view", "random", "trained", "supervised", "chance"]
    assert [row[:2] for row in rows] == [["linear", "sound"], ["knn", "sound"]]
    records = json.loads((trained / "probes.json").read_text())["probes"]
    assert [one["encoders"] for one in records] == ["random"] * 2 + ["trained"] * 2 + ["supervised"] * 2
    assert len({one["accuracy"] for one in records if one["kind"] == "linear"}) > 1


def test_a_probe_is_kept_once_and_beside_the_others(run, trained):
    run("probe", trained, "--view", "sound")
    run("probe", trained, "--view", "sound", "--protocol", "advised")
    run("probe", trained, "--view", "sound")
    records = json.loads((trained / "probes.json").read_text())["probes"]
    assert [one["protocol"] for one in records] == ["advised", "ours"]
    assert [one["held_out"] is None for one in records] == [False, False]  # each chose, of training samples


def test_probe_on_augmented_samples(run, trained):
    said = run("probe", trained, "--augmented", "--protocol", "paper", "--view", "sound", "--view", "smell")
    assert said.code == 0, said.err
    (record,) = json.loads((trained / "probes.json").read_text())["probes"]
    assert (record["augmented"], record["view"], record["learning_rate"]) == (True, "sound + smell", 0.1)
    assert f"{record['accuracy']:.1f}" in said.out


def test_segments_on_the_page_of_a_report(run, trained, tmp_path):
    """Of frames, when they are asked for; of other data it is said that there are none."""
    small = {"data.samples": 24, "batch_size": 8, "steps": 1, "compile": False, "encoders.L.make.width": 0.1}
    settings = [word for name, value in small.items() for word in ("--set", f"{name}={value}")]
    assert run("train", "nyu_one@scenes", "--run", tmp_path / "frames", *settings).code == 0
    page = tmp_path / "report.html"
    both = (tmp_path / "frames", trained)
    assert run("report", *both, "--samples", "0", "--segments", "1", "--out", page).code == 0
    text = page.read_text()
    assert "Segments read from L" in text
    assert text.count("data:image/png") == 1
    assert "has no segments: frames need label/" in text


def test_probes_on_the_page_of_a_report(run, trained, tmp_path):
    run("probe", trained, "--kind", "all", "--view", "sound")
    assert run("report", trained, "--out", tmp_path / "report.html").code == 0
    text = (tmp_path / "report.html").read_text()
    records = json.loads((trained / "probes.json").read_text())["probes"]
    for record in records:
        assert f">{record['accuracy']:.1f}</td>" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--view", "tuch"], "no view 'tuch' (did you mean 'touch'?); it has sound, touch, smell"),
        (["--kind", "svm"], "--kind must be one of linear, mlp, knn, all or retrieval, got 'svm'"),
        (["--kind", "retreival"], "got 'retreival' (did you mean 'retrieval'?)"),
        (["--kind", "retrieval", "--kind", "knn"], "--kind retrieval stands alone"),
        (["--kind", "retrieval", "--bounds"], "--kind retrieval stands alone"),
        (["--layer", "hiden1"], "MLP has no layer 'hiden1'; it has 'hidden1', 'embedding'"),
        (
            ["--layer", "hidden1", "--layer", "hiden2"],
            "MLP has no layer 'hiden2'; it has 'hidden1', 'embedding'",
        ),
        (["--protocol", "papr"], "no protocol 'papr' (did you mean 'paper'"),
        (["--augmented"], "a linear probe by protocol 'ours' needs features that are kept"),
        (["--augmented", "--protocol", "paper", "--kind", "knn"], "a knn probe by protocol 'paper' needs"),
        (["--supervised-epochs", "0"], "'--supervised-epochs'"),
    ],
)
def test_probe_asked_wrongly(run, trained, words, message):
    said = run("probe", trained, *words)
    assert message in said.line
    assert said.code == 2


def test_probe_without_labels(run, tmp_path):
    recipe = own(
        tmp_path, "return replace(toy(), data=lambda split: replace(tables(split), label=None, classes=()))"
    )
    run("train", recipe, "--run", tmp_path / "run", "--set", "steps=1")
    said = run("probe", tmp_path / "run")
    assert (said.code, "has no labels: --kind retrieval needs none" in said.line) == (2, True)
    assert run("probe", tmp_path / "run", "--kind", "retrieval").code == 0


def test_probe_from_another_folder(run, tmp_path, monkeypatch):
    """A recipe file is found again, wherever one is."""
    own(tmp_path, "return toy()", "portable.py")
    monkeypatch.chdir(tmp_path)
    assert run("train", "portable.py:mine", "--run", "run", "--set", "steps=1").code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("probe", "../run").code == 0


def test_a_file_named_like_a_module_of_python(run, tmp_path):
    import statistics

    recipe = own(tmp_path, "return toy()", "statistics.py")
    assert run("train", recipe, "--run", tmp_path / "run", "--set", "steps=1").code == 0
    assert sys.modules["statistics"] is statistics


def test_a_run_without_a_checkpoint(run, trained):
    for checkpoint in (trained / "checkpoints").iterdir():
        checkpoint.unlink()
    said = run("probe", trained)
    assert f"{trained} has no checkpoint yet: train it with --resume" in said.line
    assert said.code == 2


def test_a_recipe_that_changed_since(run, tmp_path):
    recipe = own(tmp_path, "return replace(toy(), batch_size=8)")
    run("train", recipe, "--run", tmp_path / "run", "--set", "steps=1")
    own(tmp_path, "return replace(toy(), batch_size=8, probe_layer='embedding', epochs=12)")
    assert run("probe", tmp_path / "run").code == 0  # none of it changes what was trained so far
    own(tmp_path, "return replace(toy(), batch_size=24, momentum=0.8)")
    said = run("probe", tmp_path / "run")
    assert "has changed since" in said.line
    assert said.line.endswith("batch_size, momentum differ")
    assert said.code == 2


def test_a_run_from_python(run, tmp_path):
    from toys import toy

    coview.training.fit(coview.training.override(toy(), ["steps=1"]), tmp_path / "run")
    said = run("probe", tmp_path / "run")
    assert "was trained from Python: open it there" in said.line
    assert said.code == 2


@pytest.mark.parametrize("command", ["probe", "report"])
def test_a_record_that_was_cut_off(run, trained, command):
    (trained / "recipe.json").write_text('{"recipe": ')
    said = run(command, trained)
    assert "recipe.json is not valid JSON" in said.line
    assert said.code == 2


@pytest.mark.parametrize("words", [["train", TOY, "--resume", "--run"], ["probe"]])
def test_a_checkpoint_that_was_cut_off(run, trained, words):
    path = trained / "checkpoints/step-00000002.pt"
    path.write_bytes(path.read_bytes()[:1000])
    said = run(*words, trained)
    assert f"{path} is cut off or no checkpoint (1,000 bytes): delete it" in said.line
    assert said.code == 2


def test_a_run_folder_that_cannot_be(run, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    said = run("train", TOY, "--run", tmp_path / "file")
    assert (said.code, "exists already" in said.line) == (2, True)
    said = run("train", TOY, "--run", tmp_path / "file/run")
    assert "Not a directory" in said.line
    assert "unexpected" not in said.line
    assert said.code == 1


def test_a_loss_that_is_nan_is_1(run, tmp_path):
    loss = "lambda samples: lambda query, candidates: query.sum(1) * float('nan')"
    said = run("train", own(tmp_path, f"return replace(toy(), loss={loss})"), "--run", tmp_path / "run")
    assert said.line.startswith("coview: the loss 'sound->touch' is nan at step 1: training stops")
    assert said.code == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_not_foreseen_has_a_traceback_with_debug_alone(run, tmp_path, monkeypatch, place):
    words = ["show", own(tmp_path, "return 1 / 0")]
    said = run(*words)
    assert said.line == "coview: unexpected ZeroDivisionError: division by zero (--debug shows where)"
    assert said.code == 1
    words.insert(place, "--debug")
    monkeypatch.setattr(sys, "argv", ["coview", *words])
    with pytest.raises(ZeroDivisionError):
        main()


def test_a_file_that_python_cannot_read(run, tmp_path):
    (tmp_path / "broken.py").write_text("def recipe(:\n")
    said = run("show", f"{tmp_path / 'broken.py'}:recipe")
    assert "SyntaxError" in said.line
    assert said.code == 1


def test_interrupted(run, tmp_path, monkeypatch):
    def stop(*arguments, **rest):
        raise KeyboardInterrupt

    monkeypatch.setattr(coview.training, "fit", stop)
    said = run("train", TOY, "--run", tmp_path / "run")
    assert said.line == "coview: interrupted: if training had begun, --resume goes on"
    assert said.code == 130
    monkeypatch.setattr(coview.cli.probe, "probe_run", stop)
    assert run("probe", tmp_path).line == "coview: interrupted"


@pytest.mark.parametrize("rank", [0, 1])
def test_of_several_processes_each_says_what_only_it_met(run, tmp_path, monkeypatch, rank):
    def stop(*arguments, **rest):
        raise TrainingError("view 'touch' is not finite at sample 37")

    monkeypatch.setattr(coview.training, "fit", stop)
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert "at sample 37" in run("train", TOY, "--run", tmp_path / "run").line
    wrong = run("train", "demoo")  # all of them meet this
    assert (wrong.code, len(wrong.err.splitlines())) == (2, 1 - rank)


def test_report(run, trained, tmp_path):
    run("train", TOY, "--run", tmp_path / "other", "--set", "steps=2", "--set", "seed=5")
    out = tmp_path / "pages/report.html"
    said = run("report", trained, tmp_path / "other", "--out", out)
    assert said.code == 0
    assert f"Written: {out}" in said.out
    assert "trained … other" in said.out  # differing in their seed alone, one row
    text = out.read_text()
    assert text.startswith("<!doctype html>")
    assert text.count('data-kind="curves"') == 3
    assert text.count('data-kind="samples"') == 2
    assert text.count('class="confusion"') == 2
    assert "toys.py:toy" in text


@pytest.mark.parametrize("recipe", ["demo", "demo_gaps", TOY])
def test_views(run, tmp_path, recipe):
    from PIL import Image

    settings = ["--set", "data.train=8", "--set", "data.test=8"] if recipe != TOY else []
    sizes = []
    for samples in (3, 5):
        out = tmp_path / f"sheets/{samples}.png"
        said = run("views", recipe, *settings, "--out", out, "--samples", samples, "--augmented")
        assert (said.code, f"Written: {out}" in said.out) == (0, True)
        with Image.open(out) as image:
            assert image.format == "PNG"
            sizes.append(image.size)
    assert sizes[0] != sizes[1]


@pytest.mark.parametrize("name", ROOMS)
def test_every_shipped_recipe_of_rooms_takes_two_steps(run, tmp_path, name):
    settings = ["--set", "steps=2", "--set", "batch_size=12", "--set", "log_every=1"]
    said = run("train", name, "--run", tmp_path / name, *SMALL, *settings)
    assert said.code == 0, said.err
    rows = [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2]
    terms = [pair.name for pair in shipped_recipes()[name]().graph.directed()]
    assert list(rows[-1]["terms"]) == terms
    assert run("probe", tmp_path / name, "--kind", "retrieval").code == 0


def test_the_command_to_go_on_stays_one_line(tmp_path):
    """In a pipe of 80 columns too, so that it can be copied; here from a process of its own."""
    folder = tmp_path / ("a folder with a name as long as a name of a folder " + "can be " * 6).strip()
    done = whole_process("train", TOY, "--run", folder, "--set", "steps=1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"coview probe '{folder}'\n")


def test_wrong_use_of_a_process_of_its_own():
    done = whole_process("train", "demoo")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    done = whole_process("--version-of-nothing")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


def test_the_version_is_that_of_the_package(run):
    said = run("--version")
    assert said.code == 0
    assert said.out.startswith(f"coview {coview.__version__}, torch {torch.__version__}")
