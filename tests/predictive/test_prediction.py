"""Prediction against the plain formulas: L1, L2 and Split-Brain's bins, missing views, and what is refused."""

import math

import pytest
import torch
from torch import Tensor, nn

from coview.contrast import PairGraph
from coview.predictive import Decoder, Distance, Prediction, Quantised, ab_bins, even_bins
from coview.predictive.objective import shrunk
from coview.views import chroma

BATCH, DIM, SIDE = 5, 7, 3
GRAPH = PairGraph([("L", "ab", 2.0), ("ab", "depth")])
CHANNELS = {"L": 1, "ab": 2, "depth": 3}
THERE = {"ab": torch.tensor([True, False, True, True, False]), "depth": torch.tensor([True] * 4 + [False])}


class Plain(nn.Module):
    """A decoder whose every number can be followed."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(DIM, outputs * SIDE * SIDE, dtype=torch.float64)

    def forward(self, embedding: Tensor) -> Tensor:
        return self.linear(embedding).view(len(embedding), -1, SIDE, SIDE)


def make(loss) -> Prediction:
    losses = {view: loss(view) for view in CHANNELS}
    outputs = {view: losses[view].outputs(count) for view, count in CHANNELS.items()}
    return Prediction(GRAPH, {p.name: Plain(outputs[p.target]) for p in GRAPH.directed()}, losses)


def batch() -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    embeddings = {v: torch.randn(BATCH, DIM, dtype=torch.float64, requires_grad=True) for v in CHANNELS}
    views = {v: torch.rand(BATCH, c, 6, 9, dtype=torch.float64) * 2 - 1 for v, c in CHANNELS.items()}
    return embeddings, views


def cells(view: Tensor, n: int):
    """The mean of a 6 x 9 view over a 3 x 3 grid, cell by cell: row, column, channels."""
    for row in range(SIDE):
        for column in range(SIDE):
            part = view[n, :, 2 * row : 2 * row + 2, 3 * column : 3 * column + 3]
            yield row, column, part.mean((1, 2)).tolist()


def there(anchor: str, target: str, present: dict[str, Tensor]) -> list[int]:
    return [n for n in range(BATCH) if all(present[v][n] for v in (anchor, target) if v in present)]


@pytest.mark.parametrize("present", [{}, THERE])
@pytest.mark.parametrize("kind", ["l1", "l2"])
def test_distances_are_the_loop(kind, present):
    model, (embeddings, views) = make(lambda _: Distance(kind)), batch()
    for view, have in present.items():
        views[view][~have] = torch.nan
    terms = model(embeddings, torch.arange(BATCH), present, views=views)
    sum(terms.values()).backward()
    for pair in GRAPH.directed():
        said = model.decoders[pair.name](embeddings[pair.anchor])
        apart = [
            abs(said[n, c, row, column].item() - value)
            for n in there(pair.anchor, pair.target, present)
            for row, column, values in cells(views[pair.target], n)
            for c, value in enumerate(values)
        ]
        expected = sum(a if kind == "l1" else a * a for a in apart) / len(apart)
        assert terms[pair.name].item() == pytest.approx(pair.weight * expected)
    for view, have in present.items():
        assert embeddings[view].grad[~have].abs().sum() == 0
        assert embeddings[view].grad[have].abs().sum() > 0


def bins(view: str) -> Quantised:
    return Quantised({"L": even_bins(1, 4), "ab": even_bins(2, 3), "depth": even_bins(1, 5)}[view])


@pytest.mark.parametrize("present", [{}, THERE])
def test_bins_are_the_loop(present):
    """One channel, two channels told apart together, and three channels one by one."""
    model, (embeddings, views) = make(bins), batch()
    terms = model(embeddings, torch.arange(BATCH), present, views=views)
    for pair in GRAPH.directed():
        said = model.decoders[pair.name](embeddings[pair.anchor]).detach()
        centres = model.losses[pair.target].centres.tolist()
        together, found = len(centres[0]), []
        for n in there(pair.anchor, pair.target, present):
            for row, column, values in cells(views[pair.target], n):
                for group in range(len(values) // together):
                    value = values[group * together : (group + 1) * together]
                    nearest = min(range(len(centres)), key=lambda q, v=value: math.dist(centres[q], v))
                    h = said[n, group * len(centres) : (group + 1) * len(centres), row, column].exp()
                    found.append(-math.log(h[nearest] / h.sum()))
        assert terms[pair.name].item() == pytest.approx(pair.weight * sum(found) / len(found))


@pytest.mark.parametrize("centres", [even_bins(1, 100), even_bins(2, 16), ab_bins()])
def test_quantisation_there_and_back(centres):
    """A centre is in its own bin, and no value between the bins moves by more than half a step."""
    loss, channels = Quantised(centres), centres.shape[1]
    assert torch.equal(loss.classes(centres[..., None, None]).flatten(), torch.arange(len(centres)))
    if len(centres) != 261:
        step = 2 / round(len(centres) ** (1 / channels))
        values = torch.rand(50, channels, 4, 3) * 2 - 1
        back = centres[loss.classes(values).squeeze(1)].movedim(-1, 1)
        assert (back - values).abs().max() <= step / 2 + 1e-6


def test_bins_of_ab_are_those_of_colours():
    """Every colour is within half a step of its bin, but for a rare one at the rim of the cube."""
    centres = ab_bins()
    assert centres.shape == (261, 2)
    assert centres.abs().max() < 1.1
    colours = torch.randint(256, (4000, 3, 1, 1), dtype=torch.uint8)
    views = chroma({"rgb": colours})
    found = Quantised(centres).classes(views).flatten()
    apart = (centres[found] - views.flatten(1)).abs() * torch.tensor([92.208, 101.1675])
    assert (
        apart.amax(1) > 5.3
    ).sum() <= 4  # the channels are scaled differently, so bins are not quite square
    assert len(ab_bins(20.0)) < len(centres) / 3


def test_uninformative_scores_cost_the_log_of_the_bins():
    model, (embeddings, views) = make(bins), batch()
    for weight in model.decoders.parameters():
        nn.init.zeros_(weight)
    terms = model(embeddings, torch.arange(BATCH), views=views)
    counts = {"L": 4, "ab": 9, "depth": 5}
    for pair in GRAPH.directed():
        assert terms[pair.name].item() == pytest.approx(pair.weight * math.log(counts[pair.target]))


def test_views_of_any_shape_are_shrunk():
    clip, table = torch.randn(2, 4, 3, 6, 10), torch.randn(2, 5)
    assert shrunk(clip, 3, 5).shape == (2, 12, 3, 5)
    torch.testing.assert_close(shrunk(clip, 1, 1).flatten(1), clip.mean((3, 4)).flatten(1))
    assert torch.equal(shrunk(table, 1, 1).flatten(1), table)


@pytest.mark.parametrize(("side", "outputs"), [(1, 6), (3, 2), (9, 5), (16, 11)])
def test_the_decoder_makes_maps_of_any_side_and_every_weight_learns(side, outputs):
    embedding = torch.randn(3, DIM, requires_grad=True)
    decoder = Decoder(DIM, outputs, side=side, width=16)
    said = decoder(embedding)
    assert said.shape == (3, outputs, side, side)
    said.square().mean().backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in decoder.parameters())
    assert embedding.grad is not None
    assert embedding.grad.abs().min() > 0


def test_a_prediction_remembers_nothing_and_proves_nothing():
    model, (embeddings, views) = make(bins), batch()
    terms = model(embeddings, torch.arange(BATCH), views=views)
    assert model.bounds(terms) == {}
    assert model.ceilings == {}
    assert model.hindrance is None
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.remember(embeddings, torch.arange(BATCH))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert {name.split(".")[0] for name in before} == {"decoders", "losses"}


def test_what_is_refused():
    model, (embeddings, views) = make(bins), batch()
    losses = {"ab": Distance("l1"), "L": Distance("l1")}
    with pytest.raises(ValueError, match="needs a decoder for 'ab->L' and a loss for 'L'"):
        Prediction(PairGraph([("L", "ab")]), {"L->ab": Plain(2)}, losses)
    with pytest.raises(ValueError, match="'L' is cells, but a decoder takes one vector"):
        model.check({**embeddings, "L": torch.randn(2, 9, DIM)})
    nobody = torch.zeros(BATCH, dtype=torch.bool)
    with pytest.raises(ValueError, match="no sample of this batch has both views"):
        model(embeddings, torch.arange(BATCH), {"ab": nobody}, views=views)
    with pytest.raises(ValueError, match="centres of 2 channels cannot quantise a view of 3"):
        Quantised(even_bins(2, 4)).outputs(3)
    with pytest.raises(ValueError, match="a distance is 'l1' or 'l2', got 'l3'"):
        Distance("l3")
