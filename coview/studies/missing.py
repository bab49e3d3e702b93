"""`missing`: what frames that lack depth or normals are worth, against leaving them out; beyond the paper."""

from collections.abc import Sequence
from functools import partial

from coview.recipes.frames import complete, sizes_of
from coview.studies.claims import Claim, beats, every, within
from coview.studies.frames import ON_FRAMES, segmentation
from coview.studies.study import Row, Study

SHARES = (0.25, 0.5, 0.75)
BATCH = 128
SEGMENTS = {"L": segmentation, "depth": partial(segmentation, view="depth", prefix="depth, ")}


def rows(data: str) -> Sequence[Row]:
    """For each share that is missing, frames with gaps kept and left out; both take as many steps."""
    return [
        Row(name="nothing missing", recipe="nyu", measures=SEGMENTS),
        *(row for share in SHARES for row in (kept(share), dropped(share, sizes_of(data).samples))),
    ]


def kept(share: float) -> Row:
    """Every pair learns from the frames that have both of its views."""
    return Row(
        name=f"{share:.0%} missing, kept",
        recipe="nyu_gaps",
        settings=(f"data.share={share}",),
        measures=SEGMENTS,
    )


def dropped(share: float, samples: int) -> Row:
    """Only the frames that have everything, for more epochs."""
    left = complete(samples, share)
    more = max(samples // BATCH, 1) / max(left // BATCH, 1)
    return Row(
        name=f"{share:.0%} missing, left out",
        recipe="nyu_gaps",
        settings=(f"data.share={share}", "data.drop=True"),
        longer=more,
        measures={
            "L": partial(segmentation, share=1 / 15 / more),
            "depth": partial(segmentation, view="depth", prefix="depth, ", share=1 / 15 / more),
        },
        samples=left,
    )


def missing() -> Study:
    """The table."""
    names = {share: f"{share:.0%} missing" for share in SHARES}
    columns = ("mIoU", "accuracy", "depth, mIoU")
    return Study(
        name="missing",
        claim="Frames that lack views are worth having: each pair learns from what is there",
        paper="beyond the paper, which says that missing views cost nothing but their pairs (section 3.3)",
        data="nyu",
        rows=rows,
        claims=(
            *(
                Claim(
                    f"with {names[share]}, keeping incomplete frames beats leaving them out",
                    every(
                        *(beats(f"{names[share]}, kept", f"{names[share]}, left out", one) for one in columns)
                    ),
                )
                for share in SHARES
            ),
            Claim(
                "a quarter missing costs less than a point of mIoU",
                within(f"{names[0.25]}, kept", "nothing missing", "mIoU", points=1.0),
            ),
        ),
        **ON_FRAMES,
    )
