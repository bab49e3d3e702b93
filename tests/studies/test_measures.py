"""Measures of pictures: which numbers they give, and by which protocol."""

from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn
from toys import toy

from coview.probes import Features, find_protocol, probe_by
from coview.recipes.measure import Opened
from coview.studies.measures import accuracy, fitted_by, top_1_and_5
from coview.studies.subject import Subject


class Said(Subject):
    """What two encoders say of samples whose classes overlap."""

    def __init__(self, classes: int) -> None:
        super().__init__(Opened(toy(), nn.ModuleDict(), 0), Path())
        self.classes, self.found = classes, {}
        generator = torch.Generator().manual_seed(0)
        for split, samples in (("train", 56), ("test", 42)):
            label = torch.arange(samples) % classes
            values = {
                name: torch.randn(samples, 3, generator=generator) + 0.4 * label[:, None] for name in "ab"
            }
            there = dict.fromkeys("ab", torch.ones(samples, dtype=torch.bool))
            self.found[split] = Features(values, there, torch.arange(samples), label)

    def features(self, layer=None):
        return self.found


def by_hand(one, protocol: str):
    given = []
    for split in ("train", "test"):
        values = one.found[split].values
        given += [torch.cat([values["a"], values["b"]], 1), one.found[split].label]
    return probe_by(find_protocol(protocol), "linear", *given, classes=one.classes)


def test_both_columns_of_the_table():
    one = Said(7)
    found, score = top_1_and_5(one), by_hand(one, "ours")
    assert found == {"top-1": score.accuracy, "top-5": score.top5}
    assert found["top-1"] == accuracy(one) < found["top-5"]
    assert list(top_1_and_5(Said(4))) == ["top-1"], "within five of four says nothing"


def test_wide_encoders_have_a_protocol_of_their_own():
    one = Said(7)
    wide = fitted_by(partial(top_1_and_5, instead={"paper-resnet": "paper-resnet-x2"}), "paper-resnet")
    usual = fitted_by(top_1_and_5, "paper-resnet")
    assert wide(one)["top-1"] == pytest.approx(by_hand(one, "paper-resnet-x2").accuracy)
    assert usual(one)["top-1"] == pytest.approx(by_hand(one, "paper-resnet").accuracy)
    assert wide(one) != usual(one)
