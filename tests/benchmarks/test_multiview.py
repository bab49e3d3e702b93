"""The comparison of the estimator with linear methods: fair cuts, shared fits, and the table it writes."""

import runpy
from pathlib import Path

import numpy as np
import pytest

zoo = pytest.importorskip("cca_zoo.linear", reason="the comparison needs cca-zoo: pip install cca-zoo")

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "multiview.py"))
SIZES = (9, 6, 7)


def views(samples, seed=0):
    draw, plan = np.random.default_rng(seed), np.random.default_rng(7)
    hidden = draw.normal(size=(samples, 4))
    return [hidden @ plan.normal(size=(4, size)) + 0.5 * draw.normal(size=(samples, size)) for size in SIZES]


def test_every_sample_keeps_a_view():
    whole = views(400)
    some = PAGE["knocked_out"](whole, 0.5, seed=3)
    gone = np.stack([np.isnan(one).all(1) for one in some])
    assert not gone.all(0).any()
    assert 0.35 < gone.mean() < 0.5  # half of them, less those that were put back
    for one, other in zip(some, whole, strict=True):
        np.testing.assert_array_equal(one[~np.isnan(one).any(1)], other[~np.isnan(one).any(1)])


@pytest.mark.parametrize("kind", ["MCCA", "GCCA"])
def test_fewer_scores_are_the_first_of_more(kind):
    train, test, make = views(200), views(50, seed=1), getattr(zoo, kind)
    for size in (5, 2):
        ours = PAGE["cca"](train, test, 0, make=make, shrinkage=0.3, size=size)
        alone = make(n_components=size, shrinkage=0.3).fit(train).transform(test)
        np.testing.assert_allclose(np.abs(ours[1]), np.abs(np.concatenate(alone, 1)), atol=1e-6)
    beside = PAGE["cca"](train, test, 0, make=make, shrinkage=0.3, size=2, beside=True)
    np.testing.assert_array_equal(beside[0], np.concatenate([ours[0], *train], 1))


def test_with_and_without_the_numbers():
    train, test = views(64), views(16, seed=1)
    quick = {"epochs": 1, "hidden": (5,), "dim": 3}
    one, whole = PAGE["ours"](train, test, 0, **quick)
    hidden, alone = PAGE["ours"](train, test, 0, numbers=False, **quick)
    assert (one.shape, hidden.shape) == ((64, 3 * 5 + sum(SIZES)), (64, 3 * 5))
    starts = np.cumsum([0, *(5 + size for size in SIZES)])[:-1]
    np.testing.assert_array_equal(alone, np.concatenate([whole[:, at : at + 5] for at in starts], 1))


def test_the_test_fold_is_looked_at_once(monkeypatch):
    """What is chosen is chosen on a fifth of the training fold."""
    seen = []

    def accuracy(method, views, label, train, test, seed, settings):
        seen.append((set(train), set(test), settings["size"]))
        return {3: 50.0, 8: 60.0, 5: 40.0}[settings["size"]]

    monkeypatch.setitem(PAGE["measure"].__globals__, "accuracy", accuracy)
    label = np.arange(100) % 4
    method = PAGE["Method"](None, {"size": (3, 8, 5)})
    assert PAGE["measure"](method, [], label, 2) == (60.0, {"size": 8})
    *tries, (train, test, size) = seen
    assert size == 8
    assert (len(train), len(test), len(tries)) == (80, 20, 3)
    assert not train & test
    for part, held_out, _ in tries:
        assert part | held_out == train
        assert len(held_out) == 16


def test_the_table_names_wins_and_losses():
    known = {
        f"BDGP | all there | {method} | {fold}": {"accuracy": value + fold}
        for method, value in (
            ("raw features", 70.0),
            ("PCA of all", 60.0),
            ("MultiViewEncoder, as it comes", 68.0),
        )
        for fold in range(5)
    }
    text = PAGE["tables"](known)
    assert "| raw features | 72.0 ± 1.6 |" in text
    assert (
        "as it comes 2.0 ± 0.0 points (better in 0 of 5 folds) behind the best other (raw features)\n" in text
    )
    assert "Half missing" not in text
