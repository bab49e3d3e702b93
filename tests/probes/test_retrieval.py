"""Cross-view retrieval against a loop over samples, and what a collapsed embedding is given."""

from importlib import import_module

import pytest
import torch
from torch import Tensor

from coview.probes import Features, Recall, cross_view_retrieval, nearest, retrieval


def drawn(*, samples: int = 29, noise: float = 1.0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(samples, 6, generator=generator)
    return query, 3 * (query + noise * torch.randn(samples, 6, generator=generator))


def cosine(first: Tensor, second: Tensor) -> float:
    return float(first @ second / (first.norm() * second.norm()))


def by_hand(query: Tensor, target: Tensor, k: int) -> float:
    found = 0
    for row in range(len(query)):
        scores = [cosine(query[row], other) for other in target]
        found += row in sorted(range(len(target)), key=lambda other: -scores[other])[:k]
    return 100 * found / len(query)


def test_recall_equals_the_loop():
    query, target = drawn()
    recall = retrieval(query, target, at=(1, 4, 28))
    assert recall.at == pytest.approx({k: by_hand(query, target, k) for k in (1, 4, 28)})
    assert recall.chance == pytest.approx({1: 100 / 29, 4: 400 / 29, 28: 2800 / 29})
    assert recall.samples == 29
    assert 0 < recall.at[1] < recall.at[4] <= recall.at[28]


def test_direction_matters():
    query, target = drawn(noise=2.0)
    target[3] = 100 * target.sum(0)
    assert retrieval(query, target).at != retrieval(target, query).at
    assert retrieval(target, query).at[1] == pytest.approx(by_hand(target, query, 1))


def test_a_perfect_match_is_always_found():
    query, _ = drawn()
    assert retrieval(query, 5 * query) == Recall({1: 100.0}, {1: 100 / 29}, 29)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch):
    query, target = drawn()
    whole, neighbours = retrieval(query, target, at=(1, 4)), nearest(query, target, 3)
    for rows in (1, 4):
        monkeypatch.setattr(import_module("coview.probes.retrieval"), "SCORES", rows * 29)
        assert retrieval(query, target, at=(1, 4)) == whole
        assert torch.equal(nearest(query, target, 3), neighbours)


@pytest.mark.parametrize("value", [0.0, 0.37])
def test_a_collapsed_embedding_finds_nothing(value: float):
    constant = torch.full((301, 13), value)
    query, _ = drawn(samples=301)
    assert retrieval(constant, constant, at=(1, 300)).at == {1: 0.0, 300: 0.0}
    assert retrieval(torch.cat([query, query, query[:, :1]], 1), constant).at == {1: 0.0}


def test_a_collapse_up_to_rounding_finds_nothing():
    generator = torch.Generator().manual_seed(1)
    almost = 1 + 1e-7 * torch.randn(301, 13, generator=generator)
    assert retrieval(almost, almost).at == {1: 0.0}


def test_one_tie_costs_one_rank():
    query, target = torch.eye(5), torch.eye(5)
    target[4] = target[2]
    assert retrieval(query, target, at=(1, 2, 5)).at == {1: 60.0, 2: 80.0, 5: 100.0}


def test_chance_stops_at_all_of_them():
    assert retrieval(*drawn(), at=(40,)) == Recall({40: 100.0}, {40: 100.0}, 29)


def test_half_precision_will_do():
    query, _ = drawn()
    assert retrieval(query.bfloat16(), query.bfloat16()).at == {1: 100.0}


@pytest.mark.parametrize("at", [(), (0,), (1, -2)])
def test_k_is_at_least_one(at: tuple[int, ...]):
    with pytest.raises(ValueError, match="k of at least 1, got"):
        retrieval(*drawn(), at=at)


def test_broken_embeddings_are_refused():
    query, target = drawn()
    target[3, 2] = torch.nan
    with pytest.raises(ValueError, match="target embeddings hold NaN"):
        retrieval(query, target)
    with pytest.raises(ValueError, match="query embeddings hold NaN"):
        nearest(target, query, 2)


def test_one_sample_has_nothing_to_choose_from():
    with pytest.raises(ValueError, match="at least 2 samples to choose from, got 1"):
        retrieval(torch.ones(1, 3), torch.ones(1, 3))


def test_nearest_equals_sorting():
    query, target = drawn()[0][:7], drawn()[1]
    wanted = [sorted(range(29), key=lambda row: -cosine(one, target[row]))[:4] for one in query]
    assert nearest(query, target, 4).tolist() == wanted


@pytest.mark.parametrize("k", [0, 30])
def test_nearest_gives_no_more_than_there_are(k: int):
    with pytest.raises(ValueError, match=f"k from 1 to the 29 targets there are, got {k}"):
        nearest(*drawn(), k)


def three_views() -> Features:
    first, second = drawn()
    present = {name: torch.ones(29, dtype=torch.bool) for name in ("L", "ab", "depth")}
    present["ab"][::3] = False
    present["depth"][1::4] = False
    values = {"L": first, "ab": second, "depth": second.flip(1) + first}
    values = {name: there * present[name][:, None] for name, there in values.items()}
    return Features(values, present, torch.arange(29))


def test_every_directed_pair_is_scored_among_samples_with_both():
    features = three_views()
    recalls = cross_view_retrieval(features, at=(1, 3))
    assert list(recalls) == ["L->ab", "L->depth", "ab->L", "ab->depth", "depth->L", "depth->ab"]
    for name, recall in recalls.items():
        anchor, target = name.split("->")
        both = features.present[anchor] & features.present[target]
        assert recall == retrieval(features.values[anchor][both], features.values[target][both], at=(1, 3))
    assert recalls["L->ab"].samples == 19
    assert recalls["ab->depth"].samples == 14


def test_embeddings_of_two_sizes_cannot_be_compared():
    features = Features(
        {"L": torch.ones(3, 4), "ab": torch.ones(3, 5)},
        {name: torch.ones(3, dtype=torch.bool) for name in ("L", "ab")},
        torch.arange(3),
    )
    with pytest.raises(ValueError, match=r"of one size, got \{'L': 4, 'ab': 5\}"):
        cross_view_retrieval(features)


def test_one_view_has_no_pair():
    features = Features({"L": torch.ones(3, 4)}, {"L": torch.ones(3, dtype=torch.bool)}, torch.arange(3))
    with pytest.raises(ValueError, match="two or more views"):
        cross_view_retrieval(features)


def test_views_that_never_meet_are_refused():
    features = three_views()
    features.present["ab"][:] = ~features.present["depth"]
    with pytest.raises(ValueError, match="views 'ab' and 'depth' are both there in 0 samples"):
        cross_view_retrieval(features)
