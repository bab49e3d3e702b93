"""`stl10-table`: ways to learn without labels on STL-10, by layer and classifier (appendix D.1, table 7)."""

from collections.abc import Sequence
from functools import partial

from coview.recipes.pictures import pictures
from coview.studies.claims import Claim, beats, best, every
from coview.studies.measures import accuracy
from coview.studies.pictures import ON_PICTURES
from coview.studies.study import Measure, Row, Study
from coview.studies.ways import RANDOM, SUPERVISED

CLASSIFIERS = {"linear": "linear", "MLP": "mlp"}


def columns(**layers: str) -> dict[str, Measure]:
    """A column for each layer and classifier, by the name that the paper gives the layer."""
    return {
        f"{name}, {title}": partial(accuracy, kind=kind, layer=layer)
        for name, layer in layers.items()
        for title, kind in CLASSIFIERS.items()
    }


LAYERS = columns(conv5="conv5", fc7="fc7")
PATCHES = columns(strided="patches")


def rows(data: str) -> Sequence[Row]:
    """The methods of the table, and bounds."""
    epochs = pictures(data).schedule(100)["epochs"]
    return [
        row("CMC, patch", "stl10_patch", conv5=(76.65, 80.14), fc7=(79.25, 80.11)),
        Row(
            name="CMC, strided crop",
            recipe="stl10_strided",
            measures=PATCHES,
            paper=numbers(strided=(82.58, 83.43)),
        ),
        row("CMC, NCE", "stl10_nce", conv5=(83.28, 84.64), fc7=(86.66, 86.88)),
        row("CMC, softmax", "stl10_softmax"),
        row("CMC, exact softmax", "stl10_exact"),
        row("Split-Brain", "stl10_split_brain", conv5=(None, 72.35), fc7=(None, 63.15)),
        row("one view (DIM)", "stl10_one_view", conv5=(None, 72.57), fc7=(None, 70.00)),
        Row(
            name="one view (DIM), strided crop",
            recipe="stl10_one_view_strided",
            measures=PATCHES,
            paper=numbers(strided=(None, 78.21)),
        ),
        Row(name="random", recipe="stl10_softmax", way=RANDOM, measures=LAYERS),
        Row(
            name="supervised",
            recipe="stl10_softmax",
            settings=(f"epochs={epochs}", "probe_layer=fc7"),
            way=SUPERVISED,
            measures=LAYERS,
            paper={"fc7, linear": 68.70},
        ),
        Row(name="CPC", paper=numbers(strided=(None, 77.81))),
        Row(name="BiGAN", paper=numbers(conv5=(None, 71.53), fc7=(None, 67.18))),
        Row(name="NAT", paper=numbers(conv5=(None, 64.32), fc7=(None, 61.43))),
        Row(name="autoencoder", paper=numbers(conv5=(None, 62.19), fc7=(None, 55.78))),
    ]


def row(name: str, recipe: str, **paper: tuple[float | None, float | None]) -> Row:
    """A method that is measured at conv5 and fc7."""
    return Row(name=name, recipe=recipe, measures=LAYERS, paper=numbers(**paper))


def numbers(**layers: tuple[float | None, float | None]) -> dict[str, float]:
    """The paper's numbers, linear and MLP, by column."""
    return {
        f"{layer}, {title}": number
        for layer, pair in layers.items()
        for title, number in zip(CLASSIFIERS, pair, strict=True)
        if number is not None
    }


def stl10_table() -> Study:
    """The table."""
    mlp = ("conv5, MLP", "fc7, MLP")
    return Study(
        name="stl10-table",
        claim="Contrast of two views beats prediction and one view on STL-10, on every layer",
        paper="appendix D.1, table 7",
        data="stl10",
        rows=rows,
        claims=(
            Claim(
                "contrast (NCE) beats Split-Brain at conv5 and fc7",
                every(*(beats("CMC, NCE", "Split-Brain", one) for one in mlp)),
            ),
            Claim(
                "contrast of patches beats one view (DIM) at conv5 and fc7",
                every(*(beats("CMC, patch", "one view (DIM)", one) for one in mlp)),
            ),
            Claim(
                "so it does by strided crops",
                beats("CMC, strided crop", "one view (DIM), strided crop", "strided, MLP"),
            ),
            Claim(
                "NCE beats patches at conv5 and fc7",
                every(*(beats("CMC, NCE", "CMC, patch", one) for one in mlp)),
            ),
            Claim(
                "what prediction learns is lost from conv5 to fc7",
                beats("Split-Brain", "Split-Brain", mlp[0], there=mlp[1]),
            ),
            Claim(
                "what contrast learns is not",
                beats("CMC, NCE", "CMC, NCE", "fc7, linear", there="conv5, linear"),
            ),
            Claim(
                "contrast without labels beats supervision by the few there are",
                beats("CMC, NCE", "supervised", "fc7, linear"),
            ),
            Claim(
                "all negatives are no worse than 4,096",
                best("CMC, exact softmax", "fc7, linear", of=("CMC, softmax",)),
            ),
            Claim(
                "every way to contrast is above random encoders",
                every(
                    *(beats(f"CMC, {one}", "random", "conv5, linear") for one in ("patch", "NCE", "softmax"))
                ),
            ),
        ),
        **ON_PICTURES,
    )
