"""Views of clips, and ten crops of them."""

import pytest
import torch

from coview.flow import to_eight_bits
from coview.views import crop_and_flip, flow_stack, frame, ten_crops


def fields():
    rgb = torch.randint(256, (2, 3, 3, 11, 13), dtype=torch.uint8)
    return {"rgb": rgb, "flow": torch.randint(-127, 128, (2, 4, 2, 11, 13), dtype=torch.int8)}


def test_a_frame_goes_from_minus_one_to_one():
    given = fields()
    view = frame(given, at=2)
    assert view.shape == (2, 3, 11, 13)
    torch.testing.assert_close((view + 1) * 127.5, given["rgb"][:, 2].float())


def test_a_stack_of_flows_has_two_channels_each_in_pixels():
    flow = 6 * torch.randn(2, 4, 2, 5, 7)
    stack = flow_stack({"flow": to_eight_bits(flow)}, pixels=5.0)
    assert stack.shape == (2, 8, 5, 7)
    torch.testing.assert_close(5 * stack[:, 3], flow[:, 1, 1].clamp(-20, 20), atol=0.08, rtol=0)


def test_a_mirror_image_of_eight_bits_is_that_of_pixels():
    given, generator = fields(), torch.Generator().manual_seed(2)
    found = crop_and_flip(given, generator, size=9)
    assert found["flow"].dtype == torch.int8
    seen = set()
    for row in range(2):
        matches = [
            (top, left, mirrored)
            for top in range(3)
            for left in range(5)
            for mirrored in (False, True)
            if torch.equal(found["rgb"][row], _cut(given["rgb"][row], top, left, mirrored))
        ]
        top, left, mirrored = matches[0]
        flow = _cut(given["flow"][row], top, left, mirrored)
        flow[:, 0] *= -1 if mirrored else 1
        assert torch.equal(found["flow"][row], flow)
        seen.add(mirrored)
    assert seen == {False, True}, "this seed shows both"


def _cut(values, top, left, mirrored):
    cut = values[..., top : top + 9, left : left + 9].clone()
    return cut.flip(-1) if mirrored else cut


def test_ten_crops_are_corners_and_middle_with_their_mirror_images():
    given = fields()
    found = list(ten_crops(given, size=7))
    assert len(found) == 10
    assert torch.equal(found[0]["rgb"], given["rgb"][..., :7, :7])
    assert torch.equal(found[6]["rgb"], given["rgb"][..., 4:, 6:])
    assert torch.equal(found[8]["rgb"], given["rgb"][..., 2:9, 3:10])
    for plain, mirrored in zip(found[::2], found[1::2], strict=True):
        assert torch.equal(mirrored["rgb"], plain["rgb"].flip(-1))
        assert torch.equal(mirrored["flow"][:, :, 0], -plain["flow"][:, :, 0].flip(-1))
        assert torch.equal(mirrored["flow"][:, :, 1], plain["flow"][:, :, 1].flip(-1))
    with pytest.raises(ValueError, match="12 pixels from 11x13"):
        list(ten_crops(given, size=12))
