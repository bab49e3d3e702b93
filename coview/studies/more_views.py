"""`more-views`: what is where, read from L's encoder, as views are added in any order (section 4.3)."""

from collections.abc import Sequence
from functools import partial

from coview.reports.orders import orders
from coview.studies.claims import Claim, beats, every, rises
from coview.studies.frames import BOUND, ON_FRAMES, segmentation
from coview.studies.study import Row, Study
from coview.studies.ways import RANDOM

SEGMENTS = {"segments": segmentation}
RECIPES = {
    "L": "nyu_one",
    "L + ab": "nyu_ab",
    "L + depth": "nyu_depth",
    "L + normal": "nyu_normal",
    "L + ab + depth": "nyu_ab_depth",
    "L + ab + normal": "nyu_ab_normal",
    "L + depth + normal": "nyu_depth_normal",
    "L + ab + depth + normal": "nyu_core",
}
ALL = "L + ab + depth + normal"
ORDERS = {
    "ab, depth, normal": ("L", "L + ab", "L + ab + depth", ALL),
    "depth, normal, ab": ("L", "L + depth", "L + depth + normal", ALL),
    "normal, ab, depth": ("L", "L + normal", "L + ab + normal", ALL),
}
"""The paper's first; between them every set of views comes once."""


def rows(data: str) -> Sequence[Row]:
    """A row for each set of views that has L, and random encoders."""
    told = {ALL: {"mIoU": 34.1, "accuracy": 57.1}}
    return [
        *(
            Row(name=name, recipe=recipe, measures=SEGMENTS, paper=told.get(name, {}))
            for name, recipe in RECIPES.items()
        ),
        Row(
            name="random",
            recipe="nyu_one",
            way=RANDOM,
            measures={"segments": partial(segmentation, share=BOUND)},
            paper={"mIoU": 21.4, "accuracy": 45.5},
        ),
    ]


def more_views() -> Study:
    """The figure."""
    return Study(
        name="more-views",
        claim="The more views L is contrasted with, the better its encoder tells what is where",
        paper="section 4.3, figure 4; it gives no numbers between one view and four",
        data="nyu",
        rows=rows,
        claims=(
            *(
                Claim(f"{column} rises as {order} are added", rises(names, column))
                for order, names in ORDERS.items()
                for column in ("mIoU", "accuracy")
            ),
            Claim("four views beat one", every(*(beats(ALL, "L", one) for one in ("mIoU", "accuracy")))),
            Claim("one view is above random encoders", beats("L", "random", "mIoU")),
        ),
        figure=partial(orders, ways=ORDERS),
        **ON_FRAMES,
    )
