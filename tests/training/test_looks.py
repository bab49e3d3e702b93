"""Looks between epochs: training does not notice, a resumed run has the same, and every reader copes."""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from toys import SIZES, tables, toy, toy_with_gaps

from coview.contrast import Bank, NCELoss
from coview.recipes.measure import look_in
from coview.training import TrainingError, fit, in_batch, override
from coview.training.checkpoint import checkpoints, load_checkpoint
from coview.training.fabric import make_fabric
from coview.training.looks import undisturbed
from coview.training.state import prepare


def rows(folder):
    path = folder / "metrics.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def looks(folder):
    return [row for row in rows(folder) if "probes" in row]


def looked(recipe, folder, **more):
    """A run with the looks that are the default."""
    return fit(recipe, folder, look_in=look_in(recipe), **more)


def last(folder):
    return load_checkpoint(checkpoints(folder / "checkpoints")[-1])


def assert_same(one, other, where=""):
    """Every tensor and number of two checkpoints."""
    assert type(one) is type(other), where
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other) or torch.equal(one.isnan(), other.isnan()), where
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            assert_same(one[name], other[name], f"{where} {name}")
    elif isinstance(one, list | tuple):
        for number, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{where} {number}")
    else:
        assert one == other, where


VARIANTS = {
    "drawn negatives": toy,
    "gaps": toy_with_gaps,
    "nce, own draws": lambda: replace(
        toy(), loss=partial(NCELoss, normaliser="running"), negatives=partial(Bank, draw=13, shared=False)
    ),
    "in batch, bfloat16": lambda: replace(toy(), negatives=in_batch, precision="bf16-mixed"),
}


@pytest.mark.parametrize("name", list(VARIANTS))
def test_looks_do_not_change_training_by_a_bit(name, tmp_path):
    recipe = VARIANTS[name]()
    fit(recipe, tmp_path / "plain")
    looked(replace(recipe, probe_every=1), tmp_path / "looked")
    plain, other = last(tmp_path / "plain"), last(tmp_path / "looked")
    plain["recipe"]["probe_every"] = 1
    assert_same(plain, other)
    steps = [[row["loss"] for row in rows(tmp_path / run) if "loss" in row] for run in ("plain", "looked")]
    assert steps[0] == steps[1]


def test_a_look_before_the_first_step_then_every_few_epochs_and_at_the_end(tmp_path):
    looked(replace(toy(), epochs=5, probe_every=2), tmp_path / "run")
    assert [(row["step"], row["epoch"]) for row in looks(tmp_path / "run")] == [
        (0, 0),
        (12, 2),
        (24, 4),
        (30, 5),
    ]
    for row in looks(tmp_path / "run"):
        assert set(row) == {"step", "epoch", "probes"}
        assert set(row["probes"]) == {"knn", "linear"}
        assert all(0 <= value <= 100 for value in row["probes"].values())


def test_a_run_that_was_stopped_anywhere_has_the_looks_of_one_that_was_not(tmp_path):
    recipe = replace(toy(), probe_every=1)
    looked(recipe, tmp_path / "whole")
    looked(replace(recipe, steps=1), tmp_path / "parts")
    for stop in (5, 6, 7, 13, None):
        looked(replace(recipe, steps=stop), tmp_path / "parts", resume=True)
    assert looks(tmp_path / "parts") == looks(tmp_path / "whole")
    assert [row["step"] for row in looks(tmp_path / "whole")] == [0, 6, 12, 18]


@pytest.mark.parametrize("stopped_at", [0, 12])
def test_a_look_that_was_cut_short_is_made_up_for(stopped_at, tmp_path):
    recipe = replace(toy(), probe_every=1)
    looked(recipe, tmp_path / "whole")

    def cut_short(training, data):
        if training.step == stopped_at:
            raise KeyboardInterrupt
        return look_in(recipe)(training, data)

    with pytest.raises(KeyboardInterrupt):
        fit(recipe, tmp_path / "parts", look_in=cut_short)
    assert stopped_at not in [row["step"] for row in looks(tmp_path / "parts")]
    looked(recipe, tmp_path / "parts", resume=True)
    assert looks(tmp_path / "parts") == looks(tmp_path / "whole")
    assert_same(last(tmp_path / "parts"), last(tmp_path / "whole"))


def test_looks_may_begin_in_a_run_that_goes_on(tmp_path):
    fit(replace(toy(), epochs=1), tmp_path / "run")
    looked(replace(toy(), epochs=3, probe_every=1), tmp_path / "run", resume=True)
    assert [row["step"] for row in looks(tmp_path / "run")] == [6, 12, 18]


def test_a_run_that_begins_anew_forgets_the_look_before_its_first_step(tmp_path):
    recipe = replace(toy(), probe_every=1)

    def stop(row):
        if row["step"] > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(recipe, tmp_path / "run", look_in=look_in(recipe), observe=stop)
    assert [row["step"] for row in rows(tmp_path / "run")][:1] == [0]
    other = replace(recipe, seed=5)
    looked(other, tmp_path / "run", resume=True)
    looked(other, tmp_path / "fresh")
    assert looks(tmp_path / "run") == looks(tmp_path / "fresh")


def test_what_a_look_does_is_undone(tmp_path):
    """One that draws, turns the mode and would learn."""

    def careless(training, data):
        torch.manual_seed(99)
        torch.rand(7, generator=training.generator)
        training.encoders.eval()
        training.objective.eval()
        assert not torch.is_grad_enabled()
        return {"nothing": 1}

    fit(toy(), tmp_path / "plain")
    fit(replace(toy(), probe_every=1), tmp_path / "looked", look_in=careless)
    plain, other = last(tmp_path / "plain"), last(tmp_path / "looked")
    plain["recipe"]["probe_every"] = 1
    assert_same(plain, other)
    assert looks(tmp_path / "looked")[-1]["probes"] == {"nothing": 1.0}


def test_compiled_encoders_are_not_compiled_again():
    compiled = []

    def backend(graph, inputs):
        compiled.append(1)
        return graph.forward

    # Of torch's own modules alone: the shape checks of this suite are not made to be compiled.
    encoders = {name: partial(torch.nn.Linear, size, 11) for name, size in SIZES.items()}
    recipe = replace(toy(), encoders=encoders, probe_layer="embedding")
    fabric = make_fabric(recipe)
    training = prepare(recipe, tables("train").to(fabric.device), fabric)
    training.recipe = replace(recipe, compile=True)
    encoder, view = training.trained["sound"], tables("train").fields["sound"].to(fabric.device)
    encoder.compile(backend=backend, dynamic=False)
    encoder(view)
    assert len(compiled) == 1
    with undisturbed(training):
        encoder.eval()(view[:5])
    assert len(compiled) == 1
    encoder(view)
    assert len(compiled) == 1
    encoder.eval()(view[:7])
    assert len(compiled) == 2  # which is what the look was spared


def test_held_out_samples_are_of_the_training_set(tmp_path):
    """Test labels do not exist here, and the number is that of a loop over neighbours."""

    def train_only(split):
        assert split == "train"
        return tables(split)

    recipe = replace(toy(), data=train_only, probe_every=3)
    looked(recipe, tmp_path / "run")
    assert looks(tmp_path / "run")[-1]["probes"]["knn"] > 60


def test_every_row_reaches_who_observes(tmp_path):
    seen = []
    looked(replace(toy(), probe_every=3), tmp_path / "run", observe=seen.append)
    assert [row["step"] for row in seen if "probes" in row] == [0, 18]
    assert all(row["steps"] == 18 for row in seen)
    assert [{**row, "steps": None} for row in seen] == [
        {**row, "steps": None} for row in rows(tmp_path / "run")
    ]


def test_looks_are_among_the_events(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    looked(replace(toy(), probe_every=2), tmp_path / "run")
    events = EventAccumulator(str(tmp_path / "run/events"))
    events.Reload()
    found = [(event.step, event.value) for event in events.Scalars("probes/knn")]
    assert found == [(row["step"], pytest.approx(row["probes"]["knn"])) for row in looks(tmp_path / "run")]
    assert len(events.Scalars("loss")) == len(rows(tmp_path / "run")) - len(found)


def test_time_for_looks_is_not_time_for_training(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def slow(training, data):
        now[0] += 1000.0
        return {"slow": 1.0}

    def augment(fields, generator):
        now[0] += 1.0  # a second a step
        return fields

    recipe = replace(toy(), probe_every=1, log_every=4, augment=augment)
    fit(recipe, tmp_path / "run", look_in=slow)
    rates = [row["rate"] for row in rows(tmp_path / "run") if "rate" in row]
    assert rates == pytest.approx([16.0] * 6)


def test_looks_that_only_one_side_wants(tmp_path):
    with pytest.raises(ValueError, match=r"probe_every is 4, but nothing looks: fit\(..., look_in="):
        fit(replace(toy(), probe_every=4), tmp_path / "run")
    with pytest.raises(ValueError, match="does not say when to look: set its probe_every"):
        fit(toy(), tmp_path / "run", look_in=lambda training, data: {})
    assert look_in(toy()) is None
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match="probe_every must be 1 or more, got 0"):
        override(toy(), ["probe_every=0"])


def test_no_labels_to_look_at_is_found_before_the_first_step(tmp_path):
    recipe = replace(toy(), data=lambda split: replace(tables(split), label=None), probe_every=1)
    with pytest.raises(ValueError, match="dataset 'tables' has no labels to look at: set probe_every=none"):
        looked(recipe, tmp_path / "run")
    assert not (tmp_path / "run/metrics.jsonl").exists()


def test_a_loss_that_is_not_finite_is_found_before_the_look(tmp_path):
    def spoiled(samples):
        return lambda query, candidates: query.sum(1) * float("nan")

    recipe = replace(toy(), loss=spoiled, probe_every=1, save_every=3, log_every=1000)
    with pytest.raises(TrainingError, match="is nan at step 1"):
        looked(recipe, tmp_path / "run")
