"""`core-or-full` and `all-views`: both graphs from L, the full one from every view (section 4.3)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from coview.studies.claims import Claim, beats, every, within
from coview.studies.frames import BOUND, ON_FRAMES, segmentation
from coview.studies.study import Measure, Row, Study
from coview.studies.ways import CONTRAST, RANDOM, Way

VIEWS = ("L", "ab", "depth", "normal")
FINE = 40  # classes of NYU, beside its 13


def from_l(data: str, **how: Any) -> dict[str, Measure]:
    """What is read from L: of NYU with 13 classes and with 40, since the paper does not say which it has."""
    found: dict[str, Measure] = {"segments": partial(segmentation, **how)}
    if data == "nyu":
        found[f"segments, {FINE}"] = partial(segmentation, classes=FINE, prefix=f"{FINE} classes, ", **how)
    return found


def from_l_rows(data: str) -> Sequence[Row]:
    """The table of L."""

    def row(name: str, recipe: str, iou: float, accuracy: float, way: Way = CONTRAST, **how: Any) -> Row:
        paper = {"mIoU": iou, "accuracy": accuracy}
        return Row(name=name, recipe=recipe, way=way, measures=from_l(data, **how), paper=paper)

    return [
        row("random", "nyu", 21.4, 45.5, RANDOM, share=BOUND),
        row("core view", "nyu_core", 34.1, 57.1),
        row("full graph", "nyu", 34.4, 57.0),
        row("supervised", "nyu", 35.9, 57.8, RANDOM, share=BOUND, frozen=False),
    ]


def core_or_full() -> Study:
    """The table of L."""
    columns = ("mIoU", "accuracy")
    return Study(
        name="core-or-full",
        claim="Core view and full graph do alike, far above random encoders and near to supervision",
        paper="section 4.3, table 3",
        data="nyu",
        rows=from_l_rows,
        claims=(
            *(
                Claim(
                    f"{name} is above random encoders",
                    every(*(beats(name, "random", one) for one in columns)),
                )
                for name in ("core view", "full graph")
            ),
            Claim(
                "core view and full graph are within a point of each other",
                every(*(within("core view", "full graph", one, points=1.0) for one in columns)),
            ),
            Claim(
                "the full graph is less than two points of mIoU below supervision",
                beats("full graph", "supervised", "mIoU", by=-2.0),
            ),
        ),
        **ON_FRAMES,
    )


def by_view(**how: Any) -> dict[str, Measure]:
    """A decoder on each view's encoder."""
    return {view: partial(segmentation, view=view, prefix=f"{view}, ", **how) for view in VIEWS}


def by_view_rows(data: str) -> Sequence[Row]:
    """The table of all views."""
    bound: dict[str, Any] = {"recipe": "nyu", "way": RANDOM}
    return [
        Row(
            name="random",
            measures=by_view(share=BOUND),
            paper=told((21.4, 15.6, 30.1, 29.5), (45.5, 37.7, 51.1, 50.5)),
            **bound,
        ),
        Row(
            name="contrast",
            recipe="nyu",
            measures=by_view(),
            paper=told((34.4, 26.1, 39.2, 37.8), (57.0, 49.6, 59.4, 57.8)),
        ),
        Row(
            name="supervised",
            measures=by_view(share=BOUND, frozen=False),
            paper=told((35.9, 29.6, 41.0, 41.5), (57.8, 52.6, 59.1, 59.6)),
            **bound,
        ),
    ]


def told(iou: Sequence[float], accuracy: Sequence[float]) -> dict[str, float]:
    """The paper's numbers by column, in the order of the views."""
    found = {"mIoU": iou, "accuracy": accuracy}
    return {
        f"{view}, {column}": number
        for column, numbers in found.items()
        for view, number in zip(VIEWS, numbers, strict=True)
    }


def all_views() -> Study:
    """The table of all views."""
    columns = [f"{view}, {one}" for view in VIEWS for one in ("mIoU", "accuracy")]
    return Study(
        name="all-views",
        claim="The full graph teaches every view's encoder, far above random ones",
        paper="section 4.3, table 4",
        data="nyu",
        rows=by_view_rows,
        claims=(
            Claim(
                "contrast is above random encoders from every view",
                every(*(beats("contrast", "random", one) for one in columns)),
            ),
            Claim(
                "supervision stays ahead from every view",
                every(*(beats("supervised", "contrast", f"{view}, mIoU") for view in VIEWS)),
            ),
            Claim(
                "depth and normals tell more than L, and L more than ab",
                every(
                    beats("contrast", "contrast", "depth, mIoU", there="L, mIoU"),
                    beats("contrast", "contrast", "normal, mIoU", there="L, mIoU"),
                    beats("contrast", "contrast", "L, mIoU", there="ab, mIoU"),
                ),
            ),
        ),
        **ON_FRAMES,
    )
