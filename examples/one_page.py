"""Contrastive multiview coding on one page of plain PyTorch: three views, the full graph, the exact softmax.

Numbers in brackets are equations of Tian, Krishnan and Isola, "Contrastive Multiview Coding". The library does
the same for any views, critic, negatives and loss; this page is there to be read.  python examples/one_page.py
"""

import math
from itertools import permutations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

VIEWS = {"sound": 30, "touch": 20, "smell": 25}  # how many numbers each view has
SAMPLES, BATCH, EPOCHS, HIDDEN, DIM = 1024, 64, 12, 8, 32  # of an embedding: DIM numbers
TEMPERATURE, MOMENTUM = 0.1, 0.5  # tau of [3]; how much the memory keeps


def toy_views(samples: int, seed: int) -> dict[str, Tensor]:
    """The same things, seen in several ways: a view bends what all share, mixed with as much of its own."""
    law, luck = torch.Generator().manual_seed(0), torch.Generator().manual_seed(seed)
    shared = torch.randn(samples, HIDDEN, generator=luck)
    views = {}
    for name, size in VIEWS.items():
        own = torch.randn(samples, HIDDEN, generator=luck)
        mix = torch.randn(2 * HIDDEN, size, generator=law) / HIDDEN**0.5
        views[name] = torch.tanh(torch.cat([shared, own], 1) @ mix)
    return views


def make_encoder(size: int) -> nn.Module:
    """f: from a view to its embedding. Each view has one of its own, of any kind."""
    return nn.Sequential(nn.Linear(size, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, DIM))


def make_bank(samples: int) -> dict[str, Tensor]:
    """Section 3.4: a row of memory for every sample in every view, at first random and of length about 1."""
    return {name: (2 * torch.rand(samples, DIM) - 1) * (3 / DIM) ** 0.5 for name in VIEWS}


def contrast(anchor: Tensor, memory: Tensor, index: Tensor) -> Tensor:
    """[2] Each anchor chooses, among all samples remembered in another view, the one it is."""
    log_h = normalize(anchor, dim=1) @ memory.T / TEMPERATURE  # [3] for every candidate: [BATCH, SAMPLES]
    return cross_entropy(log_h, index)  # -log(h of the match / sum of all h); the match of sample i is row i


def objective(embeddings: dict[str, Tensor], bank: dict[str, Tensor], index: Tensor) -> dict[str, Tensor]:
    """[8] The full graph: the terms of every pair of views, in both directions [4]."""
    return {f"{a}->{b}": contrast(embeddings[a], bank[b], index) for a, b in permutations(embeddings, 2)}


@torch.no_grad()
def remember(embeddings: dict[str, Tensor], bank: dict[str, Tensor], index: Tensor) -> None:
    """Memory moves towards what the encoders have just said."""
    for name, said in embeddings.items():
        new = MOMENTUM * bank[name][index] + (1 - MOMENTUM) * normalize(said, dim=1)
        bank[name][index] = normalize(new, dim=1)


def train(encoders: nn.ModuleDict, views: dict[str, Tensor]) -> None:
    """Encode, contrast, descend, remember."""
    bank, optimiser = make_bank(SAMPLES), torch.optim.Adam(encoders.parameters(), 2e-3)
    for epoch in range(EPOCHS):
        losses = []
        for index in torch.randperm(SAMPLES).split(BATCH):
            embeddings = {name: encoders[name](view[index]) for name, view in views.items()}
            terms = torch.stack(list(objective(embeddings, bank, index).values()))
            optimiser.zero_grad()
            terms.sum().backward()
            optimiser.step()
            remember(embeddings, bank, index)
            losses.append(terms.mean().item())
        loss = sum(losses) / len(losses)  # [6] log(negatives) - loss: information that two views share
        print(
            f"epoch {epoch + 1:2}  loss of a pair {loss:.2f}  bound {math.log(SAMPLES - 1) - loss:5.2f} nats"
        )


@torch.no_grad()
def retrieval(encoders: nn.ModuleDict, views: dict[str, Tensor]) -> dict[str, float]:
    """R@1 in percent: is the nearest embedding of another view the sample's own?"""
    said = {name: normalize(encoders[name].eval()(view), dim=1) for name, view in views.items()}
    nearest = {f"{a}->{b}": (said[a] @ said[b].T).argmax(1) for a, b in permutations(said, 2)}
    return {
        pair: 100 * (row == torch.arange(len(row))).float().mean().item() for pair, row in nearest.items()
    }


if __name__ == "__main__":
    torch.manual_seed(0)
    encoders = nn.ModuleDict({name: make_encoder(size) for name, size in VIEWS.items()})
    train(encoders, toy_views(SAMPLES, seed=1))
    print("500 new samples, each looked up in another view (chance 0.2 %):")
    for pair, found in retrieval(encoders, toy_views(500, seed=2)).items():
        print(f"  {pair:12}  {found:4.1f} % found")
