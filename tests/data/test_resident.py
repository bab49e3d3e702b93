"""Datasets in memory: rows by index, with labels and what is missing."""

import pytest
import torch

from coview.data import Resident


def dataset(**changes) -> Resident:
    """Eight samples with three fields, of which one view has gaps."""
    parts = {
        "fields": {
            "rgb": torch.arange(8 * 3 * 2 * 5, dtype=torch.uint8).view(8, 3, 2, 5),
            "depth": torch.arange(8 * 4.0).view(8, 4),
            "number": torch.arange(8),
        },
        "label": torch.tensor([0, 1, 2, 0, 1, 2, 0, 1]),
        "classes": ("red", "green", "blue"),
        "present": {"depth": torch.tensor([True, False] * 4)},
    }
    return Resident("rooms", **{**parts, **changes})


def test_fetch_gives_the_rows_in_the_order_that_was_asked_for():
    data, index = dataset(), torch.tensor([5, 0, 5, 7])
    sample = data.fetch(index)
    assert list(sample.fields) == ["rgb", "depth", "number"]
    assert torch.equal(sample.index, index)
    for row, number in enumerate(index.tolist()):
        for name in data.fields:
            assert torch.equal(sample.fields[name][row], data.fields[name][number])
        assert sample.label[row] == data.label[number]
        assert sample.present["depth"][row] == data.present["depth"][number]
    assert sample.fields["rgb"].dtype == torch.uint8
    assert list(sample.present) == ["depth"]


def test_without_labels_and_gaps():
    sample = dataset(label=None, classes=(), present={}).fetch(torch.tensor([2, 1]))
    assert sample.label is None
    assert sample.present is None
    assert dataset(label=None).subset(torch.tensor([2, 1])).label is None


def test_a_subset_is_a_dataset_counted_anew():
    part = dataset().subset(torch.tensor([6, 2, 3]))
    assert (len(part), part.name, part.classes) == (3, "rooms", ("red", "green", "blue"))
    assert part.fields["number"].tolist() == [6, 2, 3]
    assert part.label.tolist() == [0, 2, 0]
    assert part.present["depth"].tolist() == [True, True, False]
    assert part.fetch(torch.tensor([1])).fields["number"].tolist() == [2]
    part.fields["number"][0] = 99
    assert dataset().fields["number"][6] == 6


@pytest.mark.parametrize(
    ("size", "lengths"), [(3, [3, 3, 2]), (8, [8]), (5, [5, 3]), (20, [8]), (1, [1] * 8)]
)
def test_batches_give_every_sample_once_in_order(size, lengths):
    samples = list(dataset().batches(size))
    assert [len(sample.index) for sample in samples] == lengths
    assert torch.cat([sample.index for sample in samples]).tolist() == list(range(8))
    assert torch.equal(torch.cat([sample.fields["depth"] for sample in samples]), dataset().fields["depth"])
    assert torch.equal(torch.cat([sample.label for sample in samples]), dataset().label)


def test_to_a_device():
    data = dataset()
    assert data.device == torch.device("cpu")
    elsewhere = data.to("meta")
    parts = [*elsewhere.fields.values(), elsewhere.label, *elsewhere.present.values()]
    assert {part.device.type for part in parts} == {"meta"}
    assert elsewhere.device.type == "meta"
    assert len(elsewhere) == 8


@pytest.mark.parametrize("index", [8, 100])
def test_an_index_outside(index):
    with pytest.raises(IndexError, match="index"):
        dataset().fetch(torch.tensor([0, index]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fields": {}, "label": None, "present": {}}, "'rooms' has no samples: give at least one field"),
        ({"fields": {"rgb": torch.zeros(0, 3)}, "label": None, "present": {}}, "'rooms' has no samples"),
        (
            {"fields": {"rgb": torch.zeros(8, 3), "depth": torch.zeros(7, 2)}},
            "'rooms': all fields need one row a sample, but came with field 'rgb' 8, field 'depth' 7",
        ),
        ({"label": torch.zeros(9, dtype=torch.int64), "present": {}}, "'number' 8, label 9"),
        ({"label": None, "present": {"depth": torch.ones(6, dtype=torch.bool)}}, "present 'depth' 6"),
    ],
)
def test_rows_that_do_not_match(changes, message):
    with pytest.raises(ValueError, match=message):
        dataset(**changes)
