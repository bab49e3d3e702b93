"""Features of frozen encoders: layers, pooling, missing views, and encoders left as they were."""

import copy

import pytest
import torch
from torch import Tensor, nn

from coview.probes import Features, concatenate, extract, extract_layers, layer_features
from coview.types import Batch


class Tower(nn.Module):
    """Two maps and an embedding, with batch norm and dropout, so that the mode shows."""

    def __init__(self, channels: int, dim: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(channels, 6, 3, padding=1), nn.BatchNorm2d(6))
        self.second = nn.Sequential(nn.Conv2d(6, 4, 3, stride=2), nn.Dropout(0.5))
        self.last = nn.Linear(4, dim)

    def features(self, view: Tensor) -> dict[str, Tensor]:
        first = self.first(view)
        second = self.second(first)
        return {"conv1": first, "conv2": second, "embedding": self.last(second.mean((2, 3)))}

    def forward(self, view: Tensor) -> Tensor:
        return self.features(view)["embedding"]


def towers() -> dict[str, Tower]:
    torch.manual_seed(3)
    return {"L": Tower(1, 5), "ab": Tower(2, 7)}


def batches(sizes: tuple[int, ...] = (4, 3), *, present: dict[str, list[bool]] | None = None) -> list[Batch]:
    generator = torch.Generator().manual_seed(5)
    made = []
    for start, size in zip((0, *torch.tensor(sizes).cumsum(0).tolist()), sizes, strict=False):
        views = {
            "L": torch.randn(size, 1, 9, 11, generator=generator),
            "ab": torch.randn(size, 2, 9, 11, generator=generator),
        }
        index = torch.arange(start, start + size)
        there = {name: torch.tensor(rows)[index] for name, rows in (present or {}).items()}
        made.append(Batch(views, index, there or None, index % 3))
    return made


def test_a_map_is_averaged_over_the_largest_square_grid_that_fits():
    encoder, view = towers()["ab"].eval(), torch.randn(3, 2, 12, 8)
    whole = encoder.features(view)["conv1"]
    got = layer_features(encoder, view, "conv1", numbers=6 * 4 * 4 + 5)
    by_hand = torch.stack(
        [whole[:, :, 3 * i : 3 * i + 3, 2 * j : 2 * j + 2].mean((2, 3)) for i in range(4) for j in range(4)],
        2,
    )
    torch.testing.assert_close(got, by_hand.flatten(1))


@pytest.mark.parametrize(
    ("channels", "side", "grid"), [(96, 55, 10), (256, 27, 6), (384, 13, 5), (256, 13, 6)]
)
def test_alexnet_pools_to_the_grids_of_the_paper(channels: int, side: int, grid: int):
    class Maps(nn.Module):
        def features(self, view: Tensor) -> dict[str, Tensor]:
            return {"conv": torch.ones(len(view), channels, side, side)}

    assert layer_features(Maps(), torch.zeros(2, 3), "conv").shape == (2, channels * grid * grid)


def test_a_map_that_fits_stays_whole():
    encoder, view = towers()["ab"].eval(), torch.randn(3, 2, 9, 11)
    got = layer_features(encoder, view, "conv1")
    torch.testing.assert_close(got, encoder.features(view)["conv1"].flatten(1))


def test_a_grid_is_never_finer_than_the_map():
    encoder = towers()["L"].eval()
    assert layer_features(encoder, torch.randn(2, 1, 40, 3), "conv1", numbers=6 * 100).shape == (
        2,
        6 * 10 * 3,
    )


def test_views_share_the_numbers():
    features = extract(towers(), batches(), "conv1", numbers=2 * 6 * 9 + 4)
    assert {name: tuple(values.shape) for name, values in features.values.items()} == {
        "L": (7, 54),
        "ab": (7, 54),
    }


def test_a_missing_layer_names_the_nearest_first():
    with pytest.raises(
        ValueError, match=r"Tower has no layer 'conv3'; it has 'conv[12]', 'conv[12]', 'embedding'"
    ):
        layer_features(towers()["L"], torch.randn(2, 1, 9, 11), "conv3")


def test_an_encoder_without_features_offers_its_embedding():
    encoder, view = nn.Linear(5, 3), torch.randn(4, 5)
    torch.testing.assert_close(layer_features(encoder, view, "embedding"), encoder(view))
    with pytest.raises(ValueError, match="Linear has no layer 'fc'; it has 'embedding'"):
        layer_features(encoder, view, "fc")


def test_a_features_that_is_a_network_is_not_a_list_of_layers():
    encoder = nn.Module()
    encoder.features = nn.Linear(5, 3)
    with pytest.raises(ValueError, match="it has 'embedding'"):
        layer_features(encoder, torch.randn(4, 5), "conv1")


def test_layers_that_are_neither_vectors_nor_maps_are_refused():
    with pytest.raises(ValueError, match=r"came as \[4, 6, 5\]"):
        layer_features(nn.Identity(), torch.randn(4, 6, 5), "embedding")


def test_extract_joins_the_batches():
    encoders, given = towers(), batches()
    features = extract(encoders, given, "embedding")
    for name, encoder in encoders.items():
        whole = encoder.eval()(torch.cat([batch.views[name] for batch in given]))
        torch.testing.assert_close(features.values[name], whole)
        assert features.present[name].tolist() == [True] * 7
    assert features.index.tolist() == list(range(7))
    assert features.label is not None
    assert features.label.tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_extract_takes_a_module_dict():
    assert list(extract(nn.ModuleDict(towers()), batches(), "embedding").values) == ["L", "ab"]


def test_a_missing_view_is_zero_and_never_reaches_its_encoder():
    present = {"ab": [True, False, True, True, False, False, False]}
    given = batches(present=present)
    for batch in given:
        batch.views["ab"][~batch.present["ab"]] = torch.nan  # pyright: ignore[reportOptionalSubscript]
    features = extract(towers(), given, "embedding")
    there = torch.tensor(present["ab"])
    assert features.present["ab"].tolist() == present["ab"]
    assert features.present["L"].all()
    assert (features.values["ab"][~there] == 0).all()
    expected = extract(towers(), batches(), "embedding").values["ab"]
    torch.testing.assert_close(features.values["ab"][there], expected[there])


def test_all_layers_from_one_pass_are_those_of_a_pass_each():
    present = {"ab": [True, False, True, True, False, False, False]}
    encoders, given, layers = towers(), batches(present=present), ["conv2", "embedding", "conv1"]
    passes = []
    for encoder in encoders.values():
        encoder.first.register_forward_hook(lambda *_: passes.append(1))
    together = extract_layers(encoders, given, layers, numbers=100)
    assert len(passes) == len(given) * 2 - 1  # the second batch has no ab
    assert list(together) == layers
    for layer in layers:
        alone = extract(encoders, given, layer, numbers=100)
        assert torch.equal(together[layer].label, alone.label)
        for name in encoders:
            assert torch.equal(together[layer].values[name], alone.values[name])
            assert torch.equal(together[layer].present[name], alone.present[name])


def test_features_are_kept_in_half_the_room():
    whole = extract_layers(towers(), batches(), ["conv1", "embedding"])
    small = extract_layers(towers(), batches(), ["conv1", "embedding"], keep=torch.float16)
    for layer in whole:
        assert small[layer].values["ab"].dtype == torch.float16
        torch.testing.assert_close(small[layer].values["ab"], whole[layer].values["ab"].half())


def test_what_float16_does_not_hold_is_told():
    given = batches()
    given[0].views["L"][1] = 3e8
    extract_layers(towers(), given, ["conv1"])
    with pytest.raises(ValueError, match=r"NaN or infinite \(or beyond the 65,504 of float16\) in 1 of 7"):
        extract_layers(towers(), given, ["conv1"], keep=torch.float16)


def test_encoders_come_back_as_they_were():
    encoders = towers()
    encoders["L"].train()
    encoders["L"].first.eval()
    encoders["ab"].eval()
    modes = [part.training for encoder in encoders.values() for part in encoder.modules()]
    states = copy.deepcopy([encoder.state_dict() for encoder in encoders.values()])
    extract(encoders, batches(), "conv2")
    assert [part.training for encoder in encoders.values() for part in encoder.modules()] == modes
    for encoder, state in zip(encoders.values(), states, strict=True):
        for name, values in encoder.state_dict().items():
            assert torch.equal(values, state[name])


def test_modes_come_back_after_an_error():
    encoders = towers()
    with pytest.raises(ValueError, match="no layer 'fc9'"):
        extract(encoders, batches(), "fc9")
    assert all(part.training for encoder in encoders.values() for part in encoder.modules())


def test_features_carry_no_gradient():
    assert not extract(towers(), batches(), "conv1").values["L"].requires_grad


def test_broken_features_name_the_view():
    given = batches()
    given[1].views["ab"][2, 0, 0, 0] = torch.nan
    with pytest.raises(ValueError, match="view 'ab': layer 'conv1' is NaN or infinite in 1 of 7 samples"):
        extract(towers(), given, "conv1")


def test_a_view_that_is_never_there_is_refused():
    with pytest.raises(ValueError, match="view 'ab' is there for none of the 7 samples"):
        extract(towers(), batches(present={"ab": [False] * 7}), "embedding")


def test_an_encoder_without_its_view_is_refused():
    with pytest.raises(ValueError, match=r"wanted the view 'depth', but the batch has \['L', 'ab'\]"):
        extract({"depth": Tower(1, 5)}, batches(), "embedding")


def test_nothing_to_extract_is_refused():
    with pytest.raises(ValueError, match="got 2 encoders, 1 layers and 0 batches"):
        extract(towers(), [], "embedding")
    with pytest.raises(ValueError, match="got 0 encoders, 1 layers and 2 batches"):
        extract({}, batches(), "embedding")


def test_half_labelled_batches_are_refused():
    first, second = batches()
    with pytest.raises(ValueError, match="1 of 2 batches have labels"):
        extract(towers(), [first, Batch(second.views, second.index)], "embedding")


def three_samples(label: Tensor | None) -> Features:
    values = {
        "L": torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]),
        "ab": torch.tensor([[3.0], [4.0], [0.0]]),
    }
    present = {"L": torch.tensor([True, False, False]), "ab": torch.tensor([True, True, False])}
    return Features(values, present, torch.arange(3), label)


def test_concatenate_leaves_out_samples_with_no_view():
    values, label = concatenate(three_samples(torch.tensor([6, 7, 8])), ["ab", "L"])
    assert values.tolist() == [[3.0, 1.0, 2.0], [4.0, 0.0, 0.0]]
    assert label.tolist() == [6, 7]


def test_concatenate_leaves_out_samples_without_a_label():
    values, label = concatenate(three_samples(torch.tensor([6, -1, 8])), ["ab"])
    assert (values.tolist(), label.tolist()) == ([[3.0]], [6])


def test_concatenate_refuses_what_is_not_there():
    with pytest.raises(ValueError, match="a probe needs labels"):
        concatenate(three_samples(None), ["L"])
    with pytest.raises(ValueError, match=r"wanted some of the views \['L', 'ab'\], got \['depth'\]"):
        concatenate(three_samples(torch.arange(3)), ["depth"])
    with pytest.raises(ValueError, match=r"got \[\]"):
        concatenate(three_samples(torch.arange(3)), [])


def test_the_embedding_of_a_view_in_parts_is_that_of_the_whole():
    class InParts(Tower):
        def forward(self, view: Tensor) -> dict[str, Tensor]:
            found = self.features(view)
            return {"": found["embedding"], "conv2": found["conv2"].flatten(2).mT}

    view = torch.randn(3, 2, 8, 10)
    encoder = InParts(2, 5).eval()
    assert torch.equal(layer_features(encoder, view, "embedding"), encoder(view)[""])
