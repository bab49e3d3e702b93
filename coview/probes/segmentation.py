"""What is where: a decoder trained on frozen or on learning maps, scored over a whole test set (section 4.3).

Truth counts classes from 1, and 0 is void: it is neither learned nor scored. Scores have a channel a class.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, Integer
from torch import Tensor, nn
from torch.nn import functional

from coview.probes.layers import mode

Shown = tuple[Tensor, Tensor]
"""A view [B C H W] and the true classes [B 1 H W] of its pixels."""

DECAY, MILESTONES = 0.2, (2 / 3, 0.8, 14 / 15)  # the paper's 2,000, 2,400 and 2,800 of 3,000 epochs


@dataclass(frozen=True)
class Segmented:
    """How often each class (row) was taken for each (column), over all pixels that have one."""

    matrix: Int[Tensor, "Q Q"]

    @property
    def pixel_accuracy(self) -> float:
        """Percent of the pixels whose class was said."""
        return 100 * float(self.matrix.diagonal().sum()) / max(int(self.matrix.sum()), 1)

    @property
    def iou(self) -> Float[Tensor, "Q"]:
        """By class, the share in percent that the truth and what was said have in common; NaN of one in neither."""
        both = self.matrix.diagonal().double()
        return 100 * both / (self.matrix.sum(0) + self.matrix.sum(1) - both)

    @property
    def mean_iou(self) -> float:
        """The mean over the classes that occur."""
        return float(self.iou.nanmean())


def confusion(
    truth: Integer[Tensor, "*B H W"], said: Integer[Tensor, "*B H W"], *, classes: int
) -> Int[Tensor, "Q Q"]:
    """Pixels by true class and by the class that was said, counted on their device; void is left out."""
    known = truth > 0
    cell = (truth.long() - 1) * classes + said.long() - 1
    counted = torch.where(known, cell, classes * classes).flatten()
    return torch.bincount(counted, minlength=classes * classes + 1)[:-1].view(classes, classes)


def say(unet: nn.Module, view: Float[Tensor, "B C H W"]) -> Int[Tensor, "B 1 H W"]:
    """The class of every pixel, from 1."""
    return unet(view).argmax(1, keepdim=True) + 1


def score(unet: nn.Module, batches: Iterable[Shown], *, classes: int) -> Segmented:
    """One matrix over all pixels of all batches."""
    matrix: Tensor | int = 0
    with mode([unet], training=False), torch.no_grad():
        for view, truth in batches:
            matrix = matrix + confusion(truth, say(unet, view), classes=classes)
    if isinstance(matrix, int):
        raise ValueError("nothing to score: there are no batches")
    return Segmented(matrix)


def pixel_loss(scores: Float[Tensor, "B Q H W"], truth: Integer[Tensor, "B 1 H W"]) -> Float[Tensor, ""]:
    """Cross-entropy, averaged over the pixels that have a class; 0 where none has."""
    target = truth.squeeze(1).long() - 1
    total = functional.cross_entropy(scores.float(), target, ignore_index=-1, reduction="sum")
    return total / (target >= 0).sum().clamp(min=1)


@torch.enable_grad()
def train_decoder(
    unet: nn.Module,
    batches: Callable[[int], Iterable[Shown]],
    *,
    epochs: int,
    learning_rate: float = 1e-3,
    betas: tuple[float, float] = (0.5, 0.999),
) -> list[float]:
    """Train what of a UNet is not frozen, in place; gives the mean loss by epoch. The host waits for no step."""
    if epochs < 1:
        raise ValueError(f"a decoder is trained for one epoch or more, got {epochs}")
    free = [one for one in unet.parameters() if one.requires_grad]
    descent = torch.optim.Adam(free, lr=learning_rate, betas=betas)
    seen = []
    with mode([unet], training=True):
        for epoch in range(epochs):
            for group in descent.param_groups:
                group["lr"] = learning_rate * _factor(epoch, epochs)
            losses = []
            for view, truth in batches(epoch):
                loss = pixel_loss(unet(view), truth)
                descent.zero_grad()
                loss.backward()
                descent.step()
                losses.append(loss.detach())
            seen.append(torch.stack(losses).mean())
    return torch.stack(seen).tolist()


def _factor(epoch: int, epochs: int) -> float:
    """What the learning rate is multiplied by."""
    return DECAY ** sum(epoch >= share * epochs for share in MILESTONES)
