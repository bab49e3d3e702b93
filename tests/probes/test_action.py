"""Fine-tuning, many looks at a clip, and clips found among others."""

import pytest
import torch

from coview.encoders import SmallConv
from coview.probes.action import (
    ActionNet,
    FineTuning,
    average_scores,
    clip_retrieval,
    fine_tune,
    shares,
)

TUNING = FineTuning(epochs=12, batch=20, learning_rate=0.05, dropout=0.0, hidden=16)


def lit(count: int):
    """Pictures that are lit on the left or on the right."""
    label = torch.arange(count) % 2
    view = 0.3 * torch.randn(count, 1, 16, 16)
    for row, side in enumerate(label.tolist()):
        view[row, :, :, 8 * side : 8 * side + 8] += 1
    return view, label


def test_a_network_learns_from_the_encoder_on_and_leaves_it_as_it_was():
    encoder = SmallConv(1, width=4, hidden=8, dim=5)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    view, label = lit(60)
    network = ActionNet(encoder.eval(), view, layer="conv4", classes=2, tuning=TUNING)
    start = network.encoder.layers["conv1"][0].weight.clone()
    assert torch.equal(start, before["layers.conv1.0.weight"])

    def batches(epoch):
        return [(view[rows], label[rows]) for rows in torch.randperm(60).split(20)]

    fine_tune(network, batches, TUNING, steps=3)
    test, truth = lit(40)
    assert (average_scores(network, [test]).argmax(1) == truth).float().mean() > 0.9
    assert not torch.equal(network.encoder.layers["conv1"][0].weight, start), "the encoder goes on learning"
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


def test_scores_are_averaged_as_probabilities():
    network = torch.nn.Linear(3, 4)
    looks = torch.randn(5, 2, 3)
    expected = torch.stack([network(look).softmax(1) for look in looks]).mean(0)
    torch.testing.assert_close(average_scores(network, iter(looks)), expected)
    with pytest.raises(ValueError, match="one look or more"):
        average_scores(network, [])


def test_retrieval_counts_clips_of_the_class_among_the_nearest():
    target = torch.eye(4)
    query = torch.tensor([[1.0, 0.5, 0.1, 0.0], [0.1, 1.0, 0.5, 0.0]])
    found = clip_retrieval(query, torch.tensor([5, 6]), target, torch.tensor([5, 7, 6, 8]), at=(1, 2, 9))
    assert found == {1: 50.0, 2: 100.0, 9: 100.0}


def test_moments_at_equal_distances():
    assert list(shares(1)) == [0.5]
    assert list(shares(5)) == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_what_cannot_be_tuned_is_refused():
    with pytest.raises(ValueError, match="an epoch and batches of 2"):
        FineTuning(epochs=0)
    with pytest.raises(ValueError, match="no layer 'conv9'; it has conv1"):
        ActionNet(SmallConv(1).eval(), torch.zeros(2, 1, 16, 16), layer="conv9", classes=2, tuning=TUNING)
