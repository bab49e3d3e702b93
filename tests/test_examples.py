"""Examples and documents: they run as they stand, and what they print is right."""

import json
import re
import runpy
import shlex
from pathlib import Path

import pytest
import torch
import typer.main
from command import run as run  # the command line as a fixture
from torch.nn.functional import normalize

from coview.cli.app import app
from coview.contrast import Bank, CosineCritic, Objective, full_graph
from coview.probes import layer_features
from coview.recipes.find import find_recipe
from coview.training import Recipe, override
from coview.training.fabric import make_fabric
from coview.training.state import prepare
from coview.views import cut

HOME = Path(__file__).parents[1]
EXAMPLES = HOME / "examples"
COMMANDS: dict = typer.main.get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
RECIPES = ("own_view", "own_encoder", "own_dataset", "own_recipe:stars")


def numbers(line: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+\.\d+", line)]


def run_example(name: str, capsys, folder: Path, monkeypatch) -> list[str]:
    """The lines that an example prints; it must leave nothing behind."""
    monkeypatch.chdir(folder)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert not list(folder.iterdir())
    return [line for line in capsys.readouterr().out.splitlines() if line.strip()]


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE)


def test_every_example_is_tested():
    named = {recipe.partition(":")[0] for recipe in RECIPES} | {"one_page"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == named


def test_own_view_is_found_from_other_views_and_finds_them(tmp_path, monkeypatch, capsys):
    printed = run_example("own_view", capsys, tmp_path, monkeypatch)
    found = {line.split()[0]: numbers(line) for line in printed[1:]}
    assert len(found) == 8
    assert all(chance == 0.5 for _, chance in found.values())
    for pair in ("L->drawing", "depth->drawing", "normal->drawing", "drawing->depth", "drawing->normal"):
        assert found[pair][0] >= 2.5, pair  # five times chance; the seed is fixed


def test_own_encoder_learns(tmp_path, monkeypatch, capsys):
    printed = run_example("own_encoder", capsys, tmp_path, monkeypatch)
    found = {tuple(line.split()[:2]): numbers(line) for line in printed[1:]}
    for pair in ("depth->normal", "normal->depth"):
        first, among_ten = found["trained", pair]
        assert first > 1.25  # five times chance
        assert among_ten > 15  # chance is 2.5
        assert found["random", pair][1] < 8


def test_own_encoder_names_layers_for_the_probes():
    recipe, _ = find_recipe(f"{EXAMPLES / 'own_encoder.py'}:own_encoder")
    encoder, view = recipe.encoders["normal"](), torch.randn(3, 3, 32, 32)
    sizes = {layer: layer_features(encoder, view, layer).shape for layer in ("patches", "seen", "embedding")}
    assert sizes == {"patches": (3, 64 * 8 * 8), "seen": (3, 16 * 64), "embedding": (3, 64)}


def test_own_dataset_learns_in_spite_of_gaps(tmp_path, monkeypatch, capsys):
    _, random, trained = (numbers(line) for line in run_example("own_dataset", capsys, tmp_path, monkeypatch))
    assert trained[0] > random[0] + 5
    assert trained[1] > 85
    recipe, _ = find_recipe(f"{EXAMPLES / 'own_dataset.py'}:own_dataset", ["data.samples=200"])
    data = recipe.data("train")
    missing = ~data.present["sound"]
    assert 60 < missing.sum() < 140
    assert torch.equal(data.fields["sound"].isnan().all(1), missing)
    assert not data.fields["sound"][~missing].isnan().any()


def test_own_recipe_learns(tmp_path, monkeypatch, capsys):
    printed = run_example("own_recipe", capsys, tmp_path, monkeypatch)
    losses = [numbers(line)[0] for line in printed if line.startswith("epoch")]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) == 3
    random, trained = (numbers(line) for line in printed if line.split()[0] in ("random", "trained"))
    assert sum(trained[:3]) > sum(random[:3]) + 4  # of the views one by one; together they vary by the seed
    first, among_ten = zip(*(numbers(line) for line in printed if "->" in line), strict=True)
    assert len(first) == 6
    assert min(first) > 2  # chance is 0.1
    assert min(among_ten) > 15  # chance is 1


def test_one_page_learns(tmp_path, monkeypatch, capsys):
    printed = run_example("one_page", capsys, tmp_path, monkeypatch)
    losses = [numbers(line)[0] for line in printed if line.startswith("epoch")]
    assert losses[-1] < 4 < 6.9 < losses[0]  # at first about log(1024) = 6.93 or more
    found = [numbers(line)[0] for line in printed if "->" in line]
    assert len(found) == 6
    assert min(found) > 20  # chance is 0.2


def test_one_page_is_the_method():
    """Loss, gradient and memory of the page equal the library's, on the same embeddings and bank."""
    page = runpy.run_path(str(EXAMPLES / "one_page.py"))
    views, samples, dim = list(page["VIEWS"]), 37, page["DIM"]
    bank = page["make_bank"](samples)
    memory = Bank(views, samples, dim, draw="all", momentum=page["MOMENTUM"])
    for view in views:
        memory.rows(view).copy_(bank[view])
        # both start in the same box, from -(3 / D)^(1/2) to (3 / D)^(1/2)
        assert bank[view].abs().max() <= (3 / dim) ** 0.5
    objective = Objective(full_graph(views), CosineCritic(page["TEMPERATURE"]), memory)
    for _ in range(3):  # the second and third time with what was remembered
        index = torch.randperm(samples)[:13]
        embeddings = {view: torch.randn(13, dim, requires_grad=True) for view in views}
        ours, theirs = page["objective"](embeddings, bank, index), objective(embeddings, index)
        assert ours.keys() == theirs.keys()
        for pair in ours:
            torch.testing.assert_close(ours[pair], theirs[pair], rtol=1e-5, atol=1e-5)
        slopes = [
            torch.autograd.grad(sum(terms.values()), list(embeddings.values())) for terms in (ours, theirs)
        ]
        torch.testing.assert_close(slopes[0], slopes[1], rtol=1e-4, atol=1e-5)
        page["remember"](embeddings, bank, index)
        objective.remember(embeddings, index)
        for view in views:
            torch.testing.assert_close(bank[view], memory.rows(view))
            torch.testing.assert_close(bank[view][index], normalize(bank[view][index], dim=1))


def test_one_page_needs_nothing_of_the_library():
    assert "coview" not in re.findall(
        r"^\s*(?:import|from) (\w+)", (EXAMPLES / "one_page.py").read_text(), re.M
    )


@pytest.mark.parametrize("name", RECIPES)
def test_examples_train_from_the_command_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(HOME)
    file, _, function = name.partition(":")
    recipe = f"examples/{file}.py:{function or file}"
    folder = tmp_path / "run"
    command = ["train", recipe, "--set", "steps=2", "--run", str(folder)]
    app(command, prog_name="coview", standalone_mode=False)
    assert list((folder / "checkpoints").iterdir())


def test_adding_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_blocks(HOME / "docs" / "adding.md")
    mine, training = names["mine"], names["training"]
    assert training.step == 2
    assert training.recipe is mine
    assert set(training.encoders.state_dict()) > {"near.embedding.weight"}
    assert [edge[:2] for edge in names["patchy"].graph.edges][:2] == [("L", "ab:conv2"), ("L", "ab:conv3")]
    asides = {"patchy": "L->ab:conv2", "guess": "L->depth", "puzzled": "L->ab", "headed": "L->ab"}
    for aside, first in ((names[name], pair) for name, pair in asides.items()):
        embeddings, terms = first_terms(aside)
        assert next(iter(terms)) == first
        assert all(term.isfinite() for term in terms.values())
        assert embeddings["L"].shape == (32, 64)
    # the parts of the page are in the recipe, and their numbers can be set
    changed = override(
        mine, ["views.near.metres=1", "critic.temperature=0.5", "negatives.gap=7", "loss.margin=3"]
    )
    assert changed.critic().temperature == 0.5
    assert changed.negatives([], 9, 5).gap == 7
    runs = {path.name: path for path in (tmp_path / "runs").iterdir()}
    assert sorted(runs) == ["forecast", "mine", "often"]
    rows = [json.loads(line) for line in (runs["often"] / "metrics.jsonl").read_text().splitlines()]
    looks = [row for row in rows if "probes" in row]
    assert [row["step"] for row in looks] == [0, 8]
    assert list(looks[0]["probes"])[:3] == ["knn", "linear", "L->ab"]
    assert len(names["accuracies"]) == 2 * 2 * 5  # layers, kinds, and four views with all of them


def first_terms(recipe: Recipe) -> tuple[dict, dict]:
    """What the encoders of a recipe say of a batch, and what its objective makes of that."""
    training = prepare(recipe, recipe.data("train"), make_fabric(recipe))
    batch = cut(recipe.data("train").fetch(torch.arange(recipe.batch_size)), recipe.views)
    embeddings = training.encoders(batch.views)
    return embeddings, training.objective(embeddings, batch.index, views=batch.views)


def test_images_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_blocks(HOME / "docs" / "images.md")
    assert (len(names["rest"]), len(names["part"])) == (50, 10)  # of six rooms of a kind, one


def test_adding_losses_and_critics_are_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_blocks(HOME / "docs" / "adding.md")
    critic = names["SquaredDistance"](0.4)
    one, other = torch.randn(2, 7, 5).unbind()
    distance = (normalize(one, dim=1) - normalize(other, dim=1)).square().sum(1)
    score = (critic(one) * critic.key(other)).sum(1)
    torch.testing.assert_close(score - 2 / 0.4, -distance / 0.4)
    candidates = names["FarInTime"](4).candidates("L", other, torch.tensor([0, 9, 3, 4, 20, 17, 50]))
    assert candidates.valid[0].tolist() == [True, True, False, True, True, True, True]
    loss = names["margin_loss"](one, candidates, margin=1.0)
    for row, value in enumerate(loss.tolist()):
        scores = one[row] @ other.T
        wrong = max(float(scores[k]) for k in range(7) if k != row and candidates.valid[row, k])
        assert value == pytest.approx(max(1 + wrong - float(scores[row]), 0), abs=1e-5)


def test_the_page_of_the_estimator_runs_as_it_stands():
    pytest.importorskip("sklearn")
    names = run_blocks(HOME / "docs" / "estimator.md")
    assert names["features"].shape[0] == 300
    assert names["search"].best_score_ > 0.8


def test_the_page_of_your_own_data_runs_as_it_stands(run, tmp_path, monkeypatch):
    """Its Python makes the data, and `coview look` says of them what stands there."""
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    page = HOME / "docs" / "your-data.md"
    run_blocks(page)
    shown = re.findall(r"^\$ coview look (\S+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    assert [place for place, _ in shown] == ["rooms", "wines.csv", "digits.npz"]
    for place, said in shown:
        assert words(run("look", place).out) == words(said)


def words(table: str) -> list[str]:
    """Cells and sentences, however wide the screen was that they were drawn for."""
    return re.sub(r"[^\w.,%:]+", " ", re.sub(r"[━─│┃┏┓┗┛┡┩┳┻╇└┘┴]", " ", table)).split()


def test_the_page_of_information_runs_as_it_stands(capsys):
    found = run_blocks(HOME / "docs" / "information.md")["found"]
    assert 1.8 < found.nats < 2.1
    assert f"{found.nats:.3f}" in capsys.readouterr().out


def test_messages_of_adding_exist():
    """Every message in the table is one that the library has, but for what stands in the place of an ellipsis."""
    library = "\n".join(path.read_text() for path in (HOME / "coview").rglob("*.py"))
    text = re.sub(r'"\s*f?"', "", library)  # join literals that were broken over lines
    rows = re.findall(r"^\| `(.+?)` \|", (HOME / "docs" / "adding.md").read_text(), re.MULTILINE)
    assert len(rows) > 10
    for message in rows:
        pieces = [re.escape(piece) for piece in message.split("…")]
        assert re.search(r".{1,60}?".join(pieces), text), message


def test_links_of_documents_lead_somewhere():
    for document in [HOME / "README.md", *(HOME / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_readme_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(HOME / "README.md")


def test_readme_commands_exist(tmp_path, monkeypatch):
    """Every `coview` line parses, and names a recipe that is there and fields that can be set."""
    monkeypatch.chdir(tmp_path)
    python = blocks(HOME / "README.md", "python")
    for words in command_lines(HOME / "README.md"):
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", (HOME / "Makefile").read_text(), re.MULTILINE), words
        if words[0] != "coview":
            continue
        context = COMMANDS[words[1]].make_context(words[1], words[2:])
        recipe = context.params.get("recipe", "demo" if words[1] == "demo" else None)
        if recipe in (None, "mine"):  # that one is made from the reader's data: tests/test_newcomer.py
            continue
        file, separator, function = recipe.partition(":")
        if separator:  # a block that the reader was told to save
            (block,) = (block for block in python if f"def {function}(" in block)
            Path(file).write_text(block)
        find_recipe(recipe, context.params["settings"] or [])


def run_blocks(document: Path) -> dict:
    """Execute the Python of a document, in order and in one namespace."""
    names: dict = {"__name__": document.stem}
    text = document.read_text()
    for block in blocks(document, "python"):
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, str(document), "exec"), names)
    return names


def command_lines(document: Path) -> list[list[str]]:
    lines = (line for block in blocks(document, "bash") for line in block.splitlines())
    return [words for line in lines if (words := shlex.split(line, comments=True))]
