"""Supervised training: every view learns on its own, from the samples that have it."""

import copy
import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from coview.probes import extract, linear_probe, train_supervised
from coview.types import Batch


def encoder(inputs: int, dim: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 11), nn.BatchNorm1d(11), nn.ReLU(), nn.Linear(11, dim))


def encoders() -> dict[str, nn.Module]:
    torch.manual_seed(2)
    return {"L": encoder(3, 5), "ab": encoder(4, 6)}


def epoch_of(epoch: int, *, samples: int = 90, size: int = 18, present: Tensor | None = None) -> list[Batch]:
    """Both views hold an exclusive or of signs, drawn anew each epoch."""
    generator = torch.Generator().manual_seed(epoch)
    signs = torch.randint(0, 2, (samples, 2), generator=generator)
    label = signs.sum(1) % 2
    side = 2.0 * signs - 1
    views = {
        "L": torch.cat([side, side[:, :1]], 1),
        "ab": torch.cat([side.flip(1), torch.zeros(samples, 2)], 1),
    }
    views = {
        name: values + 0.1 * torch.randn(values.shape, generator=generator) for name, values in views.items()
    }
    made = []
    for rows in torch.arange(samples).split(size):
        there = None if present is None else {"ab": present[rows]}
        made.append(Batch({name: values[rows] for name, values in views.items()}, rows, there, label[rows]))
    return made


def test_it_learns_what_a_linear_probe_of_the_start_does_not():
    learners = encoders()
    losses = train_supervised(learners, epoch_of, classes=2, epochs=20, learning_rate=0.01)
    assert list(losses) == ["L", "ab"]
    for name, by_epoch in losses.items():
        assert len(by_epoch) == 20
        assert by_epoch[-1] < 0.05 < 0.3 < by_epoch[0]
        features = extract({name: learners[name]}, epoch_of(100), "embedding")
        assert features.label is not None
        values = features.values[name]
        assert (
            linear_probe(
                values[:50], features.label[:50], values[50:], features.label[50:], classes=2
            ).accuracy
            > 98
        )


def test_a_first_loss_is_that_of_a_uniform_guess():
    seen = []
    train_supervised(
        encoders(), epoch_of, classes=7, epochs=1, on_step=lambda done, total, losses: seen.append(losses)
    )
    for loss in seen[0].values():
        assert loss.item() == pytest.approx(math.log(7))
        assert not loss.requires_grad


def test_views_do_not_interact():
    both, alone = encoders(), encoders()
    del alone["ab"]
    together = train_supervised(both, epoch_of, classes=2, epochs=2)
    apart = train_supervised(alone, epoch_of, classes=2, epochs=2)
    assert together["L"] == pytest.approx(apart["L"])
    for name, values in both["L"].state_dict().items():
        torch.testing.assert_close(values, alone["L"].state_dict()[name])


def test_a_run_equals_the_loop():
    learner, reference = encoders()["L"], encoders()["L"]
    train_supervised({"L": learner}, epoch_of, classes=2, epochs=2, learning_rate=0.02, weight_decay=0.3)
    head = nn.Linear(5, 2)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    descent = torch.optim.AdamW([*reference.parameters(), *head.parameters()], weight_decay=0.3)
    for step, batch in enumerate([*epoch_of(0), *epoch_of(1)]):
        assert batch.label is not None
        descent.param_groups[0]["lr"] = 0.02 * (1 + math.cos(math.pi * step / 10)) / 2
        odds = head(reference(batch.views["L"])).log_softmax(1)
        descent.zero_grad()
        (-odds[torch.arange(18), batch.label].mean()).backward()
        descent.step()
    for name, values in learner.state_dict().items():
        torch.testing.assert_close(values, reference.state_dict()[name], atol=1e-4, rtol=1e-4)


def test_every_step_is_reported():
    seen = []
    train_supervised(
        encoders(), epoch_of, classes=2, epochs=3, on_step=lambda *progress: seen.append(progress)
    )
    assert [(done, total) for done, total, _ in seen] == [(step, 15) for step in range(1, 16)]


def test_losses_are_the_mean_of_the_steps_of_an_epoch():
    seen: list[float] = []
    losses = train_supervised(
        encoders(),
        epoch_of,
        classes=2,
        epochs=2,
        on_step=lambda done, total, losses: seen.append(float(losses["ab"])),
    )
    assert losses["ab"] == pytest.approx([sum(seen[:5]) / 5, sum(seen[5:]) / 5])


def test_batches_that_are_generated_are_counted():
    def generated(epoch: int) -> Iterator[Batch]:
        yield from epoch_of(epoch)

    seen = []
    lazy = train_supervised(
        encoders(), generated, classes=2, epochs=2, on_step=lambda *progress: seen.append(progress)
    )
    assert seen[-1][:2] == (10, 10)
    assert lazy == train_supervised(encoders(), epoch_of, classes=2, epochs=2)


def test_the_learning_rate_falls_to_nothing():
    learners = encoders()
    weights = learners["L"][0].weight.detach()  # pyright: ignore[reportIndexIssue]
    moved, before = [], weights.clone()

    def watch(done: int, total: int, losses: object) -> None:
        nonlocal before
        moved.append(float((weights - before).abs().max()))
        before = weights.clone()

    train_supervised(learners, epoch_of, classes=2, epochs=8, learning_rate=0.01, on_step=watch)
    assert moved[-1] < 0.01 * max(moved)


def test_samples_without_a_view_do_not_reach_it():
    present = torch.arange(90) % 4 != 0

    def gaps(epoch: int) -> list[Batch]:
        made = epoch_of(epoch, present=present)
        for batch in made:
            batch.views["ab"][~batch.present["ab"]] = torch.nan  # pyright: ignore[reportOptionalSubscript]
        return made

    def picked(epoch: int) -> list[Batch]:
        made = []
        for batch in epoch_of(epoch):
            rows = present[batch.index]
            assert batch.label is not None
            made.append(Batch({"ab": batch.views["ab"][rows]}, batch.index[rows], None, batch.label[rows]))
        return made

    with_gaps, reference = encoders(), encoders()
    del reference["L"]
    losses = train_supervised(with_gaps, gaps, classes=2, epochs=2)
    assert losses["ab"] == pytest.approx(train_supervised(reference, picked, classes=2, epochs=2)["ab"])
    for name, values in with_gaps["ab"].state_dict().items():
        torch.testing.assert_close(values, reference["ab"].state_dict()[name])


def test_a_lone_sample_waits_for_company():
    lone = torch.arange(90) < 19  # the second batch has one sample with ab, the others none
    losses = train_supervised(encoders(), lambda epoch: epoch_of(epoch, present=lone), classes=2, epochs=1)
    assert math.isfinite(losses["ab"][0])
    nobody = torch.zeros(90, dtype=torch.bool)
    with pytest.raises(ValueError, match="'ab' is never there for two samples of a batch"):
        train_supervised(encoders(), lambda epoch: epoch_of(epoch, present=nobody), classes=2, epochs=1)


def test_modes_come_back():
    learners = encoders()
    learners["L"].eval()
    train_supervised(learners, epoch_of, classes=2, epochs=1)
    assert not any(part.training for part in learners["L"].modules())
    assert all(part.training for part in learners["ab"].modules())


def test_it_trains_the_layer_it_is_told_to():
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.early, self.late = nn.Linear(3, 5), nn.Linear(5, 2)

        def features(self, view: Tensor) -> dict[str, Tensor]:
            early = self.early(view)
            return {"early": early, "embedding": self.late(early)}

    torch.manual_seed(2)
    learner = Named()
    before = copy.deepcopy(learner.state_dict())
    train_supervised({"L": learner}, epoch_of, classes=2, epochs=1, layer="early")
    assert torch.equal(learner.late.weight, before["late.weight"])
    assert not torch.equal(learner.early.weight, before["early.weight"])


def test_what_cannot_be_trained_is_refused():
    def unlabelled(epoch: int) -> list[Batch]:
        return [Batch(batch.views, batch.index) for batch in epoch_of(epoch)]

    with pytest.raises(ValueError, match="needs labels, and this batch has none"):
        train_supervised(encoders(), unlabelled, classes=2, epochs=1)
    with pytest.raises(ValueError, match="got 2 encoders, 1 classes and 1 epochs"):
        train_supervised(encoders(), epoch_of, classes=1, epochs=1)
    with pytest.raises(ValueError, match="got 0 encoders, 2 classes and 0 epochs"):
        train_supervised({}, epoch_of, classes=2, epochs=0)
    with pytest.raises(ValueError, match="an epoch has no batches"):
        train_supervised(encoders(), lambda epoch: [], classes=2, epochs=1)
