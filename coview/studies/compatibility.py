"""`compatibility`: CMC together with slow encoders, jigsaws and RandAugment, and these on one view (table 9)."""

from collections.abc import Sequence
from functools import partial

from coview.studies.claims import Claim, beats, best, every
from coview.studies.measures import accuracy
from coview.studies.pictures import ON_PICTURES
from coview.studies.study import Row, Study
from coview.studies.ways import RANDOM

MEASURES = {
    "top-1": partial(accuracy, kind="linear", layer="pooled"),
    "kNN": partial(accuracy, kind="knn", layer="pooled"),
}
ONE_VIEW = ("instance discrimination", "MoCo", "PIRL")
FULL = "CMC + MoCo + PIRL + RandAugment"


def row(name: str, recipe: str, top1: float | None = None, **more) -> Row:
    """A recipe of the table, beside the paper's accuracy."""
    paper = {} if top1 is None else {"top-1": top1}
    return Row(name=name, recipe=f"compatibility_{recipe}", measures=MEASURES, paper=paper, **more)


def rows(data: str) -> Sequence[Row]:
    """One view, two views, and what is added to two."""
    return [
        row("instance discrimination", "instance"),
        row("MoCo", "moco", 73.5),
        row("PIRL", "pirl", 75.1),
        row("CMC", "cmc", 75.6),
        row("CMC + MoCo", "cmc_moco", 77.2),
        row("CMC + PIRL", "cmc_pirl", 78.0),
        row("CMC + MoCo + PIRL", "cmc_moco_pirl", 79.3),
        row(FULL, "cmc_moco_pirl_rand", 81.5),
        row("random", "cmc", way=RANDOM),
    ]


def compatibility() -> Study:
    """The table."""
    return Study(
        name="compatibility",
        claim="What others brought to contrast adds to contrast of views",
        paper="appendix D.4, table 9",
        data="imagenet100",
        rows=rows,
        claims=(
            Claim("slow encoders add to CMC", beats("CMC + MoCo", "CMC", "top-1")),
            Claim("jigsaws add to CMC", beats("CMC + PIRL", "CMC", "top-1")),
            Claim(
                "both add more than each",
                every(*(beats("CMC + MoCo + PIRL", one, "top-1") for one in ("CMC + MoCo", "CMC + PIRL"))),
            ),
            Claim("RandAugment adds to both", beats(FULL, "CMC + MoCo + PIRL", "top-1")),
            Claim("all together are best", best(FULL, "top-1")),
            Claim(
                "two views beat each method on one", every(*(beats("CMC", one, "top-1") for one in ONE_VIEW))
            ),
            Claim("contrast is above random encoders", beats("CMC", "random", "top-1")),
        ),
        seeds=(0, 1),
        **ON_PICTURES,
    )
