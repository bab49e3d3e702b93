"""The method: pair graphs, critics, negatives, losses and the objective that joins them."""

from coview.contrast.critic import BilinearCritic, CosineCritic, Critic
from coview.contrast.exact import backends_for, exact_softmax
from coview.contrast.graph import Pair, PairGraph, core_graph, full_graph, jigsaw_graph, patch_graph
from coview.contrast.losses import NCELoss, scores, softmax_loss
from coview.contrast.negatives import Apart, Bank, InBatch, Negatives, Patches, Queue, ShardedBank
from coview.contrast.objective import Objective
from coview.types import Candidates

__all__ = [
    "Apart",
    "Bank",
    "BilinearCritic",
    "Candidates",
    "CosineCritic",
    "Critic",
    "InBatch",
    "NCELoss",
    "Negatives",
    "Objective",
    "Pair",
    "PairGraph",
    "Patches",
    "Queue",
    "ShardedBank",
    "backends_for",
    "core_graph",
    "exact_softmax",
    "full_graph",
    "jigsaw_graph",
    "patch_graph",
    "scores",
    "softmax_loss",
]
