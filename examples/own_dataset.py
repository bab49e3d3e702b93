"""A dataset of your own is a function from a split to `Resident`: arrays by name, with gaps and labels if you like.

Bells are seen and heard. The picture shows a disc, somewhere, in some brightness; the sound is a tone with
overtones, in some loudness. All that they share is the size: large bells sound low. Half of the bells were not heard.

Run it:    python examples/own_dataset.py
Train it:  coview train examples/own_dataset.py:own_dataset
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from coview.contrast import CosineCritic, full_graph
from coview.data import Resident
from coview.encoders import MLP, SmallConv
from coview.recipes.measure import features, probe_views
from coview.training import Recipe, fit
from coview.training.state import build_encoders
from coview.views import field

SIZES = ("small", "middling", "large")


def bells(split: str, *, samples: int = 2000) -> Resident:
    """The dataset: here the arrays are drawn; yours may come from np.load, a folder, a table."""
    picture, sound, size = draw_bells(samples, np.random.default_rng({"train": 1, "test": 2}[split]))
    heard = ~np.isnan(sound).any(axis=1)
    return Resident(
        f"bells {split}",  # a name for messages
        {"picture": torch.from_numpy(picture), "sound": torch.from_numpy(sound)},  # a row a sample in each
        label=torch.from_numpy(size),  # for the probes only
        classes=SIZES,
        present={"sound": torch.from_numpy(heard)},  # by view; a view that is not named is always there
    )


def own_dataset() -> Recipe:
    """Pictures of bells against the sounds of those that were heard."""
    return Recipe(
        data=partial(bells, samples=2000),
        views={
            "picture": partial(field, name="picture"),
            "sound": partial(field, name="sound"),
        },  # the fields as they are
        encoders={"picture": partial(SmallConv, 1, width=12, dim=32), "sound": partial(MLP, 24, dim=32)},
        graph=full_graph(["picture", "sound"]),
        critic=partial(CosineCritic, temperature=0.1),
        epochs=8,
        batch_size=64,
        optimiser="adamw",
        learning_rate=2e-3,
    )


def draw_bells(samples: int, luck: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pictures [N 1 16 16], sounds [N 24] that are NaN where nothing was heard, and sizes from 0 to 2."""
    radius = luck.uniform(2, 5, (samples, 1))
    down, across, bright, loud = luck.uniform((5, 5, 0.2, 0.2), (11, 11, 1, 1), (samples, 4)).T[..., None]
    y, x = np.mgrid[:16, :16].reshape(2, 1, -1)
    disc = bright * (np.hypot(y - down, x - across) < radius)
    tones = [np.exp(-((np.arange(24) - times * (13 - 2 * radius)) ** 2) / 2) / times for times in (1, 2, 3)]
    picture, sound = (
        values + 0.1 * luck.standard_normal(values.shape) for values in (disc, loud * sum(tones))
    )
    sound[luck.random(samples) < 0.5] = np.nan
    picture, sound = picture.astype(np.float32).reshape(-1, 1, 16, 16), sound.astype(np.float32)
    return picture, sound, np.digitize(radius[:, 0], (3, 4))


if __name__ == "__main__":
    recipe = own_dataset()
    with TemporaryDirectory() as folder:
        trained = fit(recipe, Path(folder)).trained
    splits = {split: recipe.data(split) for split in ("train", "test")}
    print("Size of a bell, read by a linear classifier (chance 33 %):")
    for name, encoders in {"random": build_encoders(recipe), "trained": trained}.items():
        scores = probe_views(features(encoders, recipe, splits, "embedding"), classes=len(SIZES))
        print(f"  {name:7}  picture {scores['picture']:.1f} %  sound, where heard, {scores['sound']:.1f} %")
