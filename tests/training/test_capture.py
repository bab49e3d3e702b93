"""Steps as a CUDA graph where there is CUDA; elsewhere one by one, and the reason is told."""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from toys import toy, toy_with_gaps

from coview.contrast import Bank, NCELoss
from coview.training import fit, in_batch, queue
from coview.training.capture import BEFORE, Steps
from coview.training.fabric import make_fabric
from coview.training.loop import advance
from coview.training.state import prepare

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
FULL = partial(Bank, draw="all")
VARIANTS = {
    "all": lambda: replace(toy(), negatives=FULL),
    "drawn": toy,
    "adamw, clipped": lambda: replace(toy(), negatives=FULL, optimiser="adamw", learning_rate=1e-3, clip=1.0),
    "nce": lambda: replace(
        toy(), loss=partial(NCELoss, normaliser="running"), negatives=partial(Bank, draw=13, shared=False)
    ),
    "queue": lambda: replace(toy(), negatives=partial(queue, size=24)),
    "in batch": lambda: replace(toy(), negatives=in_batch),
    "slow": lambda: replace(toy(), negatives=partial(queue, size=24), slow=0.8),
    "slow, shuffled": lambda: replace(toy(), negatives=partial(queue, size=24), slow=0.8, key_groups=2),
    "empty at first": lambda: replace(toy(), negatives=partial(Bank, draw="all", start="empty")),
}


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def plain(recipe):
    """Nothing drawn on the host's generator, so that it runs on any device."""
    return replace(recipe, augment=None)


def on_any_device(fields, generator):
    return {
        name: values + 0.1 * torch.randn(values.shape, generator=generator, device=values.device)
        for name, values in fields.items()
    }


@cuda
@pytest.mark.parametrize("name", list(VARIANTS))
def test_with_and_without_a_graph_the_curve_is_the_same(name, tmp_path):
    recipe = replace(plain(VARIANTS[name]()), epochs=8, precision="32-true")
    torch.cuda.manual_seed(0)
    on = fit(recipe, tmp_path / "on")
    off = fit(replace(recipe, capture=False), tmp_path / "off")
    assert on.hindrance is None
    assert off.hindrance == "capture=false"
    curves = [[row["loss"] for row in rows(tmp_path / run)] for run in ("on", "off")]
    assert curves[0] == pytest.approx(curves[1], rel=0.02)
    steps = [[row["step"] for row in rows(tmp_path / run)] for run in ("on", "off")]
    assert steps[0] == steps[1]


@cuda
def test_a_captured_run_goes_on_from_its_checkpoint(tmp_path):
    recipe = replace(plain(toy()), negatives=FULL, epochs=8, precision="32-true")
    whole = fit(recipe, tmp_path / "whole")
    fit(replace(recipe, steps=20), tmp_path / "parts")
    parts = fit(recipe, tmp_path / "parts", resume=True)
    assert parts.hindrance is None
    for one, other in zip(parts.encoders.parameters(), whole.encoders.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0.02, atol=0.02)


@cuda
def test_two_crops_reach_the_graph(tmp_path):
    """Of the same pictures the second crop alone differs; keys and so the loss must differ too."""
    recipe = replace(toy(), negatives=partial(queue, size=24), slow=0.8, crops=2, augment=on_any_device)
    training, take, sample = started(recipe)
    for _ in range(BEFORE + 2):
        advance(training, take, sample)
    assert take.recording is not None
    training.optimiser.param_groups[0]["lr"].fill_(0.0)
    losses = {round(float(advance(training, take, sample).terms.sum()), 4) for _ in range(4)}
    assert len(losses) == 4


@cuda
def test_the_rate_of_each_step_reaches_the_graph(tmp_path):
    """With a rate of nothing a replayed step must change nothing."""
    training, take, sample = started(replace(plain(toy()), negatives=FULL))
    for _ in range(BEFORE + 2):
        advance(training, take, sample)
    assert take.recording is not None
    before = [one.clone() for one in training.parameters]
    training.optimiser.param_groups[0]["lr"].fill_(0.0)
    seen = advance(training, take, sample)
    assert all(torch.equal(one, other) for one, other in zip(before, training.parameters, strict=True))
    assert seen.terms.isfinite().all()
    training.optimiser.param_groups[0]["lr"].fill_(0.1)
    advance(training, take, sample)
    assert not all(torch.equal(one, other) for one, other in zip(before, training.parameters, strict=True))


@cuda
def test_what_cannot_be_recorded_runs_all_the_same(tmp_path):
    def curious(samples):
        def loss(query, candidates):
            return query.sum(1) * float(query.sum() > -1e9)  # a look at the data

        return loss

    with pytest.warns(UserWarning, match="the step cannot be recorded as a CUDA graph and runs without"):
        training = fit(replace(plain(toy()), loss=curious), tmp_path / "run")
    assert training.hindrance == "it could not be recorded"
    assert training.step == 18


@cuda
def test_a_batch_of_another_size_is_taken_by_itself():
    training, take, sample = started(replace(plain(toy()), negatives=FULL))
    for _ in range(BEFORE + 1):
        advance(training, take, sample)
    fields = {name: values[:5] for name, values in sample.fields.items()}
    part = replace(sample, fields=fields, index=sample.index[:5], label=sample.label[:5])
    assert not take.recording.fits(part)
    assert len(advance(training, take, part).index) == 5
    assert advance(training, take, sample).terms.isfinite().all()


def started(recipe):
    fabric = make_fabric(recipe)
    data = recipe.data("train").to(fabric.device)
    training = prepare(recipe, data, fabric)
    return training, Steps(training), data.fetch(torch.arange(recipe.batch_size))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (toy_with_gaps, "samples may lack a view"),
        (lambda: replace(toy(), capture=False), "capture=false"),
        (
            lambda: replace(toy(), negatives=partial(Bank, draw="all", start="empty")),
            "the negatives are not steady",
        ),
    ],
)
def test_what_must_be_looked_at_is_not_captured(make, reason, monkeypatch):
    """Told as on a machine with CUDA, whatever this one has."""
    training, take, sample = started(make())
    monkeypatch.setattr(training.fabric.__class__, "device", torch.device("cuda"))
    assert take.hindrance_now(sample) == reason


def test_a_plain_step_could_be_captured(monkeypatch):
    training, take, sample = started(toy())
    assert take.hindrance_now(sample) == (None if torch.cuda.is_available() else "there is no CUDA")
    monkeypatch.setattr(training.fabric.__class__, "device", torch.device("cuda"))
    assert take.hindrance_now(sample) is None


def test_negatives_that_do_not_say_so_are_not_captured(monkeypatch):
    class Mine(torch.nn.Module):
        """As a user writes it."""

        def candidates(self, target, embedding, index):
            return in_batch([], 0, 0).candidates(target, embedding, index)

        def update(self, embeddings, index, present=None):
            pass

    training, take, sample = started(replace(toy(), negatives=lambda *_, **__: Mine()))
    monkeypatch.setattr(training.fabric.__class__, "device", torch.device("cuda"))
    assert take.hindrance_now(sample) == "the negatives are not steady"
