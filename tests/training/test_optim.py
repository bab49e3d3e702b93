"""Learning rates by step."""

import math
from dataclasses import replace

import pytest
from toys import toy

from coview.training.optim import learning_rate


def rates(recipe, epoch_steps=5):
    return [learning_rate(recipe, step, epoch_steps) for step in range(recipe.epochs * epoch_steps)]


def test_cosine_after_warmup():
    recipe = replace(toy(), schedule="cosine", warmup=2.0, epochs=6, learning_rate=0.8)
    found = rates(recipe)
    assert found[:10] == pytest.approx([0.08 * (step + 1) for step in range(10)])
    assert found[10:] == pytest.approx([0.4 * (1 + math.cos(math.pi * step / 20)) for step in range(20)])


def test_steps_at_milestones():
    recipe = replace(
        toy(), schedule="step", warmup=0.0, epochs=6, learning_rate=0.8, milestones=(2, 5), decay=0.5
    )
    assert rates(recipe) == pytest.approx([0.8] * 10 + [0.4] * 15 + [0.2] * 5)


def test_constant_and_where_a_run_is_stopped_do_not_bend_it():
    recipe = replace(toy(), schedule="constant", warmup=0.0, epochs=2)
    assert rates(recipe) == [0.05] * 10
    cosine = replace(recipe, schedule="cosine")
    assert rates(replace(cosine, steps=3)) == rates(cosine)
