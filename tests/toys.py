"""A dataset and recipes small enough to train in a second: three noisy tables of the same four classes."""

from dataclasses import replace
from functools import partial

import torch

from coview.contrast import Bank, CosineCritic, full_graph
from coview.data import Resident
from coview.encoders import MLP
from coview.training import Recipe

SIZES = {"sound": 9, "touch": 5, "smell": 7}
CLASSES = ("north", "east", "south", "west")


def tables(split: str, *, samples: int = 96, missing: float = 0.0) -> Resident:
    """Each view is a random projection of one hidden vector, around one of four centres, with its own noise."""
    generator = torch.Generator().manual_seed({"train": 1, "test": 2}[split])
    plan = torch.Generator().manual_seed(0)
    centres = torch.randn(len(CLASSES), 6, generator=plan) * 2
    label = torch.randint(len(CLASSES), (samples,), generator=generator)
    hidden = centres[label] + torch.randn(samples, 6, generator=generator)
    fields, present = {}, {}
    for name, size in SIZES.items():
        projection = torch.randn(6, size, generator=plan)
        fields[name] = hidden @ projection + 0.3 * torch.randn(samples, size, generator=generator)
        if missing and name != "sound":
            present[name] = torch.rand(samples, generator=generator) >= missing
            fields[name][~present[name]] = float("nan")
    return Resident("tables", fields, label, CLASSES, present)


def jitter(fields, generator, *, strength: float = 0.1):
    return {
        name: values + strength * torch.randn(values.shape, generator=generator, device=values.device)
        for name, values in fields.items()
    }


def take(fields, *, name: str):
    return fields[name]


def toy() -> Recipe:
    """Three tables, all with all."""
    return Recipe(
        data=partial(tables, samples=96),
        views={name: partial(take, name=name) for name in SIZES},
        augment=partial(jitter, strength=0.1),
        encoders={name: partial(MLP, size, hidden=(32,), dim=11) for name, size in SIZES.items()},
        graph=full_graph(list(SIZES)),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw=20),
        epochs=3,
        batch_size=16,
        learning_rate=0.05,
        warmup=0.5,
        log_every=4,
        probe_layer="hidden1",
    )


def toy_with_gaps() -> Recipe:
    """Half of the samples lack touch, another half smell; what lacks is NaN."""
    return replace(toy(), data=partial(tables, samples=96, missing=0.5))
