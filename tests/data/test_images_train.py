"""Image sets in their official layouts, from the disk through colour views to a step of training."""

from functools import partial

import layouts
import pytest

from coview.contrast import full_graph
from coview.data.images import image_data
from coview.encoders import SmallConv
from coview.training import Recipe, fit
from coview.views import chroma, crop_and_flip, lightness, random_resized_crop

CROPS = {
    "cifar10": partial(crop_and_flip, size=28),
    "stl10": partial(crop_and_flip, size=64),
    "tiny": partial(crop_and_flip, size=56),
    "imagenet": partial(random_resized_crop, size=40),
}


@pytest.mark.parametrize("name", CROPS)
def test_two_steps(tmp_path, name):
    getattr(layouts, name)(tmp_path)
    data = image_data(name, "train", root=tmp_path)
    training = fit(
        Recipe(
            data=partial(image_data, name, root=str(tmp_path)),
            views={"L": lightness, "ab": chroma},
            augment=CROPS[name],
            encoders={
                view: partial(SmallConv, channels=channels, width=4, dim=6)
                for view, channels in {"L": 1, "ab": 2}.items()
            },
            graph=full_graph(["L", "ab"]),
            epochs=9,
            steps=2,
            batch_size=5,
            log_every=1,
        ),
        tmp_path / "run",
    )
    assert training.step == 2
    assert len(data) >= 12
