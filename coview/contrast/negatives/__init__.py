"""Where candidates come from: a memory bank, a queue, or the batch itself."""

from typing import Protocol, runtime_checkable

from torch import Tensor

from coview.contrast.negatives.apart import Apart
from coview.contrast.negatives.bank import Bank
from coview.contrast.negatives.batch import InBatch
from coview.contrast.negatives.patches import Patches
from coview.contrast.negatives.queue import Queue
from coview.contrast.negatives.sharded import ShardedBank
from coview.types import Candidates, Embeddings, Present

__all__ = ["Apart", "Bank", "InBatch", "Negatives", "Patches", "Queue", "ShardedBank"]


@runtime_checkable
class Negatives(Protocol):
    """Anything that offers candidates for a target node, and may remember a batch once it has been scored.

    Targets are embeddings [B D]; those that also take cells [B P D] have an attribute `cells` that is true. Those with
    a true `settled` offer the same to all who ask about a target in a step, and are asked once; with a true `steady`
    they never look at what is there, and a step can be recorded as a CUDA graph.
    """

    def candidates(self, target: str, embedding: Tensor, index: Tensor) -> Candidates: ...

    def update(self, embeddings: Embeddings, index: Tensor, present: Present | None = None) -> None: ...
