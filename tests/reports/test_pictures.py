"""Views as images: every kind of view, its holes, and the sheets made of them."""

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

from coview.reports.look import GREEN
from coview.reports.pictures import contact_sheet, neighbour_grid, to_image, to_images

SHAPES = [(7,), (200,), (5, 9), (1, 8, 6), (2, 7, 5), (3, 5, 11), (4, 6, 7), (20, 3, 2), (4, 3, 6, 5)]


def hatched(figure) -> int:
    return sum(patch.get_hatch() is not None for axes in figure.axes for patch in axes.patches)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_view_is_an_image_of_its_size(shape):
    image = to_image(torch.randn(shape))
    assert image.dtype == np.uint8
    assert image.shape[2] == 3
    if len(shape) > 1:
        assert image.shape[:2] == shape[-2:]
    assert image.std() > 10


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, float("nan"), float("inf")])
def test_constant_and_empty_views_are_shown_without_a_warning(shape, value):
    image = to_image(torch.full(shape, value))
    assert len(np.unique(image.reshape(-1, 3), axis=0)) <= 2  # bars have a background beside their colour


@pytest.mark.parametrize("channels", [1, 2, 3, 6])
def test_a_hole_is_grey_and_changes_nothing_else(channels):
    torch.manual_seed(0)
    view = torch.rand(channels, 9, 12)
    view[:, 2, 3] = view[:, 0, 0]
    broken = view.clone()
    broken[-1, 2, 3] = float("nan")
    whole, holed = to_image(view), to_image(broken)
    assert len(set(holed[2, 3])) == 1
    assert (whole[2, 3] != holed[2, 3]).any()
    others = np.ones((9, 12), dtype=bool)
    others[2, 3] = False
    assert np.abs(whole[others].astype(int) - holed[others]).max() <= (12 if channels == 6 else 3)


def test_a_number_can_stand_for_a_hole():
    view = torch.rand(1, 6, 7)
    view[0, 1, 2] = -1.0
    broken = view.clone()
    broken[0, 1, 2] = float("nan")
    assert (to_image(view, hole=-1) == to_image(broken)).all()
    figure = contact_sheet({"depth": view[None], "L": view[None]}, holes={"depth": -1.0})
    assert (figure.axes[0].images[0].get_array() == to_image(broken)).all()
    assert (figure.axes[1].images[0].get_array() == to_image(view, grey=True)).all()


def test_one_outlier_does_not_flatten_the_picture():
    view = torch.linspace(0, 1, 400).reshape(1, 20, 20)
    view[0, 0, 0] = 1e6
    assert np.abs(to_image(view)[1:].astype(int) - to_image(view.clamp(max=1))[1:]).max() < 8


def test_three_channels_keep_their_natural_range():
    colours = torch.tensor([0.0, 0.5, 1.0]).view(3, 1, 1).expand(3, 4, 5)
    assert to_image(colours)[0, 0].tolist() == [0, 128, 255]
    assert to_image((colours * 255).to(torch.uint8))[0, 0].tolist() == [0, 127, 255]
    normals = torch.tensor([-1.0, 0.0, 1.0]).view(3, 1, 1).expand(3, 4, 5)
    assert to_image(normals)[0, 0].tolist() == [0, 128, 255]


def test_many_channels_are_shown_by_what_varies_most():
    view = torch.zeros(5, 4, 30)
    view[3] = torch.linspace(-9, 9, 30)
    view[1, 2] = 1.0
    image = to_image(view).astype(int)
    assert (np.diff(image[0, :, 0]) >= 0).all()
    assert image[0, -1, 0] - image[0, 0, 0] == 255
    assert (image[2, :, 1] > image[0, :, 1] + 100).all()


def test_grey_shades_are_grey_and_a_colour_map_is_not():
    view = torch.linspace(-1, 1, 30).reshape(1, 5, 6)
    shades, colours = to_image(view, grey=True), to_image(view)
    assert (shades[..., 0] == shades[..., 2]).all()
    assert shades[0, 0, 0] == 0
    assert shades[-1, -1, 0] == 255
    assert (colours[..., 0] != colours[..., 2]).any()


def test_chroma_has_its_own_hues():
    red, yellow, green, blue = (
        to_image(torch.tensor(ab).view(2, 1, 1)) for ab in ([1.0, 0], [0, 1.0], [-1.0, 0], [0, -1.0])
    )
    assert red[0, 0].argmax() == 0
    assert yellow[0, 0].argmin() == 2
    assert green[0, 0].argmax() == 1
    assert blue[0, 0].argmax() == 2


def test_a_batch_shares_its_scale():
    near, far = torch.rand(1, 6, 7), torch.rand(1, 6, 7) + 5
    near_image, far_image = to_images(torch.stack([near, far]))
    assert far_image[..., 1].min() > near_image[..., 1].max()


def test_a_view_that_cannot_be_shown_is_refused_by_its_shape():
    with pytest.raises(ValueError, match=r"came: \[2, 3, 4, 5, 6\]"):
        to_image(torch.zeros(2, 3, 4, 5, 6))


@pytest.mark.parametrize("count", range(1, 7))
def test_a_sheet_has_a_cell_for_each_view_and_sample(count):
    names = ["L", "ab", "depth", "$normal_x$", "a view with a very long name", "<b>"][:count]
    shapes = [(1, 9, 7), (2, 5, 5), (1, 3, 8), (3, 6, 4), (11,), (8, 2, 2)]
    views = {name: torch.randn(3, *shape) for name, shape in zip(names, shapes, strict=False)}
    figure = contact_sheet(views, title="A title", labels=["one", "two", "a label longer than its column"])
    figure.canvas.draw()
    assert len(figure.axes) == 3 * count
    assert hatched(figure) == 0


def test_missing_cells_are_hatched_and_do_not_set_the_scale():
    view = torch.rand(4, 1, 6, 5)
    wild = view.clone()
    wild[2] = 1e9
    present = {"depth": torch.tensor([True, True, False, True])}
    figure = contact_sheet({"depth": wild, "L": view}, present=present)
    figure.canvas.draw()
    assert hatched(figure) == 1
    shown = figure.axes[0].images[0].get_array()
    assert (shown == to_images(view[[0, 1, 3]])[0]).all()


def test_a_view_missing_everywhere_is_a_row_of_hatched_cells():
    figure = contact_sheet(
        {"depth": torch.full((3, 1, 4, 4), torch.nan)}, present={"depth": torch.zeros(3).bool()}
    )
    assert hatched(figure) == 3


def test_the_true_neighbour_is_framed_and_its_rank_is_written():
    image = np.zeros((5, 8, 3), dtype=np.uint8)
    found = [[(image, False), (image, True), (image, False)], [(image, False)] * 3]
    figure = neighbour_grid([("L", image), ("ab", image)], found, title="Nearest")
    figure.canvas.draw()
    frames = [patch for axes in figure.axes for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(frames) == 1
    assert frames[0].get_edgecolor()[:3] == pytest.approx(
        [int(GREEN[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    )
    assert frames[0].axes is figure.axes[2]  # the query, then the second neighbour
    texts = {text.get_text() for text in figure.texts}
    assert {"match at 2", "not in first 3"} <= texts


def test_queries_without_neighbours_are_refused():
    with pytest.raises(ValueError, match="1 queries, 0 lists"):
        neighbour_grid([("L", np.zeros((2, 2, 3), dtype=np.uint8))], [])
