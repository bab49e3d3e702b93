"""Action recognition: a network started from an encoder's convolutions, and clips judged by many looks at each.

As the spatial stream of Simonyan and Zisserman (2014) is trained and tested, which the paper follows (section 4.2).
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from coview.probes.retrieval import nearest


@dataclass(frozen=True)
class FineTuning:
    """How the network is trained; the rate falls along a cosine."""

    epochs: int = 60
    batch: int = 128
    learning_rate: float = 0.01
    momentum: float = 0.9
    weight_decay: float = 5e-4
    dropout: float = 0.9  # the spatial stream's
    hidden: int = 4096

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2:
            raise ValueError(
                f"fine-tuning takes an epoch and batches of 2 at the least, got {self.epochs}, {self.batch}"
            )


class ActionNet(nn.Module):
    """An encoder up to one layer, which goes on learning, and three fresh full layers behind it."""

    def __init__(
        self,
        encoder: nn.Module,
        view: Float[Tensor, "B ..."],
        *,
        layer: str,
        classes: int,
        tuning: FineTuning,
    ) -> None:
        super().__init__()
        self.encoder, self.layer = copy.deepcopy(encoder), layer
        with torch.no_grad():
            inputs = self._maps(view[:2]).shape[1]
        device = view.device
        sizes = (inputs, tuning.hidden, tuning.hidden)
        self.head = nn.Sequential()
        for n in range(2):
            full = nn.Linear(sizes[n], sizes[n + 1], device=device)
            self.head.extend([full, nn.ReLU(inplace=True), nn.Dropout(tuning.dropout)])
        self.head.append(nn.Linear(tuning.hidden, classes, device=device))

    def forward(self, view: Float[Tensor, "B ..."]) -> Float[Tensor, "B C"]:
        return self.head(self._maps(view)).float()

    def _maps(self, view: Tensor) -> Tensor:
        encoder: Any = self.encoder
        found = encoder.convolved(view) if hasattr(encoder, "convolved") else encoder.features(view)
        if self.layer not in found:
            raise ValueError(
                f"{type(self.encoder).__name__} has no layer '{self.layer}'; it has {', '.join(found)}"
            )
        return found[self.layer].flatten(1)


Batches = Callable[[int], Iterable[tuple[Tensor, Tensor]]]
"""From the number of an epoch to its batches: a view, and labels."""


def fine_tune(network: nn.Module, batches: Batches, tuning: FineTuning, *, steps: int) -> None:
    """Train a network on labels, in place, for so many steps in an epoch."""
    descent = torch.optim.SGD(
        network.parameters(),
        lr=tuning.learning_rate,
        momentum=tuning.momentum,
        weight_decay=tuning.weight_decay,
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(descent, tuning.epochs * steps)
    network.train()
    with torch.enable_grad():
        for epoch in range(tuning.epochs):
            for view, label in batches(epoch):
                loss = functional.cross_entropy(network(view), label.long())
                descent.zero_grad()
                loss.backward()
                descent.step()
                schedule.step()


@torch.no_grad()
def average_scores(network: nn.Module, looks: Iterable[Float[Tensor, "B ..."]]) -> Float[Tensor, "B C"]:
    """The probabilities of each class, averaged over several looks at the same clips."""
    network.eval()
    total, count = None, 0
    for view in looks:
        said = network(view).softmax(1)
        total, count = said if total is None else total + said, count + 1
    if total is None:
        raise ValueError("clips are judged by one look or more, got none")
    return total / count


def clip_retrieval(
    query: Float[Tensor, "Q D"],
    query_label: Int[Tensor, "Q"],
    target: Float[Tensor, "N D"],
    target_label: Int[Tensor, "N"],
    *,
    at: Sequence[int] = (1, 5, 10),
) -> dict[int, float]:
    """How often a clip of the query's class is among its k nearest of the targets, in percent by k."""
    most = min(max(at), len(target))
    hits = target_label[nearest(query, target, most)] == query_label[:, None]
    return {k: 100 * hits[:, :k].any(1).float().mean().item() for k in at}


def shares(looks: int) -> Iterator[float]:
    """Moments at equal distances, from a clip's first to its last; of one, the middle."""
    yield from ([0.5] if looks == 1 else torch.linspace(0, 1, looks).tolist())
