"""One encoder per view: only what is there is encoded."""

import pytest
import torch
from torch import nn

from coview.encoders import MLP, Encoders, SmallConv
from coview.encoders.each import parts, whole

HAVE = torch.tensor([True, False, True, True, False, True, False])


def encoders() -> Encoders:
    torch.manual_seed(4)
    return Encoders({"touch": MLP(5, hidden=(8,), dim=3), "sight": SmallConv(2, width=3, hidden=6, dim=3)})


def views(filler: float) -> dict[str, torch.Tensor]:
    """Seven samples, of which three have no sight: in its place is a filler."""
    generator = torch.Generator().manual_seed(6)
    found = {
        "touch": torch.randn(7, 5, generator=generator),
        "sight": torch.randn(7, 2, 16, 20, generator=generator),
    }
    found["sight"][~HAVE] = filler
    return found


def test_all_there():
    found = encoders()(views(0.5))
    for name, encoder in encoders().items():
        assert torch.equal(found[name], encoder(views(0.5)[name]))
    there = encoders()(views(0.5), {"sight": torch.ones(7, dtype=torch.bool)})
    assert all(torch.equal(there[name], found[name]) for name in found)
    assert list(found) == ["touch", "sight"]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("filler", [0.0, 1e6, float("nan"), float("inf")])
def test_filler_reaches_no_encoder(filler, training):
    both = encoders().train(training)
    found = both(views(filler), {"sight": HAVE})
    alone = encoders().train(training)
    rows = alone["sight"](views(0.0)["sight"][HAVE])  # the same module, given the rows that are there
    assert torch.equal(found["sight"][HAVE], rows)
    assert (found["sight"][~HAVE] == 0).all()
    assert torch.equal(found["touch"], alone["touch"](views(0.0)["touch"]))
    for name, value in both.state_dict().items():  # the statistics of batch norms among it
        assert torch.equal(value, alone.state_dict()[name]), name


@pytest.mark.parametrize("filler", [7.0, float("nan")])
def test_one_there_goes_through_with_the_statistics_there_are(filler):
    both = encoders()
    both(views(0.0))
    before = {name: value.clone() for name, value in both.state_dict().items()}
    one = torch.arange(7) == 2
    views_now = {**views(0.0)}
    views_now["sight"][~one] = filler
    found = both(views_now, {"sight": one})["sight"]
    assert (found[~one] == 0).all()
    assert both.training
    assert both["sight"].training
    found.sum().backward()
    assert all(weight.grad is not None for weight in both["sight"].parameters())
    for name, value in both["sight"].state_dict().items():
        assert torch.equal(value, before[f"sight.{name}"]), name
    both.eval()
    torch.testing.assert_close(found[2:3], both["sight"](views_now["sight"][2:3]))


def test_none_there():
    both = encoders()
    before = {name: value.clone() for name, value in both["sight"].state_dict().items()}
    found = both(views(float("nan")), {"sight": torch.zeros(7, dtype=torch.bool)})
    assert torch.equal(found["sight"], torch.zeros(7, 3))
    assert all(torch.equal(value, before[name]) for name, value in both["sight"].state_dict().items())
    sum(one.sum() for one in found.values()).backward()
    assert all(weight.grad.isfinite().all() for weight in both.parameters() if weight.grad is not None)
    assert both["touch"].embedding.weight.grad.abs().sum() > 0


def test_gradients_are_those_of_the_rows_that_are_there():
    both, alone = encoders(), encoders()
    weigh = torch.randn(7, 3)
    (both(views(float("nan")), {"sight": HAVE})["sight"] * weigh).sum().backward()
    (alone["sight"](views(0.0)["sight"][HAVE]) * weigh[HAVE]).sum().backward()
    for one, other in zip(both["sight"].parameters(), alone["sight"].parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)
        assert one.grad.abs().sum() > 0


def test_a_part_that_was_frozen_stays_frozen():
    both = encoders()
    norm = both["touch"].layers["hidden1"][1].eval()  # a user's choice
    both(views(0.0), {"touch": torch.arange(7) == 3})
    assert not norm.training
    assert both["touch"].training


def test_two_names_may_share_a_module():
    shared = nn.Linear(5, 3)
    both = Encoders({"left": shared, "right": shared})
    assert len(list(both.parameters())) == 2
    left, right = torch.randn(6, 5), torch.randn(6, 5)
    found = both({"left": left, "right": right})
    assert torch.equal(found["left"], shared(left))
    assert torch.equal(found["right"], shared(right))


def test_a_view_that_did_not_come():
    with pytest.raises(
        ValueError, match="there is an encoder for view 'sight', but the views are touch, smell"
    ):
        encoders()({"touch": torch.zeros(7, 5), "smell": torch.zeros(7, 2)})


class Told(nn.Module):
    """A view as a whole, and the two cells of a part of it; with batch norm, so that the rows matter."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.whole, self.cell = nn.BatchNorm1d(5), nn.Linear(5, 3), nn.Linear(5, 6)

    def forward(self, view: torch.Tensor) -> dict[str, torch.Tensor]:
        flow = self.norm(view)
        return {"": self.whole(flow), "early": self.cell(flow).view(-1, 2, 3)}


@pytest.mark.parametrize("count", [0, 1, 4])
def test_parts_are_nodes_and_absent_where_their_view_is(count):
    torch.manual_seed(2)
    told, seen = Told(), torch.randn(7, 5)
    have = torch.arange(7) < count
    view = torch.where(have[:, None], seen, torch.nan)
    found = Encoders({"touch": told})({"touch": view}, {"touch": have})
    assert list(found) == ["touch", "touch:early"]
    assert found["touch:early"].shape == (7, 2, 3)
    assert all((embedding[~have] == 0).all() for embedding in found.values())
    if count > 1:
        alone = told(seen[have])
        assert torch.equal(found["touch"][have], alone[""])
        assert torch.equal(found["touch:early"][have], alone["early"])


def test_what_an_encoder_may_return():
    one = torch.randn(4, 3)
    assert parts(one) == {"": one}
    assert whole({"": one, "early": torch.randn(4, 2, 3)}) is one
    with pytest.raises(ValueError, match="embeds only early: let it return that one too"):
        whole({"early": one})
    with pytest.raises(ValueError, match=r"returns \[B D\], or a dict of embeddings by part, got a tuple"):
        parts((one,))
