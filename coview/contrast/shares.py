"""Terms as means over the anchors of all processes, however unequally these have them."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview import processes
from coview.contrast.graph import Pair
from coview.types import Present, view_of


def shares_of_anchors(pairs: Sequence[Pair], index: Int[Tensor, "B"], present: Present) -> dict[str, float]:
    """The pairs that somebody asks, each with the anchors of this process beside the mean of all processes.

    The mean of a process times its share, averaged over the processes, is the mean over all anchors.
    """
    if not present:
        return {pair.name: 1.0 for pair in pairs}
    everyone = torch.ones_like(index, dtype=torch.bool)
    have = {view: present.get(view, everyone) for pair in pairs for view in _views(pair)}
    here = torch.stack([torch.stack([have[view] for view in _views(pair)]).all(0).sum() for pair in pairs])
    counts = torch.stack([here.double(), processes.mean(here.double())], 1).tolist()
    return {pair.name: mine / mean for pair, (mine, mean) in zip(pairs, counts, strict=True) if mean}


def mean(values: Float[Tensor, "*A"]) -> Float[Tensor, ""]:
    """The mean; of nothing, 0."""
    return values.mean() if len(values) else values.sum()


def _views(pair: Pair) -> tuple[str, str]:
    return view_of(pair.anchor), view_of(pair.target)
