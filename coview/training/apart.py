"""The objective of clips: as negatives the other samples of the batch, but never those of one's own video."""

from torch import nn

from coview.contrast import Apart, Objective
from coview.data import Dataset
from coview.training.recipe import Recipe


def apart(recipe: Recipe, data: Dataset, dim: int) -> nn.Module:
    """The recipe's critic and loss on the pairs of its graph; the dataset's `video` says what belongs together."""
    video = getattr(data, "video", None)
    if video is None:
        raise ValueError(
            f"dataset '{data.name}' does not say which samples belong together: it has no `video`"
        )
    return Objective(recipe.graph, recipe.critic(), Apart(video), recipe.loss(len(data)))
