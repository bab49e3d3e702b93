"""What several views say of a sample as one vector; what is missing is guessed from what is there."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

Parts = dict[str, Float[Tensor, "N _"]]
Have = Mapping[str, Bool[Tensor, "N"]]


@dataclass(frozen=True)
class Memory:
    """What training samples look like in every view: unit embeddings, and the features that are put together."""

    embeddings: Parts
    features: Parts
    present: Have

    def recall(self, view: str, anchors: Parts, have: Have, temperature: float) -> Float[Tensor, "N F"]:
        """What samples would look like in a view they lack: the training samples that have it, each weighted by the
        model's own softmax, as the views that are there would choose among them."""
        rows = self.present[view]
        keys, values = self.embeddings[view][rows], self.features[view][rows]
        scores = torch.zeros(len(next(iter(anchors.values()))), len(keys), device=keys.device)
        for name, anchor in anchors.items():
            scores += have[name][:, None] * (anchor @ keys.T)
        count = torch.stack([have[name] for name in anchors]).sum(0).clamp(min=1)
        return F.softmax(scores / (temperature * count[:, None]), 1) @ values


def fused(embeddings: Parts, have: Have) -> Float[Tensor, "N D"]:
    """The mean direction of the views that are there; zeros for a sample that has none."""
    total = sum(have[name][:, None] * embedding for name, embedding in embeddings.items())
    assert isinstance(total, Tensor)
    return F.normalize(total, dim=1)


def completed(memory: Memory, features: Parts, embeddings: Parts, have: Have, temperature: float) -> Parts:
    """The features of every view for every sample: its own, or those it would have."""
    whole = {}
    for name, values in features.items():
        lacking = ~have[name]
        if bool(lacking.any()):
            anchors = {other: one[lacking] for other, one in embeddings.items() if other != name}
            there = {other: have[other][lacking] for other in anchors}
            values = values.clone()
            values[lacking] = memory.recall(name, anchors, there, temperature)
        whole[name] = values
    return whole
