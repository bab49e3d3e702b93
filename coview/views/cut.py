"""A sample becomes views: augmented once, then cut by one function per view."""

from collections.abc import Mapping

import torch

from coview.types import Augment, Batch, Sample, View


def cut(
    sample: Sample,
    views: Mapping[str, View],
    augment: Augment | None = None,
    generator: torch.Generator | None = None,
) -> Batch:
    """The views of a batch of samples, aligned because they are cut from the same augmented fields."""
    fields = sample.fields
    if augment is not None:
        fields = augment(fields, generator or torch.default_generator)
    return Batch(
        {name: view(fields) for name, view in views.items()}, sample.index, sample.present, sample.label
    )
