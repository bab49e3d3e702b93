"""`colour-information`: what parts of a colour space share, against what encoders of them learn (figure 5, left)."""

from collections.abc import Callable, Sequence
from functools import partial

from coview.reports.comparison import scatter
from coview.studies.claims import Claim, Lines, Verdict
from coview.studies.information import NATS, SAFE, information
from coview.studies.measures import accuracy
from coview.studies.pictures import ON_PICTURES
from coview.studies.ranks import correlated
from coview.studies.study import Row, Study
from coview.views.colour import SPACES

SPACES_TOLD = ("Lab", "YDbDr", "YUV", "YIQ", "YPbPr", "YCbCr", "RGB", "HSV", "HED", "XYZ", "Luv")
MEASURE = partial(information, first="first", second="rest", steps=4000, batch=512, learning_rate=1e-3)
PERIODIC = "HSV"  # its hue is an angle, to which the paper puts down that it is an outlier
LINEAR = "linear, conv5"


def rows(data: str) -> Sequence[Row]:
    """A row a colour space."""
    return [
        Row(
            name=row_name(space),
            recipe="colour_parts",
            settings=tuple(f"views.{view}.space={space}" for view in ("first", "rest")),
            measures={"information": MEASURE, LINEAR: partial(accuracy, layer="conv5")},
        )
        for space in SPACES_TOLD
    ]


def row_name(space: str) -> str:
    """The two parts, and the space where they do not say it."""
    first, *rest = SPACES[space].names
    return f"{first} | {''.join(rest)} ({space})"


def without(name: str, check: Callable[[Lines], Verdict]) -> Callable[[Lines], Verdict]:
    """A check of all rows but one."""

    def rest(lines: Lines) -> Verdict:
        return check({key: line for key, line in lines.items() if key != name})

    return rest


def colour_information() -> Study:
    """The scatter plot and its rank correlation."""
    falls = {column: correlated(column, LINEAR, falling=True) for column in (NATS, SAFE)}
    return Study(
        name="colour-information",
        claim="Colour spaces whose parts share less give better encoders",
        paper="section 4.4, figure 5, left (a plot without numbers)",
        data="stl10",
        rows=rows,
        claims=(
            Claim("low information goes with high accuracy", falls[NATS]),
            Claim("so it does without HSV, whose hue is an angle", without(row_name(PERIODIC), falls[NATS])),
            Claim("so it does by InfoNCE, which is never too high", falls[SAFE]),
        ),
        figure=partial(scatter, across=NATS, up=LINEAR),
        seeds=(0, 1),
        **ON_PICTURES,
    )
