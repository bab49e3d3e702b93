"""Encoders of tables, trained in memory: the method in one short loop, without run folders."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coview.contrast import Bank, CosineCritic, InBatch, Objective, PairGraph
from coview.encoders import MLP, Encoders

Tables = Mapping[str, Float[Tensor, "N _"]]
Have = Mapping[str, Bool[Tensor, "N"]]


@dataclass(frozen=True)
class Settings:
    """The numbers of a training; MultiViewEncoder explains them."""

    graph: PairGraph
    hidden: tuple[int, ...]
    dim: int
    temperature: float
    drop: float
    noise: float
    negatives: str
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float


def descend(tables: Tables, present: Have, settings: Settings) -> tuple[Encoders, list[float]]:
    """Trained encoders, and the mean loss of every epoch."""
    samples = len(next(iter(tables.values())))
    device = next(iter(tables.values())).device
    make = partial(MLP, hidden=settings.hidden, dim=settings.dim, drop=settings.drop, noise=settings.noise)
    encoders = Encoders({name: make(table.shape[1]) for name, table in tables.items()})
    views = list(settings.graph.views)
    gaps = {name: have for name, have in present.items() if not bool(have.all())}
    negatives = (
        Bank(views, samples, settings.dim, start="empty", present=gaps)
        if settings.negatives == "memory"
        else InBatch()
    )
    objective = Objective(settings.graph, CosineCritic(settings.temperature), negatives)
    encoders, objective = encoders.to(device), objective.to(device)
    rate, decay = settings.learning_rate, settings.weight_decay
    optimiser = torch.optim.AdamW(encoders.parameters(), rate, weight_decay=decay)
    size = min(settings.batch_size, samples)
    last = settings.epochs * (samples // size)
    losses: list[Tensor] = []
    for step, index in enumerate(_batches(samples, size, settings.epochs, device)):
        for group in optimiser.param_groups:
            group["lr"] = rate * min((step + 1) / 10, (1 + math.cos(math.pi * step / last)) / 2)
        there = {name: have[index] for name, have in gaps.items()}
        embeddings = encoders({name: table[index] for name, table in tables.items()}, there)
        if not _has_pair(settings.graph, there):
            continue
        loss = torch.stack(list(objective(embeddings, index, there).values())).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        objective.remember(embeddings, index, there)
        losses.append(loss.detach())
    return encoders.eval(), _by_epoch(losses, samples // size)


def _batches(samples: int, size: int, epochs: int, device: torch.device) -> Iterator[Tensor]:
    """Samples in another order each epoch; those that fill no batch wait for the next one."""
    for _ in range(epochs):
        order = torch.randperm(samples)[: samples // size * size]
        yield from order.to(device).split(size)


def _has_pair(graph: PairGraph, there: Have) -> bool:
    """Whether some sample of a batch has both views of some pair."""
    whole = next(iter(there.values())) if there else None
    if whole is None:
        return True
    every = torch.ones_like(whole)
    return any(bool((there.get(a, every) & there.get(b, every)).any()) for a, b, _ in graph.edges)


def _by_epoch(losses: list[Tensor], steps: int) -> list[float]:
    return [torch.stack(losses[at : at + steps]).mean().item() for at in range(0, len(losses), max(steps, 1))]
