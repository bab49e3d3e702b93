"""The batch as negatives without one's own group."""

import torch
from slow import softmax_anchor

from coview.contrast import Apart, CosineCritic, InBatch, Objective, full_graph, softmax_loss
from coview.contrast.negatives import Negatives

GROUP = torch.tensor([7, 3, 7, 9, 3, 8, 7, 2, 5])


def test_a_video_is_never_its_own_negative():
    negatives = Apart(GROUP)
    assert isinstance(negatives, Negatives)
    for seed in range(50):
        index = torch.randperm(9, generator=torch.Generator().manual_seed(seed))[:6]
        found = negatives.candidates("flow", torch.randn(6, 5), index)
        for row, own in enumerate(index.tolist()):
            there = index[found.valid[row]].tolist()
            assert there.count(own) == 1
            assert int(index[found.match[row]]) == own
            assert all(GROUP[other] != GROUP[own] for other in there if other != own)
            assert len(there) == 1 + sum(GROUP[index] != GROUP[own]), "and all others are"


def test_the_loss_is_that_of_the_samples_that_take_part():
    index, query, target = torch.tensor([0, 2, 3, 1]), torch.randn(4, 5), torch.randn(4, 5)
    loss = softmax_loss(query, Apart(GROUP).candidates("flow", target, index))
    for row, others in enumerate(([2, 3], [2, 3], [0, 1, 3], [0, 1, 2])):
        keys = [target[row].tolist(), *(target[other].tolist() for other in others)]
        assert abs(loss[row] - softmax_anchor(query[row].tolist(), keys, 0)) < 1e-5


def test_groups_of_one_are_the_plain_batch():
    embeddings = {"a": torch.randn(5, 4), "b": torch.randn(5, 4)}
    terms = [
        Objective(full_graph(["a", "b"]), CosineCritic(), negatives)(embeddings, torch.arange(5))
        for negatives in (Apart(torch.arange(5)), InBatch())
    ]
    assert all(torch.allclose(terms[0][pair], terms[1][pair]) for pair in terms[1])


def test_a_sample_without_its_view_takes_no_part():
    objective = Objective(full_graph(["a", "b"]), CosineCritic(), Apart(GROUP))
    embeddings = {"a": torch.randn(5, 4), "b": torch.randn(5, 4)}
    present = {"b": torch.tensor([True, True, False, True, True])}
    terms = objective(embeddings, torch.arange(5), present)
    changed = embeddings | {"b": torch.where(present["b"][:, None], embeddings["b"], 99.0)}
    assert torch.allclose(terms["a->b"], objective(changed, torch.arange(5), present)["a->b"])


def test_groups_are_not_kept_in_a_checkpoint():
    assert not Apart(GROUP).state_dict()
