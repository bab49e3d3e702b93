"""The training loop: it learns, it is repeatable, it goes on bit for bit, and it stops where it should."""

import importlib.metadata
import json
import math
from dataclasses import replace
from functools import partial

import pytest
import torch
from toys import SIZES, tables, take, toy, toy_with_gaps

from coview.contrast import Bank, BilinearCritic, NCELoss, PairGraph, core_graph
from coview.training import TrainingError, fit, in_batch, queue
from coview.training.checkpoint import checkpoints, load_checkpoint


def weights(training) -> dict[str, torch.Tensor]:
    """Everything that was learned or remembered, by name."""
    encoders = {f"encoder {name}": value for name, value in training.encoders.state_dict().items()}
    memory = {f"objective {name}": value for name, value in training.objective.state_dict().items()}
    return {name: value.clone() for name, value in {**encoders, **memory}.items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name].nan_to_num(7), other[name].nan_to_num(7)), name


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


VARIANTS = {
    "sgd": toy,
    "adam, queue": lambda: replace(
        toy(), optimiser="adam", learning_rate=1e-3, negatives=partial(queue, size=24)
    ),
    "adamw, in batch": lambda: replace(toy(), optimiser="adamw", negatives=in_batch, schedule="constant"),
    "nce, own draws": lambda: replace(
        toy(), loss=partial(NCELoss, normaliser="running"), negatives=partial(Bank, draw=13, shared=False)
    ),
    "bilinear, all": lambda: replace(
        toy(),
        critic=partial(BilinearCritic, 11),
        negatives=partial(Bank, draw="all", start="empty"),
        clip=1.0,
    ),
    "gaps": toy_with_gaps,
    "bfloat16": lambda: replace(toy(), precision="bf16-mixed"),
}


@pytest.mark.parametrize("name", list(VARIANTS))
def test_same_seed_same_weights(name, tmp_path):
    recipe = replace(VARIANTS[name](), epochs=1)
    first, second = fit(recipe, tmp_path / "a"), fit(recipe, tmp_path / "b")
    assert_same(weights(first), weights(second))
    other = fit(replace(recipe, seed=1), tmp_path / "c")
    assert any(not torch.equal(weights(first)[n], weights(other)[n]) for n in weights(first))


@pytest.mark.parametrize("name", list(VARIANTS))
def test_stopped_and_resumed_is_bit_for_bit_never_stopped(name, tmp_path):
    """96 samples in batches of 16 are 6 steps an epoch; stop within and at the end of epochs."""
    recipe = VARIANTS[name]()
    whole = fit(recipe, tmp_path / "whole")
    assert whole.step == 18
    fit(replace(recipe, steps=1), tmp_path / "parts")
    for stop in (5, 6, 7, 13, None):
        torch.rand(3)  # whatever else has been drawn must not matter
        parts = fit(replace(recipe, steps=stop), tmp_path / "parts", resume=True)
    assert parts.step == 18
    assert_same(weights(parts), weights(whole))
    last = [load_checkpoint(checkpoints(tmp_path / run / "checkpoints")[-1]) for run in ("whole", "parts")]
    assert last[0].keys() == last[1].keys()
    assert torch.equal(last[0]["random"], last[1]["random"])


def test_a_run_killed_between_checkpoints_does_those_steps_again(tmp_path):
    recipe = toy()
    whole = fit(recipe, tmp_path / "whole")

    def stop(row):
        if row["step"] >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(recipe, tmp_path / "parts", observe=stop)
    parts = fit(recipe, tmp_path / "parts", resume=True)
    assert_same(weights(parts), weights(whole))
    steps = [[row["step"] for row in rows(tmp_path / run)] for run in ("whole", "parts")]
    assert steps[0] == steps[1] == [4, 6, 8, 12, 16, 18]


def test_it_learns(tmp_path):
    training = fit(replace(toy(), epochs=12), tmp_path / "run")
    history = rows(tmp_path / "run")
    first, last = history[0]["loss"], history[-1]["loss"]
    assert first > 6 * math.log(21)  # 20 negatives, six directions, scores that vary at random
    assert last < 0.5 * first
    assert all(0 < bound < math.log(20) for bound in history[-1]["bounds"].values())
    assert training.step == 72


def test_a_view_missing_for_half_of_the_samples_still_learns(tmp_path):
    """The encoder of the view with gaps retrieves its samples in another view of unseen data."""
    recipe = replace(toy_with_gaps(), epochs=40, negatives=partial(Bank, draw="all"))
    training = fit(recipe, tmp_path / "run")
    test = tables("test", samples=60)
    encoders = training.encoders.eval()
    with torch.no_grad():
        found = encoders({name: test.fields[name] for name in SIZES})
    for view in ("touch", "smell"):
        scores = torch.nn.functional.normalize(found[view]) @ torch.nn.functional.normalize(found["sound"]).T
        rank = (scores >= scores.diag()[:, None]).sum(1).float().median()
        assert rank <= 8  # of 60; by chance 30


def test_five_views_with_gaps_train(tmp_path):
    names = [*SIZES, "taste", "sight"]
    sizes = dict(zip(names, (9, 5, 7, 6, 4), strict=True))

    def five(split):
        generator = torch.Generator().manual_seed(5)
        fields = {name: torch.randn(40, size, generator=generator) for name, size in sizes.items()}
        present = {name: torch.rand(40, generator=generator) > 0.4 for name in names}
        return replace(tables(split, samples=40), fields=fields, present=present)

    recipe = replace(
        toy(),
        data=five,
        augment=None,
        views={name: partial(take, name=name) for name in names},
        encoders={
            name: partial(toy().encoders["sound"].func, sizes[name], hidden=(8,), dim=11) for name in names
        },
        graph=core_graph("sight", [name for name in names if name != "sight"]),
        batch_size=10,
    )
    fit(recipe, tmp_path / "run")
    terms = rows(tmp_path / "run")[-1]["terms"]
    assert len(terms) == 8
    assert all(math.isfinite(value) for value in terms.values())


def test_the_run_folder_says_what_ran(tmp_path):
    fit(replace(toy(), epochs=2), tmp_path / "run", origin={"recipe": "toys", "settings": []})
    record = json.loads((tmp_path / "run/recipe.json").read_text())
    assert record["recipe"] == "toys"
    assert record["fields"]["critic"] == {"call": "coview.contrast.critic.CosineCritic", "temperature": 0.1}
    assert record["fields"]["graph"]["edges"][0] == ["sound", "touch", 1.0]
    versions = json.loads((tmp_path / "run/versions.json").read_text())
    assert versions["packages"]["torch"] == importlib.metadata.version("torch")
    assert versions["seed"] == 0
    assert "commit" in versions
    assert list((tmp_path / "run/events").glob("events.out.tfevents*"))
    row = rows(tmp_path / "run")[-1]
    assert set(row) == {"step", "epoch", "learning_rate", "terms", "bounds", "ceilings", "loss", "rate"}
    assert row["loss"] == pytest.approx(sum(row["terms"].values()))
    assert row["ceilings"]["sound->smell"] == pytest.approx(math.log(20))
    assert len(checkpoints(tmp_path / "run/checkpoints")) == 2


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    def spoiled(samples):
        calls = []

        def loss(query, candidates):
            calls.append(1)
            return query.sum(1) * (float("nan") if len(calls) == 13 else 1.0)

        return loss

    recipe = replace(toy(), graph=PairGraph([("sound", "smell")]), loss=spoiled)
    message = r"the loss 'sound->smell' is nan at step 7: .* last good checkpoint: .*step-00000006.pt"
    with pytest.raises(TrainingError, match=message):
        fit(recipe, tmp_path / "run")
    assert [row["step"] for row in rows(tmp_path / "run")] == [4, 6]
    assert [path.name for path in checkpoints(tmp_path / "run/checkpoints")] == ["step-00000006.pt"]


def test_nan_in_a_view_names_dataset_sample_and_view(tmp_path):
    def spoiled(split):
        data = tables(split)
        data.fields["touch"][37, 2] = float("nan")
        return data

    with pytest.raises(
        TrainingError, match=r"view 'touch' of dataset 'tables' is not finite .* at sample 37, met in step"
    ):
        fit(replace(toy(), data=spoiled), tmp_path / "run")


def test_an_existing_folder_is_refused(tmp_path):
    fit(replace(toy(), steps=1), tmp_path / "run")
    before = (tmp_path / "run/metrics.jsonl").read_text()
    with pytest.raises(
        FileExistsError, match="exists already: go on with it by --resume, or name another folder with --run"
    ):
        fit(toy(), tmp_path / "run")
    assert (tmp_path / "run/metrics.jsonl").read_text() == before


def test_resuming_what_is_no_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a run folder: it has no recipe"):
        fit(toy(), tmp_path / "nothing", resume=True)


def test_resuming_with_another_recipe_or_dataset(tmp_path):
    fit(replace(toy(), steps=2), tmp_path / "run")
    with pytest.raises(
        ValueError, match=r"was trained with learning_rate = 0.05, the recipe now says 0.2: set it back"
    ):
        fit(replace(toy(), learning_rate=0.2), tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match=r"was trained on 96 samples, but dataset 'tables' has 80"):
        fit(replace(toy(), data=partial(tables, samples=80)), tmp_path / "run", resume=True)


def test_a_view_that_nobody_has(tmp_path):
    def without(split):
        return replace(tables(split), present={"smell": torch.zeros(96, dtype=torch.bool)})

    with pytest.raises(ValueError, match="view 'smell' is missing for all 96 samples of dataset 'tables'"):
        fit(replace(toy(), data=without), tmp_path / "run")


def test_an_encoder_that_does_not_fit_its_view(tmp_path):
    wrong = {**toy().encoders, "touch": partial(toy().encoders["touch"].func, 8, dim=11)}
    with pytest.raises(
        ValueError, match=r"the encoder of view 'touch' does not take it: the view is \[2, 5\]"
    ):
        fit(replace(toy(), encoders=wrong), tmp_path / "run")
    unequal = {**toy().encoders, "touch": partial(toy().encoders["touch"].func, 5, dim=12)}
    with pytest.raises(ValueError, match="one size to be compared, got sound 11, touch 12, smell 11"):
        fit(replace(toy(), encoders=unequal), tmp_path / "run")


def test_a_layer_to_probe_that_is_not_there(tmp_path):
    with pytest.raises(
        ValueError, match="probe_layer is 'fc', but the encoder of view 'sound' has hidden1, embedding"
    ):
        fit(replace(toy(), probe_layer="fc"), tmp_path / "run")
