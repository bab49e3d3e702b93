"""Runs and samples for the tests of pages."""

import numpy as np

from coview.reports.widgets import Samples, Thumbnails

COUNT = 17


def history(steps=30):
    """Rows as training logs them, of two pairs."""
    pairs = ("L->ab", "ab->L")
    return [
        {
            "step": 10 * step,
            "loss": 9.0 - step / 10,
            "rate": 400.0 + step,
            "terms": {pair: 4.5 - step / 20 - 0.2 * n for n, pair in enumerate(pairs)},
            "bounds": {pair: 1.5 + step / 20 + 0.2 * n for n, pair in enumerate(pairs)},
            "ceilings": dict.fromkeys(pairs, 6.0),
        }
        for step in range(1, steps + 1)
    ]


def samples():
    """Seventeen samples in two views, of which a quarter lacks the second."""
    generator = np.random.default_rng(0)
    have = {"L": np.ones(COUNT, dtype=bool), "ab": np.arange(COUNT) % 4 > 0}
    noise = generator.integers(256, size=(2, COUNT, 12, 12, 3), dtype=np.uint8)
    sheets = {
        name: Thumbnails.of([noise[v, n] if there else None for n, there in enumerate(one)])
        for v, (name, one) in enumerate(have.items())
    }
    shift = (np.arange(COUNT)[:, None] + np.arange(4)) % COUNT
    pairs = (("L", "ab"), ("ab", "L"))
    return Samples(
        tuple(f"sample {n}" for n in range(COUNT)),
        have,
        sheets,
        {kind: {name: generator.normal(size=(COUNT, 2)) for name in have} for kind in ("t-SNE", "PCA")},
        {a: {b: shift} for a, b in pairs},
        {a: {b: np.linspace(0.9, 0.3, COUNT * 4).reshape(COUNT, 4)} for a, b in pairs},
        {a: {b: have["ab"] * 1} for a, b in pairs},
        label=tuple("xy"[n % 2] if n > 2 else None for n in range(COUNT)),
    )
