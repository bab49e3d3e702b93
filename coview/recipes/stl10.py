"""STL-10: contrast of L with ab beats prediction and one view, on every layer (appendix D.1).

Claim:     two views contrasted learn more than Split-Brain, which predicts one from the other, and than Deep InfoMax,
           which has one view; and what they learn keeps from conv5 to fc7, where that of prediction is lost.
Command:   coview reproduce stl10-table, or one of them: coview train stl10_nce
Data:      100,000 unlabelled and 5,000 labelled pictures; probes learn from the labelled ones alone.
Hardware:  made for one H200; no run has been timed yet.
Paper:     conv5 / fc7, linear: NCE 83.28 / 86.66, patches 76.65 / 79.25; MLP: NCE 84.64 / 86.88, patches 80.14 /
           80.11, Split-Brain 72.35 / 63.15, DIM 72.57 / 70.00; strided crops, linear / MLP: 82.58 / 83.43, MLP of
           DIM 78.21, of CPC 77.81; supervised 68.70.
Ours:      not run yet.

What the paper leaves open: whether labelled pictures are contrasted too (they are: 105,000 in all), the number of
drawn negatives (4,096 here), the optimiser of NCE (SGD, as on ImageNet), batches (256, of patches 128), Split-Brain's
schedule and decoder (as for patches; ours), which maps give the patches (conv2 and conv3, each cell through a hidden
layer) and which of them are wrong choices (all of other images).
"""

from dataclasses import replace
from functools import partial
from typing import Any

import torch

from coview.contrast import Bank, BilinearCritic, CosineCritic, NCELoss, PairGraph, patch_graph
from coview.encoders import Strided, with_cells
from coview.recipes.pictures import Pictures, pictures
from coview.training import Recipe, patches
from coview.training.prediction import split_brain
from coview.views import chroma, colour, lightness

VIEWS = {"L": lightness, "ab": chroma}
CHANNELS = {"L": 1, "ab": 2}
DIM = 64
NEGATIVES = 4096
CELLS = ("conv2", "conv3")


def stl10_softmax(data_name: str = "stl10") -> Recipe:
    """L against ab among 4,097: the match and an own draw of negatives from the memory bank."""
    images = pictures(data_name)
    return Recipe(
        data=images.data(),
        views=VIEWS,
        augment=images.augment(),
        still=images.still(),
        encoders={name: images.half(channels, dim=DIM) for name, channels in CHANNELS.items()},
        graph=PairGraph([("L", "ab")]),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw=images.negatives(NEGATIVES), shared=False, momentum=0.5),
        batch_size=256,
        learning_rate=0.03,
        **images.schedule(320, (200, 240, 280)),
        schedule="step",
        **AROUND,
    )


def stl10_nce(data_name: str = "stl10") -> Recipe:
    """The same negatives, told from the match one by one: the paper's best on STL-10."""
    return replace(stl10_softmax(data_name), loss=partial(NCELoss, normaliser="first_batch"))


def stl10_exact(data_name: str = "stl10") -> Recipe:
    """The softmax over all pictures, which the paper calls too expensive."""
    return replace(stl10_softmax(data_name), negatives=partial(Bank, draw="all", momentum=0.5))


def stl10_patch(data_name: str = "stl10") -> Recipe:
    """Each view as a whole against cells of the other's early maps, within the batch."""
    images = pictures(data_name)
    halves = {name: images.half(channels, dim=DIM) for name, channels in CHANNELS.items()}
    return replace(
        stl10_softmax(data_name),
        encoders={name: cells_of(half, images) for name, half in halves.items()},
        graph=patch_graph(["L", "ab"], CELLS),
        critic=partial(BilinearCritic, dim=DIM),
        negatives=partial(patches, same_image=False),
        **by_adam(images),
    )


def stl10_strided(data_name: str = "stl10") -> Recipe:
    """Patches of 16 x 16, 8 apart, each encoded alone; wholes against them."""
    images = pictures(data_name)
    halves = {name: images.half(channels, dim=DIM) for name, channels in CHANNELS.items()}
    strided = {name: partial(Strided, make=half, size=16, step=8) for name, half in halves.items()}
    return replace(
        stl10_patch(data_name),
        encoders={name: cells_of(one, images, layers=("patches",)) for name, one in strided.items()},
        graph=patch_graph(["L", "ab"], ["patches"]),
        probe_layer="patches",
    )


def stl10_one_view(data_name: str = "stl10") -> Recipe:
    """One view, whole against its own cells, as Deep InfoMax has it; the whole AlexNet on all three channels."""
    images = pictures(data_name)
    whole = images.half(3, dim=DIM, width=2.0)
    return replace(
        stl10_patch(data_name),
        views={"Lab": partial(colour, space="Lab", channels=(0, 1, 2))},
        encoders={"Lab": cells_of(whole, images)},
        graph=patch_graph(["Lab"], CELLS),
    )


def stl10_one_view_strided(data_name: str = "stl10") -> Recipe:
    """One view by strided crops, which the paper compares its own with."""
    images = pictures(data_name)
    strided = partial(Strided, make=images.half(3, dim=DIM, width=2.0), size=16, step=8)
    return replace(
        stl10_one_view(data_name),
        encoders={"Lab": cells_of(strided, images, layers=("patches",))},
        graph=patch_graph(["Lab"], ["patches"]),
        probe_layer="patches",
    )


def stl10_split_brain(data_name: str = "stl10") -> Recipe:
    """Split-Brain: L predicts the colours, ab the lightness, each as classes on a map."""
    images = pictures(data_name)
    return replace(stl10_softmax(data_name), objective=split_brain, **by_adam(images))


AROUND: dict[str, Any] = {
    "compile": torch.cuda.is_available(),  # elsewhere it is seldom won back
    "log_every": 50,
    "save_every": 10,
    "probe_layer": "conv5",
}


def by_adam(images: Pictures) -> dict[str, Any]:
    """The schedule of the paper's patch training on STL-10."""
    return {
        "batch_size": 128,
        "optimiser": "adam",
        "learning_rate": 1e-3,
        "momentum": 0.5,
        "weight_decay": 0.0,
        **images.schedule(200, (120, 160)),
        "decay": 0.2,
    }


def cells_of(encoder: Any, images: Pictures, *, layers: tuple[str, ...] = CELLS, dim: int = DIM) -> Any:
    """An encoder that also embeds the cells of early maps."""
    return partial(with_cells, make=encoder, layers=layers, dim=dim, side=images.crop)
