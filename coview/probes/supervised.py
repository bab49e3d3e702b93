"""Encoders trained end to end on the labels: the upper bound beside the probes."""

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from coview.probes.features import Encoders, view_there
from coview.probes.layers import layer_features, mode
from coview.types import Batch

OnStep = Callable[[int, int, Mapping[str, Tensor]], None]
"""Told after each step: the steps done, the steps in all, and the loss by view (still on the device)."""


def train_supervised(
    encoders: Encoders,
    batches: Callable[[int], Iterable[Batch]],
    *,
    classes: int,
    epochs: int,
    learning_rate: float = 1e-3,
    weight_decay: float = 1e-2,
    layer: str = "embedding",
    on_step: OnStep | None = None,
) -> dict[str, list[float]]:
    """Train each encoder under a linear head of its own, in place; gives the mean loss by view and epoch."""
    _check(encoders, classes=classes, epochs=epochs)
    heads = _heads(encoders, _first(batches(0)), layer, classes)
    learners = nn.ModuleList([*encoders.values(), *heads.values()])
    descent = torch.optim.AdamW(learners.parameters(), lr=learning_rate, weight_decay=weight_decay)
    total = epochs * _count(batches(0))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(descent, total)
    seen: dict[str, list[list[Tensor]]] = {name: [[] for _ in range(epochs)] for name in heads}
    every = ((epoch, batch) for epoch in range(epochs) for batch in batches(epoch))
    with mode(encoders.values(), training=True), torch.enable_grad():
        for done, (epoch, batch) in enumerate(every, start=1):
            losses = _losses(encoders, heads, batch, layer)
            _descend(descent, losses)
            schedule.step()
            losses = {name: loss.detach() for name, loss in losses.items()}
            for name, loss in losses.items():
                seen[name][epoch].append(loss)
            if on_step is not None:
                on_step(done, total, losses)
    return {name: [_mean(name, part) for part in parts] for name, parts in seen.items()}


def _losses(
    encoders: Encoders, heads: Mapping[str, nn.Linear], batch: Batch, layer: str
) -> dict[str, Tensor]:
    """The cross-entropy of every view, over the samples that have it."""
    label = _label(batch)
    losses = {}
    for name in heads:
        view, rows = view_there(batch, name)
        if len(view) > 1:  # a batch norm has no statistics of one
            scores = heads[name](layer_features(encoders[name], view, layer).float())
            losses[name] = functional.cross_entropy(scores, label[rows])
    return losses


def _descend(descent: torch.optim.Optimizer, losses: Mapping[str, Tensor]) -> None:
    """One step down the sum of the losses; an encoder is in one of them and learns on its own."""
    descent.zero_grad()
    if losses:
        torch.stack(list(losses.values())).sum().backward()
    descent.step()


def _heads(encoders: Encoders, batch: Batch, layer: str, classes: int) -> dict[str, nn.Linear]:
    """A linear head for each view, sized by a first look; at zero, so that the first guess is uniform."""
    heads = {}
    everyone = replace(batch, present=None)  # only shapes matter here: a sample without the view will do
    with mode(encoders.values(), training=False), torch.no_grad():
        for name, encoder in encoders.items():
            view, _ = view_there(everyone, name)
            features = layer_features(encoder, view[:2], layer)
            heads[name] = nn.Linear(features.shape[1], classes, device=features.device)
            for weight in heads[name].parameters():
                weight.zero_()
    return heads


def _check(encoders: Encoders, *, classes: int, epochs: int) -> None:
    """Refuse what cannot be trained."""
    if not len(encoders) or classes < 2 or epochs < 1:
        raise ValueError(
            "wanted at least one encoder, 2 classes and 1 epoch, "
            f"got {len(encoders)} encoders, {classes} classes and {epochs} epochs"
        )


def _first(batches: Iterable[Batch]) -> Batch:
    """The first batch, to see what shapes come."""
    for batch in batches:
        return batch
    raise ValueError("an epoch has no batches: give a dataset with at least one batch of samples")


def _label(batch: Batch) -> Tensor:
    """The labels, which supervised training cannot do without."""
    if batch.label is None:
        raise ValueError("supervised training needs labels, and this batch has none: use a labelled dataset")
    return batch.label.long()


def _count(batches: Iterable[Batch]) -> int:
    """How many batches an epoch has; those that do not know are walked through once."""
    return len(batches) if isinstance(batches, Sized) else sum(1 for _ in batches)


def _mean(name: str, losses: list[Tensor]) -> float:
    """The mean loss of an epoch."""
    if not losses:
        raise ValueError(f"view '{name}' is never there for two samples of a batch: use larger batches")
    return torch.stack(losses).mean().item()
