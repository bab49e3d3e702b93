"""Cutting samples into views: augmented once, so that views stay aligned."""

import torch

from coview.types import Sample
from coview.views import cut


def sample() -> Sample:
    fields = {"rgb": torch.arange(5 * 3.0).view(5, 3), "depth": torch.arange(5 * 2.0).view(5, 2)}
    return Sample(
        fields, torch.tensor([7, 3, 1, 0, 4]), {"depth": torch.tensor([True] * 4 + [False])}, torch.arange(5)
    )


VIEWS = {"colour": lambda fields: fields["rgb"] + 1, "far": lambda fields: fields["depth"] * 2}


def test_views_by_name_and_the_rest_as_it_was():
    one = sample()
    batch = cut(one, VIEWS)
    assert list(batch.views) == ["colour", "far"]
    assert torch.equal(batch.views["colour"], one.fields["rgb"] + 1)
    assert torch.equal(batch.views["far"], one.fields["depth"] * 2)
    assert batch.index is one.index
    assert batch.present is one.present
    assert batch.label is one.label


def test_all_views_are_cut_from_one_augmentation():
    generators = []

    def augment(fields, generator):
        generators.append(generator)
        shift = torch.rand(len(fields["rgb"]), 1, generator=generator)
        return {name: values + shift for name, values in fields.items()}

    one = sample()
    before = {name: values.clone() for name, values in one.fields.items()}
    generator = torch.Generator().manual_seed(2)
    batch = cut(one, VIEWS, augment, generator)
    assert generators == [generator]  # once
    shift = torch.rand(5, 1, generator=torch.Generator().manual_seed(2))
    assert torch.equal(batch.views["colour"], before["rgb"] + shift + 1)
    assert torch.equal(batch.views["far"], (before["depth"] + shift) * 2)
    assert all(torch.equal(one.fields[name], before[name]) for name in before)


def test_without_a_generator_the_global_one_draws():
    def augment(fields, generator):
        return {name: values + torch.rand(1, generator=generator) for name, values in fields.items()}

    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(cut(sample(), VIEWS, augment).views["far"])
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
