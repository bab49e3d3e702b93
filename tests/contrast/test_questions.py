"""What is asked about a target is made once for all pairs that ask; what is drawn or weighed is made for each."""

from collections import Counter

import pytest
import torch

from coview.contrast import (
    Bank,
    BilinearCritic,
    CosineCritic,
    InBatch,
    NCELoss,
    Objective,
    full_graph,
    softmax_loss,
)
from coview.contrast.graph import PairGraph
from coview.contrast.negatives import Apart, Patches, Queue

VIEWS = ("a", "b", "c")
SAMPLES, BATCH, DIM = 23, 5, 7
INDEX = torch.tensor([3, 19, 0, 11, 8])


class Asked(torch.nn.Module):
    """Negatives that count how often they are asked about each target."""

    def __init__(self, negatives):
        super().__init__()
        self.inside, self.count = negatives, Counter()
        self.cells = getattr(negatives, "cells", False)
        self.settled = getattr(negatives, "settled", False)

    def candidates(self, target, embedding, index):
        self.count[target] += 1
        return self.inside.candidates(target, embedding, index)

    def update(self, embeddings, index, present=None):
        self.inside.update(embeddings, index, present)


def made(kind):
    torch.manual_seed(1)
    found = {
        "batch": InBatch,
        "queue": lambda: Queue(VIEWS, 11, DIM),
        "apart": lambda: Apart(torch.arange(SAMPLES) // 4),
        "all": lambda: Bank(VIEWS, SAMPLES, DIM),
        "drawn": lambda: Bank(VIEWS, SAMPLES, DIM, draw=6),
        "drawn for each": lambda: Bank(VIEWS, SAMPLES, DIM, draw=6, shared=False),
    }
    return Asked(found[kind]())


def embeddings(*nodes, cells=0):
    torch.manual_seed(2)
    sizes = {node: (BATCH, cells, DIM) if ":" in node else (BATCH, DIM) for node in nodes}
    return {node: torch.randn(*size, requires_grad=True) for node, size in sizes.items()}


@pytest.mark.parametrize("kind", ["batch", "queue", "apart", "all", "drawn", "drawn for each"])
def test_a_target_is_asked_about_once_unless_its_candidates_are_drawn(kind):
    negatives = made(kind)
    Objective(full_graph(VIEWS), CosineCritic(), negatives)(embeddings(*VIEWS), INDEX)
    each = 2 if "drawn" in kind else 1
    assert negatives.count == dict.fromkeys(VIEWS, each)


def test_each_pair_asks_for_itself_where_critics_have_weights():
    negatives = made("batch")
    Objective(full_graph(VIEWS), BilinearCritic(DIM), negatives)(embeddings(*VIEWS), INDEX)
    assert negatives.count == dict.fromkeys(VIEWS, 2)


@pytest.mark.parametrize("kind", ["batch", "queue", "apart", "all"])
@pytest.mark.parametrize("loss", ["softmax", "nce"])
@pytest.mark.parametrize("gaps", [{}, {"c": [0, 3]}, {"a": [1], "b": [0, 4], "c": [1, 2]}])
def test_terms_and_gradients_are_those_of_pairs_that_ask_alone(kind, loss, gaps):
    present = {view: ~torch.isin(torch.arange(BATCH), torch.tensor(rows)) for view, rows in gaps.items()}
    negatives = made(kind)
    make = (lambda: softmax_loss) if loss == "softmax" else (lambda: NCELoss(SAMPLES))
    nodes, found = embeddings(*VIEWS), {}
    together = Objective(full_graph(VIEWS), CosineCritic(0.3), negatives, make())(nodes, INDEX, present)
    assert negatives.count == dict.fromkeys(VIEWS, 1)
    slopes = torch.autograd.grad(sum(together.values()), list(nodes.values()))
    for one in VIEWS:
        for other in VIEWS:
            if one < other:
                found |= Objective(PairGraph([(one, other)]), CosineCritic(0.3), made(kind), make())(
                    nodes, INDEX, present
                )
    assert found.keys() == together.keys()
    for name, term in together.items():
        torch.testing.assert_close(term, found[name])
    for slope, wanted in zip(
        slopes, torch.autograd.grad(sum(found.values()), list(nodes.values())), strict=True
    ):
        torch.testing.assert_close(slope, wanted)


def test_wholes_and_cells_that_choose_among_wholes_are_asked_together():
    nodes = embeddings("a", "b", "a:x", "b:x", "b:y", cells=4)
    edges = [("a", "b"), ("a", "b:x"), ("a", "b:y"), ("b", "a:x")]
    calls = []

    def counted(query, candidates):
        calls.append((len(query), len(candidates.keys)))
        return softmax_loss(query, candidates)

    negatives = Asked(Patches())
    terms = Objective(PairGraph(edges), CosineCritic(), negatives)(nodes, INDEX)
    assert negatives.count == dict.fromkeys(nodes, 1)
    assert len(terms) == 8
    alone = {}
    for edge in edges:
        alone |= Objective(PairGraph([edge]), CosineCritic(), Patches(), counted)(nodes, INDEX)
    assert sorted(calls) == sorted([(5, 5), (5, 5), *[(5, 20), (20, 5)] * 3])
    for name, term in terms.items():
        torch.testing.assert_close(term, alone[name])
