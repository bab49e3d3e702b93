"""Segments scored over a whole test set, against scikit-learn's; and decoders that learn from them."""

import pytest
import torch
from sklearn.metrics import accuracy_score, confusion_matrix, jaccard_score
from torch import nn
from torch.nn import functional

from coview.probes.segmentation import Segmented, confusion, pixel_loss, say, score, train_decoder

CLASSES = 6


class Fixed(nn.Module):
    """Says what its view says."""

    def forward(self, view):
        return view


def random_maps(seed: int, *, absent: int | None = None):
    generator = torch.Generator().manual_seed(seed)
    truth = torch.randint(0, CLASSES + 1, (5, 1, 9, 11), generator=generator)
    scores = torch.randn(5, CLASSES, 9, 11, generator=generator)
    scores += 2 * functional.one_hot(truth.clamp(min=1)[:, 0] - 1, CLASSES).movedim(-1, 1)
    if absent is not None:
        truth[truth == absent], scores[:, absent - 1] = 0, -100.0
    return scores, truth


@pytest.mark.parametrize(("seed", "absent"), [(0, None), (1, 3), (2, 6)])
def test_numbers_are_scikit_learns(seed, absent):
    scores, truth = random_maps(seed, absent=absent)
    batches = [(scores[:2], truth[:2]), (scores[2:], truth[2:])]
    found = score(Fixed(), batches, classes=CLASSES)
    known = truth.flatten() > 0
    true, said = truth.flatten()[known], say(Fixed(), scores).flatten()[known]
    labels = list(range(1, CLASSES + 1))
    assert found.matrix.tolist() == confusion_matrix(true, said, labels=labels).tolist()
    assert found.pixel_accuracy == pytest.approx(100 * accuracy_score(true, said))
    assert found.mean_iou == pytest.approx(100 * jaccard_score(true, said, average="macro"))
    by_class = jaccard_score(true, said, average=None, labels=labels, zero_division=0)
    assert found.iou.nan_to_num(0).tolist() == pytest.approx((100 * by_class).tolist())


def test_it_is_the_mean_over_the_set_and_not_over_batches():
    """Class 1 is found in one small batch and lost in a large one."""
    few = confusion(torch.full((1, 2, 2), 1), torch.full((1, 2, 2), 1), classes=2)
    many = confusion(torch.full((1, 6, 6), 1), torch.full((1, 6, 6), 2), classes=2)
    both = Segmented(few + many)
    assert both.pixel_accuracy == pytest.approx(100 * 4 / 40)
    assert both.iou.tolist() == pytest.approx([10.0, 0.0])


def test_void_costs_nothing():
    scores, truth = random_maps(4)
    loss = pixel_loss(scores, truth)
    changed = scores.masked_fill((truth == 0).expand_as(scores), 7.0)
    changed[:, 2] += (truth[:, 0] == 0) * 50
    assert pixel_loss(changed, truth) == pytest.approx(loss.item())
    by_hand = [
        -scores[b, :, y, x].log_softmax(0)[truth[b, 0, y, x] - 1]
        for b, _, y, x in (truth > 0).nonzero().tolist()
    ]
    assert loss.item() == pytest.approx(torch.stack(by_hand).mean().item(), rel=1e-5)
    assert pixel_loss(scores, torch.zeros_like(truth)) == 0


def test_a_decoder_learns_and_its_rate_falls():
    torch.manual_seed(0)
    unet = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
    view = torch.randn(6, 2, 12, 10)
    truth = 1 + (view[:, :1] > 0).long() + (view[:, 1:] > 0.5).long()

    def batches(epoch):
        return [(view[:4], truth[:4]), (view[4:], truth[4:])]

    losses = train_decoder(unet, batches, epochs=60, learning_rate=0.02)
    assert len(losses) == 60
    assert losses[-1] < 0.4 * losses[0]
    assert score(unet, batches(0), classes=3).pixel_accuracy > 80


def test_what_cannot_be():
    with pytest.raises(ValueError, match="for one epoch or more, got 0"):
        train_decoder(nn.Conv2d(1, 1, 1), lambda epoch: [], epochs=0)
    with pytest.raises(ValueError, match="there are no batches"):
        score(Fixed(), [], classes=2)
