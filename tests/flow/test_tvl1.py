"""TV-L1 against its definition, against true flow, and against OpenCV's implementation."""

import pytest
import torch
from torch.nn import functional

from coview.data.scenes import render
from coview.flow import FAST, TVL1, from_eight_bits, grey, to_eight_bits
from coview.flow.median import median_filter
from coview.flow.tvl1 import iterations


def texture(count: int, height: int, width: int, shift: tuple[float, float]):
    """Smooth random textures, and the same moved right and down by `shift`, sampled from the formula itself."""
    generator = torch.Generator().manual_seed(3)
    x, y = torch.arange(width).float(), torch.arange(height).float()[:, None]
    first, second = torch.zeros(2, count, 1, height, width)
    for _ in range(40):
        across, down, phase = torch.rand(3, count, 1, 1, 1, generator=generator)
        across, down = across - 0.5, down - 0.5
        first += torch.sin(across * x + down * y + 6.28 * phase)
        second += torch.sin(across * (x - shift[0]) + down * (y - shift[1]) + 6.28 * phase)
    return 127 + 8 * first, 127 + 8 * second


@pytest.mark.parametrize("flow", [TVL1(), FAST])
@pytest.mark.parametrize("shift", [(1.3, -0.6), (-3.25, 2.0)])
def test_a_translated_texture_is_found_within_a_tenth_of_a_pixel(flow, shift):
    found = flow(*texture(2, 49, 63, shift))[..., 6:-6, 6:-6]  # what comes in at the border has no origin
    error = (found - torch.tensor(shift)[:, None, None]).norm(dim=1)
    assert error.quantile(0.95) < 0.1


def test_what_stands_still_has_no_flow():
    picture = texture(1, 33, 41, (0, 0))[0]
    assert TVL1(scales=2, warps=1)(picture, picture).abs().max() < 1e-4


def test_pairs_of_a_batch_do_not_know_of_each_other():
    first, second = texture(3, 29, 37, (1.0, 0.5))
    alone = FAST(first[1:2], second[1:2])
    torch.testing.assert_close(FAST(first, second)[1:2], alone, rtol=1e-4, atol=1e-4)


def test_iterations_are_those_of_the_paper():
    """Equations 13 to 15 of Zach, Pock, Bischof, pixel by pixel, with Chambolle's projection."""
    torch.manual_seed(1)
    height, width, tau, weight, theta = 4, 5, 0.25, 0.15, 0.3
    flow, slope = torch.randn(1, 2, height, width), 3 * torch.randn(1, 2, height, width)
    rest, dual = torch.randn(1, 1, height, width), torch.zeros(1, 2, 2, height, width)
    given = flow.clone(), dual.clone(), slope, rest
    for _ in range(3):
        moved = flow.clone()
        for y in range(height):
            for x in range(width):
                g, u = slope[0, :, y, x], flow[0, :, y, x]
                rho, steep = rest[0, 0, y, x] + g @ u, g @ g
                if rho < -weight * theta * steep:
                    v = u + weight * theta * g
                elif rho > weight * theta * steep:
                    v = u - weight * theta * g
                else:
                    v = u - rho * g / steep
                p = dual[0, :, :, y, x]
                before_x = dual[0, :, 0, y, x - 1] if x else torch.zeros(2)
                before_y = dual[0, :, 1, y - 1, x] if y else torch.zeros(2)
                moved[0, :, y, x] = v + theta * (p[:, 0] - before_x + p[:, 1] - before_y)
        flow, old = moved, dual.clone()
        for y in range(height):
            for x in range(width):
                right = flow[0, :, y, min(x + 1, width - 1)] - flow[0, :, y, x]
                below = flow[0, :, min(y + 1, height - 1), x] - flow[0, :, y, x]
                rise = torch.stack([right, below], 1)
                size = rise.square().sum(1, keepdim=True).sqrt()
                dual[0, :, :, y, x] = (old[0, :, :, y, x] + tau / theta * rise) / (1 + tau / theta * size)
    found = iterations(*given, steps=3, tau=tau, attachment=weight, theta=theta)
    torch.testing.assert_close(found[0], flow)
    torch.testing.assert_close(found[1], dual)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_median_of_every_window(size):
    values = torch.randn(2, 3, 7, 9)
    padded = functional.pad(values, [size // 2] * 4, mode="replicate")
    windows = padded.unfold(2, size, 1).unfold(3, size, 1).flatten(-2)
    assert torch.equal(median_filter(values, size), windows.median(-1).values)


def test_a_median_has_a_middle():
    with pytest.raises(ValueError, match="odd window, got 4"):
        median_filter(torch.zeros(1, 1, 5, 6), 4)


def test_small_pictures_are_refused_and_odd_sizes_are_not():
    with pytest.raises(ValueError, match="16 pixels or more"):
        TVL1()(torch.zeros(1, 1, 15, 40), torch.zeros(1, 1, 15, 40))
    assert FAST(torch.zeros(1, 1, 17, 31), torch.zeros(1, 1, 17, 31)).shape == (1, 2, 17, 31)


def test_errors_are_those_of_opencv_on_rendered_clips():
    """The first clips, small, within a tenth; docs/video.md has larger sets, `coview bench flow` larger ones still."""
    cv2 = pytest.importorskip("cv2", reason="OpenCV is the oracle: pip install coview[video]")
    clips = render(torch.arange(8), size=64, frames=2)
    first, second = grey(clips["rgb"][:, 0]), grey(clips["rgb"][:, 1])
    theirs = cv2.optflow.DualTVL1OpticalFlow_create()
    pairs = [[one[0].round().byte().numpy() for one in pair] for pair in zip(first, second, strict=True)]
    said = torch.stack([torch.from_numpy(theirs.calc(*pair, None)).movedim(-1, 0) for pair in pairs])
    opencv, ours, fast = (
        (one - clips["flow"][:, 0]).norm(dim=1).mean().item()
        for one in (said, TVL1()(first, second), FAST(first, second))
    )
    assert ours < 1.1 * opencv
    assert fast < 1.1 * opencv


def test_numbers_are_those_of_opencv():
    cv2 = pytest.importorskip("cv2", reason="OpenCV is the oracle: pip install coview[video]")
    theirs, ours = cv2.optflow.DualTVL1OpticalFlow_create(), TVL1()
    names = {
        "Tau": ours.tau,
        "Lambda": ours.attachment,
        "Theta": ours.theta,
        "ScalesNumber": ours.scales,
        "ScaleStep": ours.factor,
        "WarpingsNumber": ours.warps,
        "InnerIterations": ours.inner,
        "MedianFiltering": ours.median,
    }
    assert {name: getattr(theirs, f"get{name}")() for name in names} == names


def test_eight_bits_keep_flow_up_to_twenty_pixels():
    flow = torch.tensor([0.0, 3.3, -19.98, 20.0, 400.0, -31.0]).view(1, 2, 3, 1)
    codes = to_eight_bits(flow)
    assert codes.flatten().tolist() == [0, 21, -127, 127, 127, -127]
    torch.testing.assert_close(from_eight_bits(codes), flow.clamp(-20, 20), atol=20 / 254 + 1e-6, rtol=0)
