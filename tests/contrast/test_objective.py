"""The objective: sums of directed terms, missing views, weights, bounds."""

import math

import pytest
import torch
from torch.nn import functional as F

from coview.contrast import (
    Bank,
    BilinearCritic,
    CosineCritic,
    InBatch,
    NCELoss,
    Objective,
    PairGraph,
    Queue,
    core_graph,
    full_graph,
    softmax_loss,
)
from coview.information import gaussian_information

SAMPLES, DIM, BATCH = 29, 6, 8
VIEWS = ["a", "b", "c"]


def embed(views=VIEWS, batch=BATCH, dim=DIM) -> dict[str, torch.Tensor]:
    return {view: torch.randn(batch, dim, requires_grad=True) for view in views}


def test_it_is_the_papers_sum_over_the_whole_memory():
    """Every term written out: cosine over temperature, the match from memory, all rows in the denominator."""
    bank = Bank(VIEWS, SAMPLES, DIM)
    objective = Objective(full_graph(VIEWS), CosineCritic(0.2), bank)
    embeddings, index = embed(), torch.randperm(SAMPLES)[:BATCH]
    terms = objective(embeddings, index)
    assert set(terms) == {f"{a}->{b}" for a in VIEWS for b in VIEWS if a != b}
    for name, term in terms.items():
        anchor, target = name.split("->")
        total = 0.0
        for row in range(BATCH):
            scores = F.cosine_similarity(
                embeddings[anchor][row][None].detach(), bank.rows(target)
            ) * bank.rows(target).norm(dim=1)
            h = (scores / 0.2).exp()
            total -= math.log(h[index[row]] / h.sum())
        assert term.item() == pytest.approx(total / BATCH, rel=1e-5)


@pytest.mark.parametrize(
    "negatives", [lambda: Bank(VIEWS, SAMPLES, DIM), InBatch, lambda: Queue(VIEWS, 11, DIM)]
)
@pytest.mark.parametrize("loss", [softmax_loss, NCELoss(SAMPLES, "exact")])
def test_permuting_samples_changes_nothing(negatives, loss):
    objective = Objective(full_graph(VIEWS), CosineCritic(0.1), negatives(), loss)
    embeddings, index = embed(), torch.randperm(SAMPLES)[:BATCH]
    present = {"b": torch.tensor([True, False] * (BATCH // 2))}
    objective.remember(embed(), index + 0, None)
    order = torch.randperm(BATCH)
    terms = objective(embeddings, index, present)
    mixed = objective(
        {view: e[order] for view, e in embeddings.items()}, index[order], {"b": present["b"][order]}
    )
    for name in terms:
        torch.testing.assert_close(mixed[name], terms[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bank(VIEWS, SAMPLES, DIM, draw=7),
        lambda: Bank(VIEWS, SAMPLES, DIM, draw=7, shared=False),
        lambda: Bank(VIEWS, SAMPLES, DIM, start="empty"),
        InBatch,
        lambda: Queue(VIEWS, 11, DIM),
    ],
)
@pytest.mark.parametrize("loss", [softmax_loss, NCELoss(SAMPLES), NCELoss(SAMPLES, "running")])
def test_missing_views_work_everywhere_and_touch_nothing(make, loss):
    """What stands in the row of a missing view must not matter, nor get a gradient."""
    index = torch.randperm(SAMPLES)[:BATCH]
    present = {"a": torch.tensor([True] * 5 + [False] * 3), "c": torch.tensor([False, True] * 4)}
    found = []
    for filler in (0.0, 1e6):
        torch.manual_seed(3)
        objective = Objective(full_graph(VIEWS), CosineCritic(0.1), make(), loss)
        embeddings = {v: e.detach() for v, e in embed().items()}
        for view, have in present.items():
            embeddings[view][~have] = filler
            embeddings[view].requires_grad_()
        terms = objective(embeddings, index, present)
        sum(terms.values()).backward()
        for view, have in present.items():
            assert embeddings[view].grad[~have].abs().sum() == 0
            assert embeddings[view].grad[have].isfinite().all()
        objective.remember(embeddings, index, present)
        found.append({name: term.item() for name, term in terms.items()})
        torch.manual_seed(4)
        found[-1] |= {f"{n} later": t.item() for n, t in objective(embeddings, index, present).items()}
    assert found[0] == found[1]


def test_a_term_is_averaged_over_the_anchors_it_has():
    bank = Bank(["a", "b"], SAMPLES, DIM)
    objective = Objective(PairGraph([("a", "b")]), CosineCritic(0.3), bank)
    embeddings, index = embed(["a", "b"]), torch.arange(BATCH)
    have = torch.tensor([True, True, False, True, False, False, False, True])
    some = objective(embeddings, index, {"b": have})
    only = objective({v: e[have] for v, e in embeddings.items()}, index[have])
    for name in only:
        torch.testing.assert_close(some[name], only[name])


def test_in_batch_negatives_include_samples_without_the_anchor():
    """A sample that lacks the anchor's view is still a wrong choice among targets."""
    objective = Objective(PairGraph([("a", "b")]), CosineCritic(1.0), InBatch())
    embeddings, index = embed(["a", "b"]), torch.arange(BATCH)
    have = torch.tensor([True] * 3 + [False] * 5)
    term = objective(embeddings, index, {"a": have})["a->b"]
    scores = F.normalize(embeddings["a"], dim=1)[:3] @ F.normalize(embeddings["b"], dim=1).T
    torch.testing.assert_close(term, F.cross_entropy(scores, torch.arange(3)))
    assert objective.ceilings["a->b"] == pytest.approx(math.log(BATCH - 1))


def test_weights_scale_terms_and_leave_bounds():
    embeddings, index = embed(["a", "b"]), torch.arange(BATCH)
    bank = Bank(["a", "b"], SAMPLES, DIM)
    light = Objective(PairGraph([("a", "b")]), CosineCritic(0.1), bank)
    heavy = Objective(PairGraph([("a", "b", 3.0)]), CosineCritic(0.1), bank)
    one, three = light(embeddings, index), heavy(embeddings, index)
    for name in one:
        torch.testing.assert_close(three[name], 3 * one[name])
        bound = math.log(SAMPLES - 1) - one[name].item()
        assert float(light.bounds(one)[name]) == pytest.approx(bound, rel=1e-5)
        assert float(heavy.bounds(three)[name]) == pytest.approx(bound, rel=1e-5)


def test_nce_proves_no_bound():
    objective = Objective(full_graph(VIEWS), CosineCritic(0.1), Bank(VIEWS, SAMPLES, DIM), NCELoss(SAMPLES))
    assert objective.bounds(objective(embed(), torch.arange(BATCH))) == {}


def test_each_direction_has_its_own_state():
    objective = Objective(full_graph(VIEWS), BilinearCritic(DIM), Bank(VIEWS, SAMPLES, DIM), NCELoss(SAMPLES))
    embeddings = embed()
    objective(embeddings, torch.arange(BATCH))
    objective.remember(embeddings, torch.arange(BATCH))
    assert len(list(objective.parameters())) == 6
    normalisers = [value.item() for name, value in objective.state_dict().items() if name.endswith("log_z")]
    assert len(set(normalisers)) == 6


def test_bilinear_starts_as_the_dot_product_and_learns():
    objective = Objective(PairGraph([("a", "b")]), BilinearCritic(DIM), InBatch())
    embeddings, index = embed(["a", "b"]), torch.arange(BATCH)
    term = objective(embeddings, index)["a->b"]
    torch.testing.assert_close(term, F.cross_entropy(embeddings["a"] @ embeddings["b"].T, index))
    term.backward()
    assert objective.critics["a->b"].weight.grad.abs().sum() > 0


def test_forward_changes_no_memory():
    objective = Objective(full_graph(VIEWS), CosineCritic(0.1), Queue(VIEWS, 9, DIM), NCELoss(SAMPLES))
    before = {name: value.clone() for name, value in objective.state_dict().items()}
    objective(embed(), torch.arange(BATCH))
    after = objective.state_dict()
    assert all(torch.equal(after[name].nan_to_num(7), before[name].nan_to_num(7)) for name in before)


def test_gradients_reach_both_views_in_a_batch_but_only_the_anchor_from_memory():
    for negatives, reaches in ((InBatch(), True), (Bank(["a", "b"], SAMPLES, DIM), False)):
        embeddings = embed(["a", "b"])
        Objective(PairGraph([("a", "b")]), CosineCritic(0.1), negatives)(embeddings, torch.arange(BATCH))[
            "a->b"
        ].backward()
        assert (embeddings["b"].grad is not None) == reaches


@pytest.mark.parametrize("correlation", [0.5, 0.9])
def test_bound_on_gaussians_with_the_best_critic(correlation):
    """With the true density ratio as score the bound is within 10 % of the information, and not above it."""
    dimensions, samples = 4, 4000
    truth = gaussian_information(correlation, dimensions)
    assert truth < math.log(samples) / 2  # where log K allows
    a = torch.randn(samples, dimensions)
    b = correlation * a + math.sqrt(1 - correlation**2) * torch.randn(samples, dimensions)
    spread = 1 - correlation**2
    query = torch.cat(
        [correlation * a / spread, torch.full((samples, 1), -(correlation**2) / (2 * spread))], 1
    )
    key = torch.cat([b, (b**2).sum(1, keepdim=True)], 1)
    objective = Objective(PairGraph([("a", "b")]), BilinearCritic(dimensions + 1), InBatch())
    terms = objective({"a": query, "b": key}, torch.arange(samples))
    bound = float(objective.bounds(terms)["a->b"])
    assert bound <= truth * 1.02  # two percent for the draw of 4,000 samples
    assert bound >= truth * 0.9


def test_bound_on_gaussians_with_learned_encoders():
    """Two small networks find it too: held-out samples, within 10 % and not above."""
    correlation, dimensions = 0.8, 2
    truth = gaussian_information(correlation, dimensions)

    def draw(samples):
        a = torch.randn(samples, dimensions)
        return {
            "a": a,
            "b": correlation * a + math.sqrt(1 - correlation**2) * torch.randn(samples, dimensions),
        }

    def network():
        return torch.nn.Sequential(torch.nn.Linear(dimensions, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16))

    encoders = torch.nn.ModuleDict({"a": network(), "b": network()})
    objective = Objective(PairGraph([("a", "b")]), BilinearCritic(16), InBatch())
    optimiser = torch.optim.Adam([*encoders.parameters(), *objective.parameters()], 3e-3)
    for _ in range(500):
        views = draw(256)
        terms = objective({name: encoders[name](view) for name, view in views.items()}, torch.arange(256))
        optimiser.zero_grad()
        sum(terms.values()).backward()
        optimiser.step()
    with torch.no_grad():
        views = draw(4000)
        terms = objective({name: encoders[name](view) for name, view in views.items()}, torch.arange(4000))
    for bound in objective.bounds(terms).values():
        assert 0.9 * truth <= float(bound) <= 1.02 * truth


def test_scores_are_full_precision_whatever_surrounds_them():
    embeddings, index = embed(), torch.arange(BATCH)
    objective = Objective(full_graph(VIEWS), BilinearCritic(DIM), InBatch())
    terms = objective(embeddings, index)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert objective(embeddings, index) == terms


def test_no_encoder_for_a_view_of_the_graph():
    objective = Objective(core_graph("a", ["b", "thermal"]), CosineCritic(), InBatch())
    with pytest.raises(
        ValueError, match="contrasts 'thermal', but there are embeddings of a, b only: add an encoder"
    ):
        objective(embed(["a", "b"]), torch.arange(BATCH))


def test_embeddings_of_unequal_size():
    objective = Objective(PairGraph([("a", "b")]), CosineCritic(), InBatch())
    with pytest.raises(ValueError, match="one size to be compared, got a 3, b 4"):
        objective({"a": torch.randn(5, 3), "b": torch.randn(5, 4)}, torch.arange(5))


def test_a_view_missing_for_a_whole_batch():
    objective = Objective(full_graph(VIEWS), CosineCritic(), Bank(VIEWS, SAMPLES, DIM))
    nobody = torch.zeros(BATCH, dtype=torch.bool)
    with pytest.warns(
        UserWarning, match="view 'c' is missing for all 8 samples of a batch: its pairs are left out"
    ):
        terms = objective(embed(), torch.arange(BATCH), {"c": nobody})
    assert set(terms) == {"a->b", "b->a"}
    pair = Objective(PairGraph([("a", "c")]), CosineCritic(), Bank(VIEWS, SAMPLES, DIM))
    with (
        pytest.warns(UserWarning, match="view 'c' is missing for all 8"),
        pytest.raises(ValueError, match="no sample of this batch has both views of any pair"),
    ):
        pair(embed(), torch.arange(BATCH), {"c": nobody})


def test_a_loss_with_parameters_needs_no_update():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(()))

        def forward(self, query, candidates):
            return self.scale * softmax_loss(query, candidates)

    objective = Objective(full_graph(VIEWS), CosineCritic(), InBatch(), Scaled())
    embeddings = embed()
    sum(objective(embeddings, torch.arange(BATCH)).values()).backward()
    objective.remember(embeddings, torch.arange(BATCH))
    assert len(list(objective.parameters())) == 6
