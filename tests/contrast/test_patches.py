"""Cells against whole views: the loss of the appendix in both directions, written out as plain loops."""

import math

import pytest
import torch
from slow import nce_anchor, softmax_anchor
from torch import Tensor

from coview.contrast import (
    Bank,
    BilinearCritic,
    Candidates,
    CosineCritic,
    InBatch,
    NCELoss,
    Objective,
    PairGraph,
    Patches,
    core_graph,
    patch_graph,
    softmax_loss,
)

BATCH, CELLS, DIM = 6, 4, 3
GRAPH = PairGraph([("L", "ab:conv2")])


def embed(grad: bool = True, cells: int = CELLS) -> dict[str, Tensor]:
    shapes = {"L": (BATCH, DIM), "ab:conv2": (BATCH, cells, DIM)}
    return {
        node: torch.randn(shape, dtype=torch.float64, requires_grad=grad) for node, shape in shapes.items()
    }


def objective(loss=softmax_loss, *, same_image: bool = False) -> Objective:
    """Scores are plain products, so that the loops are short."""
    return Objective(GRAPH, BilinearCritic(DIM).double(), Patches(same_image), loss)


def questions(embeddings: dict[str, Tensor], present: dict[str, Tensor], same_image: bool):
    """For each direction and each of its questions: query, keys and the place of the match among them."""
    has = {v: present.get(v, torch.ones(BATCH, dtype=torch.bool)).tolist() for v in ("L", "ab")}
    whole, cells = embeddings["L"].tolist(), embeddings["ab:conv2"].tolist()
    both = [n for n in range(BATCH) if has["L"][n] and has["ab"][n]]
    for n in both:
        others = [cell for m in range(BATCH) if m != n and has["ab"][m] for cell in cells[m]]
        for match in range(len(cells[n])):
            rivals = [cell for p, cell in enumerate(cells[n]) if p != match] if same_image else []
            yield "L->ab:conv2", whole[n], [*others, cells[n][match], *rivals], len(others)
        others = [whole[m] for m in range(BATCH) if m != n and has["L"][m]]
        for cell in cells[n]:
            yield "ab:conv2->L", cell, [*others, whole[n]], len(others)


def means(slow, embeddings, present, same_image) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for name, *question in questions(embeddings, present, same_image):
        found.setdefault(name, []).append(slow(*question))
    return {name: sum(values) / len(values) for name, values in found.items()}


SOME = {
    "L": torch.tensor([True, True, False, True, True, True]),
    "ab": torch.tensor([True, False, False, True, True, True]),
}


@pytest.mark.parametrize("same_image", [False, True])
@pytest.mark.parametrize("present", [{}, SOME, {"ab": SOME["ab"]}])
def test_both_directions_are_the_loop(same_image, present):
    embeddings = embed()
    terms = objective(same_image=same_image)(embeddings, torch.arange(BATCH), present)
    slow = means(softmax_anchor, embeddings, present, same_image)
    assert {name: term.item() for name, term in terms.items()} == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize("same_image", [False, True])
def test_the_gradient_is_that_of_the_loop(same_image):
    embeddings = embed()
    sum(objective(same_image=same_image)(embeddings, torch.arange(BATCH), SOME).values()).backward()
    for node in embeddings:
        grad, flat = embeddings[node].grad, embeddings[node].detach().flatten()
        assert grad is not None
        for place in range(0, len(flat), 5):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {name: one.detach().clone() for name, one in embeddings.items()}
                moved[node].view(-1)[place] += step
                ends.append(sum(means(softmax_anchor, moved, SOME, same_image).values()))
            assert grad.flatten()[place].item() == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("same_image", [False, True])
def test_nce_takes_cells(same_image):
    loss = NCELoss(samples=37)
    loss.log_z.fill_(math.log(11.0))
    embeddings = embed()
    terms = objective(loss, same_image=same_image)(embeddings, torch.arange(BATCH), SOME)

    def slow(query, keys, match):
        return nce_anchor(query, keys, match, 37, 11.0)

    expected = means(slow, embeddings, SOME, same_image)
    assert {name: term.item() for name, term in terms.items()} == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("same_image", [False, True])
@pytest.mark.parametrize("loss", [softmax_loss, NCELoss(23, "exact")])
def test_one_cell_is_one_vector(loss, same_image):
    embeddings, index = embed(cells=1), torch.arange(BATCH)
    cells = objective(loss, same_image=same_image)(embeddings, index, SOME)
    flat = {"L": embeddings["L"], "ab": embeddings["ab:conv2"].squeeze(1)}
    graph = PairGraph([("L", "ab")])
    plain = Objective(graph, BilinearCritic(DIM).double(), InBatch(), loss)(flat, index, SOME)
    for name, term in plain.items():
        torch.testing.assert_close(cells[name.replace("ab", "ab:conv2")], term)


@pytest.mark.parametrize("valid", [False, True])
@pytest.mark.parametrize("rivals", [False, True])
def test_several_matches_among_keys_of_ones_own(valid, rivals):
    """The losses know nothing of cells: matches may be anywhere, among keys drawn for each anchor."""
    keys, query = torch.randn(5, 9, DIM, dtype=torch.float64), torch.randn(5, DIM, dtype=torch.float64)
    match = torch.stack([torch.randperm(9)[:2] for _ in range(5)])
    there = (torch.rand(5, 9) > 0.4).scatter(1, match, True) if valid else torch.ones(5, 9, dtype=torch.bool)
    found = softmax_loss(query, Candidates(keys, match, there if valid else None, rivals))
    for n in range(5):
        total = 0.0
        for p in match[n].tolist():
            others = [k for k in range(9) if there[n, k] and k != p and (rivals or k not in match[n])]
            total += softmax_anchor(query[n].tolist(), keys[n, [*others, p]].tolist(), len(others))
        assert found[n].item() == pytest.approx(total / 2)


@pytest.mark.parametrize("same_image", [False, True])
def test_uninformative_scores_cost_log_k(same_image):
    """One match among all cells of the others, and where they are rivals the rest of one's own."""
    embeddings = {node: torch.zeros_like(one) for node, one in embed(grad=False).items()}
    model = objective(same_image=same_image)
    terms = model(embeddings, torch.arange(BATCH))
    wrong = (BATCH - 1) * CELLS
    assert terms["ab:conv2->L"].item() == pytest.approx(math.log(BATCH))
    assert terms["L->ab:conv2"].item() == pytest.approx(math.log(BATCH * CELLS if same_image else wrong + 1))
    assert model.ceilings["L->ab:conv2"] == pytest.approx(math.log(wrong))
    assert model.ceilings["ab:conv2->L"] == pytest.approx(math.log(BATCH - 1))


def test_a_sample_alone_has_nothing_to_choose_from():
    alone = {"ab": torch.arange(BATCH) == 2}
    embeddings = embed()
    terms = objective()(embeddings, torch.arange(BATCH), alone)
    assert terms["L->ab:conv2"].item() == 0
    sum(terms.values()).backward()
    assert all(one.grad.isfinite().all() for one in embeddings.values())


def test_scores_are_never_cells_by_cells():
    """The largest tensor has the scores of B views with B P cells."""
    embeddings = {"L": torch.randn(13, 2), "ab:conv2": torch.randn(13, 11, 2)}
    largest = 0

    class Largest(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            nonlocal largest
            out = func(*args, **(kwargs or {}))
            for one in out if isinstance(out, tuple | list) else [out]:
                largest = max(largest, one.numel() if isinstance(one, Tensor) else 0)
            return out

    embeddings = {node: one.requires_grad_() for node, one in embeddings.items()}
    with Largest():
        terms = Objective(GRAPH, CosineCritic(), Patches())(embeddings, torch.arange(13))
        sum(terms.values()).backward()
    assert largest == 13 * 13 * 11


def test_patch_graph():
    graph = patch_graph(["L", "ab", "depth"], ["conv2", "conv3"])
    assert len(graph.edges) == 3 * 2 * 2
    assert ("ab", "depth:conv3", 1.0) in graph.edges
    assert not any(a == b.split(":")[0] for a, b, _ in graph.edges)
    assert [pair.name for pair in patch_graph(["L"], ["conv2"]).directed()] == ["L->L:conv2", "L:conv2->L"]
    core = patch_graph(["L", "ab", "depth"], ["conv2"], core="L")
    assert core.edges == (
        ("L", "ab:conv2", 1.0),
        ("L", "depth:conv2", 1.0),
        ("ab", "L:conv2", 1.0),
        ("depth", "L:conv2", 1.0),
    )
    assert patch_graph(["L"], ["conv2"], core="L") == patch_graph(["L"], ["conv2"])
    with pytest.raises(ValueError, match="the core view 'l' is none of"):
        patch_graph(["L", "ab"], ["conv2"], core="l")


@pytest.mark.parametrize(
    ("views", "layers"), [([], ["a"]), (["L"], []), (["L", "L"], ["a"]), (["L"], ["a", "a"])]
)
def test_bad_patch_graphs(views, layers):
    with pytest.raises(ValueError, match="needs different views and different layers, got"):
        patch_graph(views, layers)


def test_parts_are_put_into_their_views():
    graph = PairGraph([("L", "ab:conv2", 2.0), ("ab", "L:conv2", 3.0), ("L", "depth"), ("L", "L:conv2")])
    assert graph.views == ("L", "ab", "depth")
    assert graph.nodes == ("L", "ab:conv2", "ab", "L:conv2", "depth")
    assert graph.of_views() == PairGraph([("L", "ab", 5.0), ("L", "depth", 1.0), ("L", "L", 1.0)])
    assert graph.regions() == graph.of_views().regions()
    assert graph.regions()[frozenset({"L", "ab"})] == 6.0


@pytest.mark.parametrize("name", ["ab:", ":conv2", "ab:conv2:3", "a.b:c"])
def test_names_of_parts(name):
    with pytest.raises(ValueError, match="a part of it is 'view:part', got"):
        PairGraph([("L", name)])


def test_cells_are_not_for_memory():
    bank = Bank(GRAPH.nodes, 20, DIM)
    with pytest.raises(
        ValueError, match="'ab:conv2' is cells, but Bank holds one vector for each sample: take Patches"
    ):
        Objective(GRAPH, CosineCritic(), bank)(embed(), torch.arange(BATCH))


def test_cells_with_cells():
    model = Objective(PairGraph([("L:conv2", "ab:conv2")]), CosineCritic(), Patches())
    cells = embed()["ab:conv2"]
    with pytest.raises(ValueError, match="'L:conv2->ab:conv2' is one of cells with cells"):
        model({"L:conv2": cells, "ab:conv2": cells}, torch.arange(BATCH))


def test_a_part_of_one_vector_is_remembered_and_goes_with_its_view():
    """Parts may be single vectors: they then have rows in a bank, where their view is there."""
    nodes, there = ["L", "ab:fc7"], torch.arange(20) % 3 > 0
    bank = Bank(nodes, 20, DIM, present={"ab": there}, start="empty")
    model = Objective(core_graph("L", ["ab:fc7"]), CosineCritic(), bank)
    embeddings, index = {node: torch.randn(BATCH, DIM) for node in nodes}, torch.arange(BATCH)
    model({**embeddings, "ab:conv2": embed()["ab:conv2"]}, index, {"ab": there[index]})
    model.remember({**embeddings, "ab:conv2": embed()["ab:conv2"]}, index, {"ab": there[index]})
    assert torch.equal(bank.there("ab:fc7"), there & (torch.arange(20) < BATCH))
