"""Sheets of segments."""

import numpy as np
import torch

from coview.reports.segments import segment_colours, segment_sheet

NAMES = ("void", "wall", "floor", "bed")


def test_every_class_has_a_colour_of_its_own():
    colours = segment_colours(40)
    assert len({tuple(np.round(one, 3)) for one in colours}) == 41
    apart = np.abs(colours[:, None] - colours[None]).max(-1) + np.eye(41)
    assert apart.min() > 0.02


def test_truth_and_what_was_said_have_the_same_colours():
    pictures = torch.zeros(2, 3, 12, 16, dtype=torch.uint8)
    truth = torch.tensor([1, 2]).view(2, 1, 1, 1).expand(2, 1, 12, 16)
    said = torch.tensor([2, 1]).view(2, 1, 1, 1).expand(2, 1, 12, 16)
    figure = segment_sheet(pictures, truth, said, names=NAMES, title="L")
    shown = [axes.get_images()[0].get_array()[3, 4] for axes in figure.axes]
    assert np.allclose(shown[2], shown[5])
    assert np.allclose(shown[3], shown[4])
    assert not np.allclose(shown[2], shown[3])
    bright = segment_sheet(pictures + 200, truth, said, names=NAMES).axes[2].get_images()[0].get_array()[3, 4]
    np.testing.assert_allclose(bright - shown[2], 0.3 * 200 / 255)  # the picture shines through
    assert [one.get_text() for one in figure.legends[0].get_texts()] == ["wall", "floor"]
