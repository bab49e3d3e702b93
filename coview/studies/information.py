"""How much the views of a run share, as a measure; what its encoders learned does not matter to it."""

from collections.abc import Mapping

from coview.information import MINE, Schedule, estimate, separable, view_pairs
from coview.recipes.measure import fastest_device
from coview.studies.subject import Subject

NATS = "MINE, nats"
SAFE = "InfoNCE, nats"


def information(
    subject: Subject,
    *,
    first: str,
    second: str,
    steps: int = 4000,
    batch: int = 512,
    learning_rate: float = 1e-3,
) -> Mapping[str, float]:
    """Two bounds by one critic, on samples held out: each seed of the run holds out others."""
    data = subject.recipe.data("train")
    pairs = view_pairs(
        data.to(fastest_device()), subject.recipe.views, first, second, augment=subject.recipe.augment
    )
    schedule = Schedule(steps=steps, batch=batch, learning_rate=learning_rate)
    found = estimate(pairs, bound=MINE, critic=separable, schedule=schedule, seeds=(subject.recipe.seed,))
    return {NATS: found.nats, SAFE: found.others["InfoNCE"]}
