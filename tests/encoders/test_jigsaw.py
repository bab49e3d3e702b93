"""Jigsaws: where tiles are cut, that each is encoded alone, and what their order does."""

import copy
from functools import partial

import pytest
import torch
from torch import nn

from coview.encoders import (
    MLP,
    Encoders,
    ResNet,
    SlowEncoders,
    SmallConv,
    imagenet_half,
    with_cells,
    with_jigsaw,
)
from coview.encoders.slow import settle

BATCH, HEIGHT, WIDTH, TILE, DIM = 4, 26, 32, 7, 5
small = partial(SmallConv, 2, width=3, hidden=6, dim=DIM)


def jigsaw(**more):
    return with_jigsaw(small, **{"tile": TILE, "dim": DIM} | more)


def views(batch=BATCH):
    return torch.randn(batch, 2, HEIGHT, WIDTH)


def test_tiles_are_cut_inside_of_their_cells():
    """A view of places tells where each tile is from: whole, upright, and anywhere in its cell of 8 x 10."""
    rows, columns = torch.meshgrid(torch.arange(HEIGHT), torch.arange(WIDTH), indexing="ij")
    many = 500
    tiles = jigsaw().cut(torch.stack([rows, columns]).float().expand(many, 2, HEIGHT, WIDTH))
    assert tiles.shape == (many, 9, 2, TILE, TILE)
    steps = torch.arange(TILE)
    corner = tiles[..., 0, 0]
    assert torch.equal(tiles[:, :, 0], corner[:, :, 0, None, None] + steps[:, None].expand(TILE, TILE))
    assert torch.equal(tiles[:, :, 1], corner[:, :, 1, None, None] + steps.expand(TILE, TILE))
    for cell in range(9):
        down, across = corner[:, cell].long().T
        assert sorted(set(down.tolist())) == [8 * (cell // 3), 8 * (cell // 3) + 1]
        assert sorted(set(across.tolist())) == [10 * (cell % 3) + step for step in range(4)]
    assert len({tuple(one.flatten().tolist()) for one in corner[:, :3]}) > 100  # each tile moves on its own


def test_each_tile_is_encoded_alone():
    model, given = jigsaw().eval(), views()
    torch.manual_seed(3)
    found = model.pieces(given)
    torch.manual_seed(3)
    tiles = model.cut(given)
    for sample in range(BATCH):
        for number in range(9):
            said = model.encoder.features(tiles[sample, number][None])["fc"]
            torch.testing.assert_close(found[sample, number], model.piece(said)[0])


def test_an_order_changes_the_vector_and_not_the_tiles():
    model = jigsaw().eval()
    pieces = model.pieces(views())
    before = pieces.clone()
    one, other = (torch.rand(BATCH, 9).argsort(1) for _ in range(2))
    first, second = model.put_together(pieces, one), model.put_together(pieces, other)
    assert torch.equal(pieces, before)
    assert not torch.isclose(first, second).all(1).any()
    assert torch.equal(model.put_together(pieces, one), first)
    for sample in range(BATCH):
        ordered = torch.cat([pieces[sample, number] for number in one[sample].tolist()])
        torch.testing.assert_close(first[sample], model.projection(ordered))


def test_forward_draws_an_order_for_each_sample():
    """Tiles as large as their cells cannot move, so only their order is drawn."""
    model = jigsaw(tile=8).eval()
    same = torch.randn(1, 2, 24, 24).expand(30, 2, 24, 24)
    found = model(same)
    assert list(found) == ["", "jigsaw"]
    assert found["jigsaw"].shape == (30, DIM)
    assert torch.allclose(found[""], found[""][:1].expand(30, DIM), atol=1e-6)
    assert len(found["jigsaw"].unique(dim=0)) == 30
    torch.manual_seed(1)
    again = model(same)["jigsaw"]
    torch.manual_seed(1)
    assert torch.equal(model(same)["jigsaw"], again)


def test_the_trunk_is_shared_and_learns_from_tiles():
    model = jigsaw()
    model(views())["jigsaw"].square().sum().backward()
    assert all((one.grad != 0).any() for one in model.encoder.layers.parameters())
    assert model.encoder.embedding.weight.grad is None


def test_running_statistics_are_those_of_whole_views():
    model, alone = jigsaw(), small()
    alone.load_state_dict(model.encoder.state_dict())
    given = 3 * views(20)
    model(given), alone(given)
    for name, value in alone.named_buffers():
        if not name.endswith("num_batches_tracked"):
            torch.testing.assert_close(model.encoder.get_buffer(name), value)
    assert all(part.momentum == 0.1 for part in model.modules() if isinstance(part, nn.BatchNorm2d))
    settle(Encoders({"v": model}), {"v": given})
    conv = model.encoder.layers["conv1"][0](given)
    torch.testing.assert_close(model.encoder.layers["conv1"][1].running_mean, conv.mean((0, 2, 3)).detach())


def test_probes_see_the_encoder():
    model = jigsaw().eval()
    given = views()
    found, wanted = model.features(given), model.encoder.features(given)
    assert list(found) == list(wanted)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize(
    ("make", "layer", "size"),
    [
        (partial(ResNet, 1, depth=18, width=0.125, dim=6, stem="cifar"), "pooled", 64),
        (partial(imagenet_half, 1, dim=6, width=0.05), "fc7", 104),
        (
            partial(with_cells, partial(SmallConv, 1, width=3, hidden=6, dim=6), layers=("conv2",), dim=6),
            "fc",
            6,
        ),
    ],
)
def test_it_goes_around_any_encoder_of_pictures(make, layer, size):
    tile = 63 if layer == "fc7" else 9
    model = with_jigsaw(make, tile=tile, dim=6)
    assert (model.layer, model.piece.in_features) == (layer, size)
    found = model(torch.randn(2, 1, 3 * tile, 3 * tile + 4))
    assert found[""].shape == found["jigsaw"].shape == (2, 6)
    assert list(found) == (["", "conv2", "jigsaw"] if layer == "fc" else ["", "jigsaw"])


def test_a_map_is_pooled():
    model = jigsaw(layer="conv3")
    assert (model.layer, model.piece.in_features) == ("conv3", 12)
    assert model(views())["jigsaw"].shape == (BATCH, DIM)


def test_nodes_and_slow_copies_of_it():
    them = Encoders({"sight": jigsaw()})
    said = them({"sight": views()})
    assert list(said) == ["sight", "sight:jigsaw"]
    keys = SlowEncoders(them, 0.9)({"sight": views()})
    assert {node: key.shape for node, key in keys.items()} == dict.fromkeys(said, (BATCH, DIM))
    whole = SlowEncoders(them, 0.9, parts=False)
    assert list(whole({"sight": views()})) == ["sight"]  # nobody asks for jigsaws, so none are made
    assert list(them({"sight": views()})) == ["sight", "sight:jigsaw"]
    whole.follow(them)


def test_what_does_not_fit():
    with pytest.raises(
        ValueError, match=r"tiles of 9 do not fit into the 3 x 3 cells of a view of 26 x 32: wanted 8"
    ):
        jigsaw(tile=9)(views())
    with pytest.raises(ValueError, match=r"wants an encoder of pictures that shows its features.*got a MLP"):
        with_jigsaw(partial(MLP, 5), tile=7)
    with pytest.raises(ValueError, match=r"SmallConv has no layer 'conv9' \(did you mean .*; it has conv1"):
        jigsaw(layer="conv9")


def test_a_copy_is_a_copy():
    model, given = jigsaw(), views()
    twin = copy.deepcopy(model)
    torch.manual_seed(2)
    first = model(given)["jigsaw"]
    torch.manual_seed(2)
    assert torch.equal(twin(given)["jigsaw"], first)
