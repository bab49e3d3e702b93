"""Which classes a linear probe takes for which."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int

from coview.probes import Features, concatenate, fit_linear, linear_probe
from coview.probes.linear import front_end


def confusion(
    train: Features, test: Features, views: Sequence[str], classes: int, *, seed: int = 0
) -> Int[np.ndarray, "C C"]:
    """Counts of test samples by true class and by the class that the probe says, fitted as `linear_probe` is."""
    (one, label), (other, truth) = concatenate(train, views), concatenate(test, views)
    decay = linear_probe(one, label, other, truth, classes=classes, seed=seed).weight_decay or 0.0
    one, other = front_end(one, label, other, truth, classes=classes, standardise=True)
    said = fit_linear(one, label, classes=classes, weight_decay=decay)(other).argmax(1)
    counts = torch.zeros(classes, classes, dtype=torch.long)
    counts.index_put_(
        (truth.cpu().long(), said.cpu()), torch.ones(len(said), dtype=torch.long), accumulate=True
    )
    return counts.numpy()
