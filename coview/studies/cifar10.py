"""`cifar10`: the plain method and a combination with ResNet-18 halves, beside others' numbers of one full ResNet-18."""

from collections.abc import Sequence
from functools import partial

from coview.studies.claims import Claim, beats
from coview.studies.measures import accuracy
from coview.studies.pictures import ON_PICTURES
from coview.studies.study import Row, Study
from coview.studies.ways import RANDOM

NEIGHBOURS = {
    "kNN": partial(accuracy, kind="knn", layer="pooled"),
    "linear": partial(accuracy, kind="linear", layer="pooled"),
}


def rows(data: str) -> Sequence[Row]:
    """Ours, the start of it, and others' numbers after 200 epochs."""
    return [
        Row(name="plain", recipe="cifar10", measures=NEIGHBOURS),
        Row(name="combined", recipe="cifar10_combined", measures=NEIGHBOURS),
        Row(name="combined, each view against itself too", recipe="cifar10_best", measures=NEIGHBOURS),
        Row(name="random", recipe="cifar10", way=RANDOM, measures=NEIGHBOURS),
        *(
            Row(name=f"{name}, one full ResNet-18", paper={"kNN": percent})
            for name, percent in {"SimCLR": 84.7, "MoCo": 83.8, "BYOL": 86.9}.items()
        ),
    ]


def cifar10() -> Study:
    """The table."""
    return Study(
        name="cifar10",
        claim="200 epochs of the plain method take minutes, and give neighbours of 80 % and more",
        paper="not in the paper; others' numbers are those that the lightly benchmarks report",
        data="cifar10",
        rows=rows,
        claims=(
            Claim("contrast is above random encoders", beats("plain", "random", "kNN")),
            Claim("the combination beats the plain method", beats("combined", "plain", "kNN")),
        ),
        **ON_PICTURES,
    )
