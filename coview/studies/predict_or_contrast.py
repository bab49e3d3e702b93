"""`predict-or-contrast`: L's encoder, taught by prediction or by contrast, moved to other pictures (section 4.3)."""

from collections.abc import Callable, Sequence
from functools import partial

from coview.recipes.frames import sizes_of
from coview.studies.claims import Claim, Lines, Missing, Verdict, beats, every
from coview.studies.frames import MOVED, ON_FRAMES, PICTURES, moved
from coview.studies.study import Measure, Row, Study
from coview.studies.ways import RANDOM

PAIRS = {
    "depth": ("nyu_predict_depth", "nyu_depth", 55.5, 58.3),
    "normal": ("nyu_predict_normal", "nyu_normal", 58.4, 60.1),
    "segments": ("nyu_predict_segment", "nyu_segment", 57.7, 59.2),
}
"""By what L is paired with: the recipes of prediction and of contrast, and the paper's numbers on STL-10."""

PAPER = f"{MOVED} stl10"
SUPERVISED = 100  # epochs on the pictures' labels


def rows(data: str) -> Sequence[Row]:
    """Each pair in both ways, and bounds."""
    found = []
    for name, (predict, contrast, predicted, contrasted) in PAIRS.items():
        found.append(row(f"L, {name}, predicted", predict, data, predicted))
        found.append(row(f"L, {name}, contrasted", contrast, data, contrasted))
    epochs = sizes_of(data).schedule(SUPERVISED)["epochs"]
    bounds = {"random": (None, 25.2), "supervised": (epochs, 65.1)}
    return [
        *found,
        *(
            Row(name=name, recipe="nyu_one", way=RANDOM, measures=on(data, epochs), paper={PAPER: paper})
            for name, (epochs, paper) in bounds.items()
        ),
    ]


def row(name: str, recipe: str, data: str, paper: float) -> Row:
    """A way to learn from a pair."""
    return Row(name=name, recipe=recipe, measures=on(data), paper={PAPER: paper})


def on(data: str, epochs: int | None = None) -> dict[str, Measure]:
    """What the encoder is moved to: pictures on disk, or for rendered rooms their kinds."""
    onto = ("scenes",) if data == "scenes" else PICTURES
    return {"moved": partial(moved, onto=onto, epochs=epochs)}


def beats_on_pictures(name: str, other: str) -> Callable[[Lines], Verdict]:
    """One row is above another on whichever pictures both were moved to."""

    def check(lines: Lines) -> Verdict:
        ours = lines[name].numbers if name in lines else {}
        column = next((column for column in ours if column.startswith(MOVED)), None)
        if column is None:
            raise Missing(f"row '{name}' has not been moved yet")
        return beats(name, other, column)(lines)

    return check


def predict_or_contrast() -> Study:
    """The table."""
    return Study(
        name="predict-or-contrast",
        claim="Contrast teaches what is worth more elsewhere than prediction does, from the same pair of views",
        paper="section 4.3, table 5",
        data="nyu",
        rows=rows,
        claims=(
            *(
                Claim(
                    f"contrast beats prediction with {name}",
                    beats_on_pictures(f"L, {name}, contrasted", f"L, {name}, predicted"),
                )
                for name in PAIRS
            ),
            Claim(
                "both are above random encoders",
                every(
                    *(
                        beats_on_pictures(f"L, {name}, {way}", "random")
                        for name in PAIRS
                        for way in ("predicted", "contrasted")
                    )
                ),
            ),
        ),
        **ON_FRAMES,
    )
