"""A view of your own is a function: here a line drawing joins the demo's four views of a room.

Run it:    python examples/own_view.py
Train it:  coview train examples/own_view.py:own_view
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from jaxtyping import Float
from torch import Tensor

from coview.contrast import core_graph
from coview.encoders import SmallConv
from coview.recipes.demo import demo, rooms
from coview.recipes.measure import features, retrieval
from coview.training import Recipe, fit
from coview.types import Fields
from coview.views import crop_and_flip


def drawing(fields: Fields) -> Float[Tensor, "B 1 H W"]:
    """White lines where neighbouring surfaces face different ways, on black: from -1 to 1."""
    facing = fields["normal"]
    beside = 1 - (facing * facing.roll(1, dims=3)).sum(1, keepdim=True)
    above = 1 - (facing * facing.roll(1, dims=2)).sum(1, keepdim=True)
    return torch.maximum(beside, above).clamp(max=1) * 2 - 1


def own_view() -> Recipe:
    """The drawing against each of the demo's views, in small rooms and seconds."""
    base = demo()
    return replace(
        base,
        views={**base.views, "drawing": drawing},
        encoders={**base.encoders, "drawing": partial(SmallConv, 1, width=24, dim=64)},
        graph=core_graph("drawing", list(base.views)),
        data=partial(rooms, train=640, test=200, size=32),  # from here on: small, for a first look
        augment=partial(crop_and_flip, size=32, padding=3),
        batch_size=64,
        epochs=6,
    )


if __name__ == "__main__":
    recipe = own_view()
    with TemporaryDirectory() as folder:
        encoders = fit(recipe, Path(folder)).trained
    found = features(encoders, recipe, {"test": recipe.data("test")}, "embedding")
    print("200 new rooms, looked up in another view:")
    for pair, score in retrieval(found["test"]).items():
        if "drawing" in pair:
            print(f"  {pair:17} {score['recall']:5.1f} % found, chance {score['chance']:.1f} %")
