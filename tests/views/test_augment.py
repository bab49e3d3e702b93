"""Crop and flip: each pixel from its place, all maps alike."""

import numpy as np
import pytest
import torch

from coview.views import crop_and_flip

BATCH, HEIGHT, WIDTH = 7, 9, 11


def places(shape=(BATCH, HEIGHT, WIDTH)) -> torch.Tensor:
    """A map [B 2 H W] of which each pixel holds its own row and column."""
    batch, height, width = shape
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([rows, columns]).expand(batch, 2, height, width).contiguous()


def padded(values: torch.Tensor, padding: int) -> np.ndarray:
    """Reflected at each border, by numpy."""
    around = [(0, 0)] * (values.ndim - 2) + [(padding, padding)] * 2
    return np.pad(values.numpy(), around, mode="reflect")


def windows(values: torch.Tensor, size: int, padding: int) -> dict[tuple[int, int, bool], np.ndarray]:
    """Every crop of one sample that may come out, cut slowly: by row, column and whether it is mirrored."""
    wide = padded(values[None], padding)[0]
    height, width = wide.shape[-2:]
    found = {}
    for row in range(height - size + 1):
        for column in range(width - size + 1):
            crop = wide[..., row : row + size, column : column + size]
            found[row, column, False] = crop
            found[row, column, True] = crop[..., ::-1]
    return found


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("size", "padding"), [(5, 0), (5, 3), (9, 0), (13, 4)])
def test_each_pixel_comes_from_its_place(size, padding):
    """A crop of a map of places tells where it was cut; every other map must have been cut there."""
    fields = {
        "place": places(),
        "rgb": torch.randint(256, (BATCH, 3, HEIGHT, WIDTH), dtype=torch.uint8),
        "depth": torch.rand(BATCH, 1, HEIGHT, WIDTH),
        "clip": torch.randn(BATCH, 4, 5, HEIGHT, WIDTH, dtype=torch.float64),
        "mask": torch.rand(BATCH, 1, HEIGHT, WIDTH) > 0.5,
    }
    seen = set()
    for seed in range(20):
        found = crop_and_flip(fields, seeded(seed), size=size, padding=padding)
        for name, values in fields.items():
            assert found[name].dtype == values.dtype
            assert found[name].shape == (*values.shape[:-2], size, size)
        for sample in range(BATCH):
            choices = windows(fields["place"][sample], size, padding)
            crop = found["place"][sample].numpy()
            where = [key for key, choice in choices.items() if np.array_equal(choice, crop)]
            assert where  # with reflection several places may look alike: one must fit all maps
            fits = [
                key
                for key in where
                if all(
                    np.array_equal(
                        windows(fields[name][sample], size, padding)[key], found[name][sample].numpy()
                    )
                    for name in fields
                )
            ]
            assert fits
            seen.update(fits)
    rows, columns, mirrors = (set(part) for part in zip(*seen, strict=True))
    assert rows == set(range(HEIGHT + 2 * padding - size + 1))  # every place comes up, the last one too
    assert columns == set(range(WIDTH + 2 * padding - size + 1))
    assert mirrors == {False, True}


def test_samples_move_on_their_own():
    fields = {"place": places()}
    found = crop_and_flip(fields, seeded(3), size=5, padding=2)["place"]
    assert len({tuple(one.flatten().tolist()) for one in found}) > 3


def test_the_whole_with_padding_is_numpys_reflection():
    values = torch.randn(3, 2, 8, 8)
    found = crop_and_flip({"map": values}, seeded(0), size=14, padding=3, flip=False)["map"]
    assert np.array_equal(found.numpy(), padded(values, 3))
    by_torch = torch.nn.functional.pad(values, (3, 3, 3, 3), mode="reflect")
    assert torch.equal(found, by_torch)


def test_without_flip_nothing_is_mirrored():
    values = torch.randn(40, 1, 6, 6)
    assert torch.equal(crop_and_flip({"map": values}, seeded(0), size=6, flip=False)["map"], values)
    found = crop_and_flip({"map": values}, seeded(0), size=6)["map"]
    mirrored = [torch.equal(one, before.flip(-1)) for one, before in zip(found, values, strict=True)]
    same = [torch.equal(one, before) for one, before in zip(found, values, strict=True)]
    assert all(one != other for one, other in zip(mirrored, same, strict=True))
    assert 10 < sum(mirrored) < 30  # of 40


@pytest.mark.parametrize("shape", [(30, 3, 6, 6), (30, 4, 2, 6, 6)])
@pytest.mark.parametrize("name", ["normal", "flow", "wind"])
def test_a_mirror_turns_x_of_vectors_around(shape, name):
    """The channel is third from the end, in pictures [B C H W] and in clips [B T C H W]."""
    values = torch.randn(shape)
    fields = {name: values, "place": values.clone()}
    vectors = ("wind",) if name == "wind" else ("normal", "flow")
    found = crop_and_flip(fields, seeded(1), size=6, vectors=vectors)
    mirrored = 0
    for sample in range(shape[0]):
        wanted = values[sample].clone()
        if not torch.equal(found["place"][sample], values[sample]):
            mirrored += 1
            wanted = wanted.flip(-1)
            for index in np.ndindex(shape[1:-3]):
                wanted[index][0] = -wanted[index][0]
        assert torch.equal(found[name][sample], wanted)
    assert 5 < mirrored < 25


def test_what_is_no_map_stays():
    fields = {
        "place": places(),
        "room": torch.arange(BATCH),
        "shell": torch.randn(BATCH, 3),
        "intrinsics": torch.randn(BATCH, 3, 3),
    }
    found = crop_and_flip(fields, seeded(0), size=5)
    assert list(found) == list(fields)
    for name in ("room", "shell", "intrinsics"):
        assert found[name] is fields[name]
    assert fields["place"].shape == (BATCH, 2, HEIGHT, WIDTH)  # what came is as it was
    only = {"room": torch.arange(BATCH)}
    assert crop_and_flip(only, seeded(0), size=5) == only


def test_the_same_generator_gives_the_same():
    fields = {"place": places()}
    first, again = (crop_and_flip(fields, seeded(5), size=5, padding=1)["place"] for _ in range(2))
    assert torch.equal(first, again)
    generator = seeded(5)
    crop_and_flip(fields, generator, size=5, padding=1)
    assert not torch.equal(crop_and_flip(fields, generator, size=5, padding=1)["place"], first)
    torch.manual_seed(9)
    before = torch.get_rng_state()
    crop_and_flip(fields, generator, size=5)
    assert torch.equal(
        torch.get_rng_state(), before
    )  # it draws from what it was given, and from nothing else


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        (
            {"rgb": torch.zeros(2, 3, 9, 11), "depth": torch.zeros(2, 1, 9, 10)},
            {"size": 5},
            r"must have one height and width .*'rgb': \(9, 11\), 'depth': \(9, 10\)",
        ),
        (
            {"rgb": torch.zeros(2, 3, 9, 11)},
            {"size": 10},
            "cannot crop 10 pixels from 9x11 with a padding of 0",
        ),
        ({"rgb": torch.zeros(2, 3, 9, 11)}, {"size": 12, "padding": 1}, "cannot crop 12 pixels from 9x11"),
        ({"rgb": torch.zeros(2, 3, 9, 11)}, {"size": 5, "padding": 9}, "with a padding of 9"),
    ],
)
def test_what_cannot_be_cropped(fields, options, message):
    with pytest.raises(ValueError, match=message):
        crop_and_flip(fields, seeded(0), **options)


def test_the_widest_padding():
    values = torch.randn(3, 1, 5, 8)
    found = crop_and_flip({"map": values}, seeded(0), size=13, padding=4, flip=False)["map"]
    wide = padded(values, 4)
    for sample in range(3):
        crops = [wide[sample, :, :, column : column + 13] for column in range(4)]
        assert any(np.array_equal(found[sample].numpy(), crop) for crop in crops)
