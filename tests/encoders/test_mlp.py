"""The encoder for feature tables."""

import pytest
import torch

from coview.encoders import MLP


@pytest.mark.parametrize(("inputs", "hidden", "dim"), [(1, (5,), 3), (12, (7, 6, 8), 4), (9, (), 5)])
def test_shapes_and_names(inputs, hidden, dim):
    found = MLP(inputs, hidden=hidden, dim=dim).features(torch.randn(11, inputs))
    assert list(found) == [f"hidden{n + 1}" for n in range(len(hidden))] + ["embedding"]
    assert [values.shape for values in found.values()] == [(11, size) for size in (*hidden, dim)]


def test_the_embedding_is_the_last_feature():
    encoder = MLP(6, hidden=(8, 5), dim=3).eval()
    view = torch.randn(7, 6)
    assert torch.equal(encoder(view), encoder.features(view)["embedding"])


def test_features_are_those_of_the_layers_one_after_another():
    encoder = MLP(6, hidden=(8, 5), dim=3)
    flow = view = torch.randn(7, 6)
    found = encoder.features(view)
    for name in ("hidden1", "hidden2"):
        flow = flow @ encoder.layers[name][0].weight.T
        flow = ((flow - flow.mean(0)) / (flow.var(0, unbiased=False) + 1e-5).sqrt()).relu()
        torch.testing.assert_close(found[name], flow, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        found["embedding"], flow @ encoder.embedding.weight.T + encoder.embedding.bias, rtol=1e-4, atol=1e-5
    )


def test_evaluation_is_deterministic_and_by_sample():
    encoder = MLP(6, hidden=(8,), dim=3)
    view = torch.randn(7, 6)
    encoder(view)
    encoder.eval()
    first = encoder(view)
    assert torch.equal(encoder(view), first)
    torch.testing.assert_close(encoder(view[4:5]), first[4:5])
