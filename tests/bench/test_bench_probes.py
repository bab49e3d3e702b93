"""The benchmark of probes: each way once, on classes that can be told apart."""

import torch

from coview.bench import bench_probes
from coview.bench.probes import SIZES, WAYS, Size


def test_every_way_is_measured_and_learns(monkeypatch):
    monkeypatch.setitem(SIZES, "cpu", Size(train=150, test=40, features=30, classes=3))
    rows = list(bench_probes(torch.device("cpu")))
    assert [one.way for one in rows] == [f"{kind}, {protocol.name}" for protocol, kind in WAYS]
    assert {one.work for one in rows} == {"150 x 30, 3 classes"}
    for one in rows:
        assert one.milliseconds > 0
        assert float(one.note.removesuffix(" % right")) > 60
