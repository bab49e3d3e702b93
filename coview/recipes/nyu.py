"""NYU-Depth-V2: L, ab, depth and normals of 795 frames, contrasted by patches (section 4.3).

Claim:     each view that is added makes L's encoder tell better what is where; core view and full graph do alike, and
           come near to supervision; contrast beats prediction; samples that lack views are worth having.
Command:   coview reproduce more-views | core-or-full | all-views | predict-or-contrast | missing, or one of them:
           coview train nyu
Hardware:  made for one H200; no run has been timed yet.
Paper:     pixel accuracy / mIoU from L: random 45.5 / 21.4, core 57.1 / 34.1, full 57.0 / 34.4, supervised 57.8 / 35.9.
           Encoder moved to STL-10, prediction / contrast: depth 55.5 / 58.3, normals 58.4 / 60.1, segments 57.7 / 59.2.
Ours:      not run yet.

What the paper leaves open: which maps give the patches (conv2 and conv3, pooled to 8 x 8 cells, each through a hidden
layer), which of them are wrong choices (all of other frames), the score (an inner product of unit vectors over a
temperature), batches (128), mirror images (taken) and whether the frames to test on are contrasted too (they are not).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from coview.contrast import CosineCritic, PairGraph, patch_graph
from coview.encoders import NYUEncoder, with_cells
from coview.recipes.frames import Sizes, sizes_of
from coview.training import Recipe, patches
from coview.training.prediction import prediction
from coview.types import View
from coview.views import chroma, depth, lightness, normal, segments

VIEWS: dict[str, View] = {"L": lightness, "ab": chroma, "depth": depth, "normal": normal}
CHANNELS = {"L": 1, "ab": 2, "depth": 1, "normal": 3, "segment": 1}
DIM = 256  # fc7 of the table
CELLS = ("conv2", "conv3")


def nyu(data_name: str = "nyu") -> Recipe:
    """The full graph over four views: every view as a whole against patches of every other."""
    return _contrast(data_name, list(VIEWS))


def nyu_core(data_name: str = "nyu") -> Recipe:
    """L as the core view: contrasted with each of the others, who are not among themselves (equation 7)."""
    return _with(data_name, "ab", "depth", "normal")


def nyu_one(data_name: str = "nyu") -> Recipe:
    """L alone, as a whole against its own patches: what the paper says coincides with Deep InfoMax."""
    return _with(data_name)


def nyu_ab(data_name: str = "nyu") -> Recipe:
    """L with ab."""
    return _with(data_name, "ab")


def nyu_depth(data_name: str = "nyu") -> Recipe:
    """L with depth."""
    return _with(data_name, "depth")


def nyu_normal(data_name: str = "nyu") -> Recipe:
    """L with normals."""
    return _with(data_name, "normal")


def nyu_segment(data_name: str = "nyu") -> Recipe:
    """L with the map of segments, whose classes are numbers in one channel as in the paper's table."""
    return _with(data_name, "segment")


def nyu_ab_depth(data_name: str = "nyu") -> Recipe:
    """L with ab and depth."""
    return _with(data_name, "ab", "depth")


def nyu_ab_normal(data_name: str = "nyu") -> Recipe:
    """L with ab and normals."""
    return _with(data_name, "ab", "normal")


def nyu_depth_normal(data_name: str = "nyu") -> Recipe:
    """L with depth and normals."""
    return _with(data_name, "depth", "normal")


def nyu_predict_depth(data_name: str = "nyu") -> Recipe:
    """Depth predicted from L in place of contrast, and L from depth by an encoder of its own (section 3.1)."""
    return _predict(data_name, "depth")


def nyu_predict_normal(data_name: str = "nyu") -> Recipe:
    """Normals predicted from L in place of contrast."""
    return _predict(data_name, "normal")


def nyu_predict_segment(data_name: str = "nyu") -> Recipe:
    """Segments predicted from L in place of contrast: for each cell of a grid the share of every class in it."""
    recipe, classes = _predict(data_name, "segment"), sizes_of(data_name).classes
    views = {**recipe.views, "segment": partial(segments, classes=classes, apart=True)}
    encoders = {**recipe.encoders, "segment": _encoder(classes)}
    return replace(recipe, views=views, encoders=encoders)


def nyu_gaps(data_name: str = "nyu") -> Recipe:
    """The full graph where half of the frames lack depth, and another draw of half lacks normals."""
    recipe = nyu(data_name)
    data: Any = recipe.data
    return replace(recipe, data=partial(data, share=0.5))


def _with(data_name: str, *others: str) -> Recipe:
    """L as the core view of some others."""
    return _contrast(data_name, ["L", *others], core="L")


def _contrast(data_name: str, names: Sequence[str], *, core: str | None = None) -> Recipe:
    sizes = sizes_of(data_name)
    cells = partial(with_cells, layers=CELLS, dim=DIM, hidden=256, most=64, side=sizes.crop)
    return Recipe(
        data=sizes.data(),
        views=_views(names, sizes),
        augment=sizes.augment(),
        encoders={name: partial(cells, make=_encoder(CHANNELS[name])) for name in names},
        graph=patch_graph(names, CELLS, core=core),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(patches, same_image=False),
        **_by_adam(sizes),
    )


def _predict(data_name: str, target: str) -> Recipe:
    recipe = _with(data_name, target)
    return replace(
        recipe,
        encoders={name: _encoder(CHANNELS[name]) for name in recipe.encoders},
        graph=PairGraph([("L", target)]),
        objective=partial(prediction, loss="l2", side=16),
    )


def _encoder(channels: int) -> Any:
    return partial(NYUEncoder, channels, dim=DIM, width=1.0)


def _views(names: Sequence[str], sizes: Sizes) -> dict[str, View]:
    known = {**VIEWS, "segment": partial(segments, classes=sizes.classes)}
    return {name: known[name] for name in names}


def _by_adam(sizes: Sizes) -> dict[str, Any]:
    """The paper's schedule for NYU."""
    schedule = sizes.schedule(3000, (2000, 2400, 2800))
    return {
        "batch_size": 128,
        "optimiser": "adam",
        "learning_rate": 1e-3,
        "momentum": 0.5,
        "weight_decay": 0.0,
        **schedule,
        "schedule": "step",
        "decay": 0.2,
        "compile": torch.cuda.is_available(),  # elsewhere it is seldom won back
        "log_every": 50,
        "save_every": max(schedule["epochs"] // 10, 1),
        "probe_layer": "conv5",
    }
