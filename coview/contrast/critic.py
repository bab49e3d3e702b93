"""How alike two embeddings are: a critic turns them into a query and a key, and the score is their product."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class Critic(nn.Module):
    """An anchor's embedding becomes a query; by default a target's embedding is the key as it is."""

    def key(self, embedding: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        return embedding


class CosineCritic(Critic):
    """Cosine similarity over a temperature (equation 3)."""

    def __init__(self, temperature: float = 0.07) -> None:
        super().__init__()
        if not temperature > 0:
            raise ValueError(f"the temperature must be above 0, got {temperature}")
        self.temperature = temperature

    def forward(self, anchor: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
        return F.normalize(anchor, dim=-1) / self.temperature

    def key(self, embedding: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        return F.normalize(embedding, dim=-1)


class BilinearCritic(Critic):
    """anchor W target, with W learned; it starts as the plain product of the two."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(dim))

    def forward(self, anchor: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
        return anchor @ self.weight
