"""The benchmark of optical flow: every way once, with its error."""

import torch

from coview.bench import bench_flow
from coview.bench import flow as bench
from coview.flow import FAST


def test_every_way_is_measured_and_finds_flow(monkeypatch):
    monkeypatch.setitem(bench.SIZES, "cpu", bench.Size(pairs=2, side=40, batch=3, height=24, width=32))
    monkeypatch.setattr(bench, "WAYS", {"fast": FAST})
    rows = list(bench_flow(torch.device("cpu")))
    assert rows[-1].way == "fast"
    assert {one.work for one in rows} == {"32x24"}
    for one in rows:
        assert one.images
        assert float(one.note.split()[1].rstrip(",")) < 1
