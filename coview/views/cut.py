"""A sample becomes views: augmented once, then cut by one function per view."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from jaxtyping import Bool
from torch import Tensor

from coview.types import Augment, Batch, Fields, Sample, Still, View, Views


def cut(
    sample: Sample,
    views: Mapping[str, View],
    augment: Augment | None = None,
    generator: torch.Generator | None = None,
) -> Batch:
    """The views of a batch of samples, aligned because they are cut from the same augmented fields."""
    fields = augmented(sample, augment, generator).fields
    return Batch(
        {name: view(fields) for name, view in views.items()}, sample.index, sample.present, sample.label
    )


def augmented(
    sample: Sample, augment: Augment | None, generator: torch.Generator | None = None, *, crops: int = 1
) -> Sample:
    """The same samples with their fields augmented, all alike; for two crops, twice."""
    if augment is None:
        return sample
    generator = generator or torch.default_generator
    first = augment(sample.fields, generator)
    return replace(sample, fields=first, second=augment(sample.fields, generator) if crops == 2 else None)


def stand_still(sample: Sample, still: Still | None) -> Sample:
    """The same samples as probes and contact sheets see them, with nothing random about them."""
    return sample if still is None else replace(sample, fields=still(sample.fields))


def look(fields: Fields, views: Mapping[str, View]) -> tuple[Views, Bool[Tensor, "V B"]]:
    """The views of some fields, and for each view and sample whether a value is not finite."""
    found = {name: view(fields) for name, view in views.items()}
    bad = [~values.isfinite().flatten(1).all(1) for values in found.values()]
    return found, torch.stack(bad)
