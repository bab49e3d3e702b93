"""A quick look at features: neighbours and a linear classifier, scored on samples that were kept out of both."""

import torch

from coview.probes.features import Features, concatenate
from coview.probes.knn import knn_probe
from coview.probes.linear import fit_linear, front_end
from coview.probes.scoring import accuracy_of, held_out_part

WEIGHT_DECAY, STEPS = 0.01, 50  # of a linear classifier that is there to compare epochs, not to be the best


def quick_look(features: Features, *, seed: int) -> dict[str, float]:
    """Percent right of a fifth of the samples, all views side by side, by what the other four fifths say.

    Classes with fewer than two samples are left out.
    """
    values, label = concatenate(features, list(features.values))
    known, label, count = label.unique(return_inverse=True, return_counts=True)
    if int((count > 1).sum()) < 2:
        raise ValueError(
            f"a look wants two classes or more with two samples each, got {count.tolist()} samples"
        )
    if not bool((count > 1).all()):
        enough = count[label] > 1
        known, label = label[enough].unique(return_inverse=True)
        values = values[enough]
    held_out, classes = held_out_part(label, seed=seed), len(known)
    train, test = (values[~held_out], label[~held_out]), (values[held_out], label[held_out])
    knn = knn_probe(*train, *test, classes=classes).accuracy
    fitted, seen = front_end(*train, *test, classes=classes, standardise=True)
    classifier = fit_linear(fitted, train[1], classes=classes, weight_decay=WEIGHT_DECAY, steps=STEPS)
    return {"knn": knn, "linear": accuracy_of(classifier, seen, test[1])}


def some(label: torch.Tensor, most: int, *, seed: int) -> torch.Tensor:
    """The numbers of at most so many samples that have a label, drawn once and in order."""
    numbers = (label.cpu() >= 0).nonzero().flatten()
    drawn = torch.randperm(len(numbers), generator=torch.Generator().manual_seed(seed))[:most]
    return numbers[drawn.sort().values]
