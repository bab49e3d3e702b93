"""An encoder of your own is any module that returns [B D]: here one that glances at a room instead of scanning it.

Run it:    python examples/own_encoder.py
Train it:  coview train examples/own_encoder.py:own_encoder --run runs/glances
Look:      coview probe runs/glances --view normal --layer seen
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from jaxtyping import Float
from torch import Tensor, nn

from coview.contrast import full_graph
from coview.encoders import SmallConv
from coview.probes import cross_view_retrieval
from coview.recipes.demo import demo, rooms
from coview.recipes.measure import features
from coview.training import Recipe, fit
from coview.training.state import build_encoders
from coview.views import crop_and_flip, depth, normal


class Glances(nn.Module):
    """Describes patches, looks at a mixture of them a few times over, and embeds what it saw."""

    def __init__(
        self, channels: int, *, size: int, patch: int = 4, width: int = 64, glances: int = 16, dim: int = 64
    ) -> None:
        super().__init__()
        describe = nn.Conv2d(channels, width, kernel_size=patch, stride=patch)
        self.patches = nn.Sequential(describe, nn.BatchNorm2d(width), nn.ReLU())
        self.what = nn.Conv2d(width, glances, 1)  # draws the eye, by what it is
        self.where = nn.Parameter(torch.zeros(glances, (size // patch) ** 2))  # and by where
        self.embedding = nn.Sequential(nn.BatchNorm1d(glances * width), nn.Linear(glances * width, dim))

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Optional: layers by name, as maps [B C H W] or vectors [B F], for the probes to look at."""
        patches = self.patches(view)
        glances = (self.what(patches).flatten(2) + self.where).softmax(2)  # [B glances patches]
        seen = (glances @ patches.flatten(2).mT).flatten(1)
        return {"patches": patches, "seen": seen, "embedding": self.embedding(seen)}


def own_encoder() -> Recipe:
    """Depth, scanned by convolutions, against surface normals, glanced at."""
    return replace(
        demo(),
        views={"depth": depth, "normal": normal},
        encoders={
            "depth": partial(SmallConv, 1, width=24, dim=64),
            "normal": partial(Glances, 3, size=32, glances=16, dim=64),
        },
        graph=full_graph(["depth", "normal"]),
        probe_layer="embedding",  # a layer that both encoders have
        data=partial(rooms, train=1000, test=400, size=32),  # from here on: small, for a first look
        augment=partial(crop_and_flip, size=32, padding=3),
        batch_size=100,
        epochs=8,
    )


if __name__ == "__main__":
    recipe = own_encoder()
    with TemporaryDirectory() as folder:
        trained = fit(recipe, Path(folder)).trained
    test = {"test": recipe.data("test")}
    print("400 new rooms, looked up in the other view (chance: 0.2 % first, 2.5 % among ten):")
    for name, encoders in {"random": build_encoders(recipe), "trained": trained}.items():
        found = features(encoders, recipe, test, "embedding")["test"]
        for pair, recall in cross_view_retrieval(found, at=(1, 10)).items():
            print(f"  {name:7}  {pair:13}  first {recall.at[1]:4.1f} %  among ten {recall.at[10]:4.1f} %")
