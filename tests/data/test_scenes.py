"""The rendered rooms: repeatable, true to their geometry, and learnable for the right reasons."""

from itertools import pairwise

import pytest
import torch

from coview.data import scenes as module
from coview.data.resident import Resident
from coview.data.scenes import MOTIONS, ROOMS, SEGMENTS, SPLITS, render, scenes
from coview.data.scenes.cast import look
from coview.data.scenes.dice import Dice, cosine_sine
from coview.data.scenes.layout import furnish, solids
from coview.data.scenes.motion import shoot

MASK = 2**64 - 1


@pytest.fixture(scope="module")
def clean():
    """Many small rooms without noise."""
    return render(torch.arange(40), size=36, noise=False)


@pytest.fixture(scope="module")
def clips():
    """Clips without noise, long enough that every motion is there."""
    return render(torch.arange(45), size=28, frames=3, noise=False)


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def pixel_middles(size):
    steps = torch.arange(size) + 0.5
    return torch.stack((steps.expand(size, size), steps[:, None].expand(size, size)))


def camera_points(depth, intrinsics):
    """[B 3 H W] in camera coordinates, by the textbook: depth times the inverse of the intrinsics."""
    size = depth.shape[-1]
    rays = torch.cat((pixel_middles(size), torch.ones(1, size, size))).flatten(1)
    return (intrinsics.inverse() @ rays).view(-1, 3, size, size) * depth


def to_world(points, pose):
    moved = pose[:, :3, :3] @ points.flatten(2) + pose[:, :3, 3:]
    return moved.view(points.shape)


def splitmix(bits):
    """The finaliser of splitmix64 in whole numbers without end."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def test_mix_is_the_finaliser_of_splitmix():
    bits = torch.tensor([0, 1, -1, 2**63 - 1, -(2**63), 123456789])
    slow = [splitmix(number & MASK) for number in bits.tolist()]
    assert [number & MASK for number in module.dice.mix(bits).tolist()] == slow


def test_dice_are_even_and_do_not_go_together():
    dice = Dice(3, torch.arange(400))
    first, second = dice.uniform("one", 2.0, 4.0, 50), dice.uniform("two", 2.0, 4.0, 50)
    assert first.min() >= 2
    assert first.max() < 4
    assert abs(first.mean() - 3) < 0.02
    assert abs(torch.corrcoef(torch.stack((first.flatten(), second.flatten())))[0, 1]) < 0.03
    assert abs(torch.corrcoef(torch.stack((first[:-1].flatten(), first[1:].flatten())))[0, 1]) < 0.03
    bell = dice.bell("three", 50)
    assert abs(bell.mean()) < 0.03
    assert abs(bell.std() - 1) < 0.03


def test_cosine_and_sine():
    angle = torch.linspace(-3.14, 3.14, 101)
    cosine, sine = cosine_sine(angle)
    torch.testing.assert_close(cosine, angle.cos(), atol=3e-4, rtol=0)
    torch.testing.assert_close(sine, angle.sin(), atol=3e-4, rtol=0)


def test_fields_of_pictures():
    fields = render(torch.arange(5), size=20)
    shapes = {name: (tuple(values.shape), values.dtype) for name, values in fields.items()}
    assert shapes == {
        "rgb": ((5, 3, 20, 20), torch.uint8),
        "depth": ((5, 1, 20, 20), torch.float32),
        "normal": ((5, 3, 20, 20), torch.float32),
        "segment": ((5, 1, 20, 20), torch.uint8),
        "room": ((5,), torch.int64),
        "shell": ((5, 3), torch.float32),
        "intrinsics": ((5, 3, 3), torch.float32),
        "pose": ((5, 4, 4), torch.float32),
    }
    assert fields["rgb"].float().std() > 20
    assert fields["depth"].min() == 0
    assert fields["depth"].max() < 9
    assert fields["segment"].max() < len(SEGMENTS)


def test_fields_of_clips():
    fields = render(torch.arange(2), size=20, frames=4)
    shapes = {name: tuple(values.shape) for name, values in fields.items()}
    assert shapes == {
        "rgb": (2, 4, 3, 20, 20),
        "depth": (2, 4, 1, 20, 20),
        "normal": (2, 4, 3, 20, 20),
        "segment": (2, 4, 1, 20, 20),
        "flow": (2, 3, 2, 20, 20),
        "room": (2,),
        "motion": (2,),
        "shell": (2, 3),
        "intrinsics": (2, 3, 3),
        "pose": (2, 4, 4, 4),
    }
    assert fields["flow"].dtype == torch.float32
    assert fields["motion"].dtype == torch.int64


@pytest.mark.parametrize(("size", "frames"), [(20, 1), (13, 3)])
def test_a_scene_is_the_same_in_any_batch_and_order(size, frames, monkeypatch):
    index = torch.arange(11) + 7
    together = render(index, seed=2, size=size, frames=frames)
    backwards = render(index.flip(0), seed=2, size=size, frames=frames)
    assert same(together, {name: values.flip(0) for name, values in backwards.items()})
    alone = [render(one, seed=2, size=size, frames=frames) for one in index.split(1)]
    assert same(together, {name: torch.cat([one[name] for one in alone]) for name in together})
    monkeypatch.setattr(module, "CHUNK", 3 * size * size * frames)
    assert same(together, render(index, seed=2, size=size, frames=frames))


def test_other_seeds_and_other_numbers_are_other_scenes():
    index = torch.arange(6)
    first, second, third = render(index, size=16), render(index, size=16, seed=1), render(index + 6, size=16)
    for name in ("rgb", "depth", "normal", "segment", "pose"):
        assert not torch.equal(first[name], second[name])
        assert not torch.equal(first[name], third[name])
    assert len(render(torch.arange(50), size=8)["rgb"].flatten(1).unique(dim=0)) == 50


def test_splits_are_the_same_world_at_other_numbers():
    starts = sorted(SPLITS.values())
    assert min(after - before for before, after in pairwise(starts)) >= 2**32
    test = scenes("test", samples=3, size=12, seed=4)
    assert torch.equal(test.fields["rgb"], render(torch.arange(3) + SPLITS["test"], size=12, seed=4)["rgb"])
    pictures = [scenes(split, samples=20, size=8).fields["rgb"].flatten(1) for split in SPLITS]
    assert len(torch.cat(pictures).unique(dim=0)) == 60


def test_scenes_are_a_dataset_of_rooms():
    dataset = scenes(samples=7, size=12)
    assert isinstance(dataset, Resident)
    assert set(dataset.fields) == {"rgb", "depth", "normal", "segment"}
    assert dataset.classes == ROOMS
    assert torch.equal(dataset.label, render(torch.arange(7), size=12)["room"])


def test_scenes_of_clips_are_a_dataset_of_motions():
    dataset = scenes("held-out", samples=5, size=12, frames=2)
    assert set(dataset.fields) == {"rgb", "depth", "normal", "segment", "flow"}
    assert dataset.classes == MOTIONS
    index = torch.arange(5) + SPLITS["held-out"]
    assert torch.equal(dataset.label, render(index, size=12, frames=2)["motion"])


def test_unknown_split_names_those_on_offer():
    with pytest.raises(ValueError, match=r"no split 'validation'.*train, test, held-out"):
        scenes("validation")


@pytest.mark.parametrize("wrong", [{"size": 0}, {"frames": 0}])
def test_nothing_to_render_is_an_error(wrong):
    with pytest.raises(ValueError, match="count from 1"):
        render(torch.arange(2), **wrong)


def test_every_class_and_segment_appears():
    fields = render(torch.arange(300), size=24)
    share = fields["room"].bincount(minlength=len(ROOMS)) / 300
    assert share.min() > 0.04
    assert share.max() < 0.2
    assert set(fields["segment"].unique().tolist()) == set(range(len(SEGMENTS)))
    motion = render(torch.arange(120), size=4, frames=2)["motion"]
    assert set(motion.tolist()) == set(range(len(MOTIONS)))


def test_normals_have_unit_length_and_face_the_camera(clean):
    for fields in (clean, render(torch.arange(3), size=20)):
        torch.testing.assert_close(
            fields["normal"].norm(dim=1), torch.ones(()).expand_as(fields["normal"][:, 0])
        )
    rays = camera_points(clean["depth"], clean["intrinsics"])
    assert ((rays * clean["normal"]).sum(1) < 0).float().mean() > 0.999


def test_normals_are_those_of_the_depth(clean):
    points, normal, segment = (
        camera_points(clean["depth"], clean["intrinsics"]),
        clean["normal"],
        clean["segment"],
    )
    across = points[..., 1:-1, 2:] - points[..., 1:-1, :-2]
    down = points[..., 2:, 1:-1] - points[..., :-2, 1:-1]
    from_depth = torch.nn.functional.normalize(torch.cross(down, across, dim=1), dim=1)
    middle = normal[..., 1:-1, 1:-1]
    inside = torch.ones_like(middle[:, 0], dtype=torch.bool)
    for rows, columns in ((0, 1), (2, 1), (1, 0), (1, 2)):
        window = (..., slice(rows, rows + 34), slice(columns, columns + 34))
        inside &= (normal[window] * middle).sum(1) > 0.9999
        inside &= (segment[window] == segment[..., 1:-1, 1:-1])[:, 0]
    assert inside.float().mean() > 0.4
    agreement = (from_depth * middle).sum(1)[inside]
    assert agreement.median() > 0.9999
    assert (
        agreement > 0.98
    ).float().mean() > 0.97  # parallel faces one behind the other break the differences


def test_walls_floor_and_ceiling_lie_on_the_planes_of_the_room(clean):
    x, y, z = to_world(camera_points(clean["depth"], clean["intrinsics"]), clean["pose"]).unbind(1)
    width, height, length = (side[:, None, None] for side in clean["shell"].unbind(1))
    off_x, off_z = x.abs() - width / 2, (z - length / 2).abs() - length / 2
    segment = clean["segment"][:, 0]
    assert torch.maximum(off_x, off_z)[segment == SEGMENTS.index("wall")].abs().max() < 2e-3
    assert y[segment == SEGMENTS.index("floor")].abs().max() < 0.021  # a rug is 2 cm thick
    assert (y + height)[segment == SEGMENTS.index("ceiling")].abs().max() < 2e-3
    assert max(off_x.max(), off_z.max(), y.max(), (-y - height).max()) < 2e-3


def test_pixels_see_the_first_solid_on_their_way():
    fields, dice = render(torch.arange(4), size=15, noise=False), Dice(0, torch.arange(4))
    rooms = furnish(dice, toy=False)
    seen = look(shoot(dice, rooms, 1)[0], solids(rooms))
    points = camera_points(fields["depth"], fields["intrinsics"]).flatten(2)

    def inside(share):
        """Whether the point at this share of the way is in any solid."""
        spots = torch.einsum("bpij,bjn->bpin", seen.to_unit, points * share) + seen.origin[..., None]
        box = spots.abs().amax(2) < 1
        drum = (spots[:, :, [0, 2]].norm(dim=2) < 1) & (spots[:, :, 1].abs() < 1)
        ball = spots.norm(dim=2) < 1
        kinds = torch.stack((box, drum, ball))
        code = seen.shape.clamp(min=0)
        chosen = kinds.gather(0, code[None, :, :, None].expand(1, -1, -1, box.shape[-1]))[0]
        return (chosen & (seen.shape >= 0)[..., None]).any(1)

    ahead = torch.stack([inside(share) for share in torch.linspace(0.02, 0.998, 50).tolist()]).any(0)
    assert ahead.float().mean() < 1e-3
    assert inside(1.002).float().mean() > 0.15  # furniture is there to be seen


def test_depth_noise_grows_with_distance_and_leaves_holes():
    index = torch.arange(60)
    noisy, true = render(index, size=36)["depth"], render(index, size=36, noise=False)["depth"]
    holes = noisy == 0
    assert true.min() > 0.05
    assert 0.01 < holes.float().mean() < 0.2
    error = (noisy - true).abs()
    near, far = error[~holes & (true < 2)], error[~holes & (true > 4)]
    assert 2 * near.mean() < far.mean() < 0.06
    x, y, z = render(index, size=36, noise=False)["normal"].unbind(1)
    rays = camera_points(torch.ones_like(true), render(index, size=36)["intrinsics"])
    slant = -(torch.stack((x, y, z), 1) * rays).sum(1) / rays.norm(dim=1)
    assert (slant < 0.04).sum() > 20
    assert holes[:, 0][slant < 0.04].all()
    assert holes[:, 0][slant > 0.5].float().mean() < 0.1


def test_noise_of_normals_is_small():
    index = torch.arange(9)
    noisy, true = render(index, size=20)["normal"], render(index, size=20, noise=False)["normal"]
    turned = (noisy * true).sum(1)
    assert not torch.equal(noisy, true)
    assert turned.mean() > 0.99


def test_a_still_clip_does_not_flow(clips):
    still = clips["motion"] == MOTIONS.index("still")
    assert still.any()
    assert clips["flow"][still].abs().max() == 0
    assert clips["flow"][~still].abs().amax((1, 2, 3, 4)).min() > 0.05


def test_flow_of_a_moving_camera_is_the_next_projection(clips):
    chosen = torch.tensor([MOTIONS[row].startswith(("pan", "dolly")) for row in clips["motion"]])
    assert chosen.sum() > 10
    pose, intrinsics, flow = clips["pose"][chosen], clips["intrinsics"][chosen], clips["flow"][chosen]
    depth, segment = clips["depth"][chosen], clips["segment"][chosen]
    size = depth.shape[-1]
    for frame in range(2):
        world = to_world(camera_points(depth[:, frame], intrinsics), pose[:, frame])
        there = to_world(world, pose[:, frame + 1].inverse())
        image = (intrinsics @ there.flatten(2)).view_as(there)
        landing = image[:, :2] / image[:, 2:]
        torch.testing.assert_close(landing, pixel_middles(size) + flow[:, frame], atol=5e-3, rtol=0)
        found, segment_found, visible = looked_up(landing, depth[:, frame + 1], segment[:, frame + 1])
        close = (found - there[:, 2]).abs() < 0.1 + 0.03 * there[:, 2]
        assert close[visible].float().mean() > 0.9
        assert (segment_found == segment[:, frame, 0])[visible].float().mean() > 0.9


def test_flow_of_a_moving_toy_stays_on_the_toy(clips):
    chosen = torch.tensor([MOTIONS[row].startswith(("slide", "bounce", "turn")) for row in clips["motion"]])
    assert chosen.sum() > 10
    flow, depth, segment = (clips[name][chosen] for name in ("flow", "depth", "segment"))
    toy = segment[:, :, 0] == SEGMENTS.index("toy")
    assert toy.flatten(2).any(2).all()
    assert flow.abs().amax(2)[~toy[:, :2]].max() == 0
    assert flow.abs().amax(2)[toy[:, :2]].mean() > 0.2
    for frame in range(2):
        landing = pixel_middles(depth.shape[-1]) + flow[:, frame]
        _, found, visible = looked_up(landing, depth[:, frame + 1], segment[:, frame + 1])
        stayed = (found == SEGMENTS.index("toy"))[visible & toy[:, frame]].float().mean()
        assert stayed > 0.85


def looked_up(landing, depth, segment):
    """Depth and segment at the pixel on which each point lands, and whether it lands in the picture."""
    size = depth.shape[-1]
    column, row = landing.floor().long().unbind(1)
    visible = (column >= 0) & (column < size) & (row >= 0) & (row < size)
    flat = (row.clamp(0, size - 1) * size + column.clamp(0, size - 1)).flatten(1)
    read = [values.flatten(1).gather(1, flat).view_as(row) for values in (depth, segment)]
    return *read, visible


def test_motions_move_as_they_are_called(clips):
    toy = clips["segment"][:, :-1, 0] == SEGMENTS.index("toy")
    x, y = clips["flow"].unbind(2)

    def of(name, values):
        return values[clips["motion"] == MOTIONS.index(name)]

    assert of("pan left", x).min() > 0
    assert of("pan right", x).max() < 0
    assert of("slide left", x * toy).sum((1, 2, 3)).max() < 0
    assert of("slide right", x * toy).sum((1, 2, 3)).min() > 0
    sideways, upright = (of("bounce", part * toy).abs().sum((1, 2, 3)) for part in (x, y))
    assert (upright > 2 * sideways).all()
    size = x.shape[-1]
    outwards = ((pixel_middles(size) - size / 2) * clips["flow"]).sum(2)
    assert of("dolly in", outwards).mean((1, 2, 3)).min() > 0
    assert of("dolly out", outwards).mean((1, 2, 3)).max() < 0


def fitted(train, labels, test):
    """Linear least squares to one-hot labels, with a little ridge."""
    train, test = (torch.nn.functional.pad(values, (0, 1), value=1.0).double() for values in (train, test))
    gram = train.T @ train + 1e-2 * torch.eye(train.shape[1], dtype=torch.float64)
    target = torch.nn.functional.one_hot(labels, len(ROOMS)).double()
    return (test @ torch.linalg.solve(gram, train.T @ target)).argmax(1)


def test_a_room_is_told_by_its_furniture_and_not_by_its_colours():
    train, test = (render(torch.arange(700) + start, size=24) for start in SPLITS.values() if start < 2**33)

    def accuracy(read):
        return (fitted(read(train), train["room"], read(test)) == test["room"]).float().mean().item()

    def colours(fields):
        bins = (fields["rgb"].long() // 64 * torch.tensor([16, 4, 1]).view(3, 1, 1)).sum(1)
        return torch.nn.functional.one_hot(bins.flatten(1), 64).float().mean(1)

    def presence(fields):
        return torch.nn.functional.one_hot(fields["segment"].flatten(1).long(), len(SEGMENTS)).amax(1).float()

    chance = 1 / len(ROOMS)
    assert accuracy(lambda fields: fields["rgb"].float().mean((2, 3)) / 255) < 2 * chance
    assert accuracy(colours) < 2.5 * chance
    assert accuracy(presence) > 6 * chance
