"""Steps that are timed: also one whose pairs have cells, of which there is no memory."""

import torch

from coview.bench.step import run, start, variants
from coview.bench.works import four_views, works

CPU = torch.device("cpu")


def test_four_views_of_frames_take_a_step():
    recipe = four_views(pictures=12, height=130, width=140, size=128, batch_size=2, encoder_width=0.1)
    ways = variants(recipe, CPU)
    assert list(ways) == ["float32, plain", "compiled", "one by one"]
    found = run("frames", "one by one", ways["one by one"], CPU, repeats=1)
    assert found.images > 0
    training, take, samples, _ = start(ways["one by one"])
    assert take.hindrance_now(next(samples)) == "there is no CUDA"  # and nothing else
    assert training.objective.hindrance is None


def test_every_work_has_ways_and_something_to_be_compared_with():
    for name, recipe in works(CPU).items():
        cells = "cells" in name
        assert next(iter(variants(recipe, CPU))) == ("float32, plain" if cells else "as released")
