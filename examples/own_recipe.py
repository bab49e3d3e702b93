"""A recipe of your own, from nothing: three instruments look at the same stars, and each fills a table.

Run it:    python examples/own_recipe.py
Train it:  coview train examples/own_recipe.py:stars --run runs/stars
Look:      coview probe runs/stars --kind knn
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from coview.contrast import Bank, CosineCritic, full_graph
from coview.data import Resident
from coview.encoders import MLP
from coview.probes import cross_view_retrieval
from coview.recipes.measure import features, probe_views
from coview.training import Recipe, fit
from coview.training.state import build_encoders
from coview.views import field

COLUMNS = {"spectrum": 40, "colours": 12, "pulse": 20}  # of each instrument's table
KINDS = ("dwarf", "giant", "variable", "binary", "neutron star")


def catalogue(split: str, *, samples: int = 1000) -> Resident:
    """A star has a few properties, around those of its kind; a table bends them, and mixes in its own errors."""
    law, luck = torch.Generator().manual_seed(0), torch.Generator().manual_seed(1 + (split == "test"))
    kind = torch.randint(len(KINDS), (samples,), generator=luck)
    star = torch.randn(len(KINDS), 8, generator=law)[kind] + torch.randn(samples, 8, generator=luck)
    tables = {}
    for instrument, columns in COLUMNS.items():
        error = torch.randn(samples, 8, generator=luck)
        mix = torch.randn(16, columns, generator=law) / 8**0.5
        tables[instrument] = torch.tanh(torch.cat([star, error], 1) @ mix)
    return Resident(f"stars {split}", tables, kind, KINDS)


def stars() -> Recipe:
    """What three instruments agree on is the star, not their errors."""
    return Recipe(
        # What there is to see, and how it is cut into views
        data=partial(catalogue, samples=1000),
        views={name: partial(field, name=name) for name in COLUMNS},
        encoders={name: partial(MLP, columns, hidden=(128,), dim=32) for name, columns in COLUMNS.items()},
        # What is contrasted with what, and how
        graph=full_graph(list(COLUMNS)),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw="all", momentum=0.5, start="empty"),
        # How long, how fast
        epochs=12,
        batch_size=50,
        optimiser="adamw",
        learning_rate=2e-3,
        weight_decay=1e-2,
        warmup=1.0,
    )


def line(row: dict) -> None:
    """One of the rows that also go to metrics.jsonl: means over the last steps, and more by pair."""
    if row["epoch"] % 4 == 0:
        information = sum(row["bounds"].values()) / len(row["bounds"])
        print(
            f"epoch {row['epoch']:2.0f}  loss {row['loss']:5.2f}  information of a pair {information:.2f} nats"
        )


if __name__ == "__main__":
    recipe = stars()
    with TemporaryDirectory() as folder:
        trained = fit(recipe, Path(folder), observe=line).trained

    splits = {split: recipe.data(split) for split in ("train", "test")}
    print("\nKind of star, read by a linear classifier, % right:")
    for name, encoders in {"random": build_encoders(recipe), "trained": trained}.items():
        scores = probe_views(features(encoders, recipe, splits, "embedding"), classes=len(KINDS))
        print(f"  {name:7}  " + "  ".join(f"{view} {score:.1f}" for view, score in scores.items()))

    found = features(trained, recipe, {"test": splits["test"]}, "embedding")
    print("\nA new star, looked up in another table among 1000, % found (chance 0.1):")
    for pair, recall in cross_view_retrieval(found["test"], at=(1, 10)).items():
        print(f"  {pair:17}  first {recall.at[1]:5.1f}   among ten {recall.at[10]:5.1f}")
