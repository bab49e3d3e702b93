"""`imagenet-resnet` (table 1) and `imagenet-alexnet` (table 8): what a linear classifier reads, by width, by layer."""

from collections.abc import Sequence
from functools import partial

from coview.recipes.pictures import pictures
from coview.studies.claims import Claim, beats, every, rises
from coview.studies.measures import top_1_and_5
from coview.studies.pictures import ON_PICTURES, by_layer
from coview.studies.study import Row, Study
from coview.studies.ways import RANDOM, SUPERVISED

WIDTHS = (0.5, 1.0, 2.0)
TOP = {"top": top_1_and_5}  # columns top-1 and top-5
TOP_OF_WIDE = {"top": partial(top_1_and_5, instead={"paper-resnet": "paper-resnet-x2"})}
CONVOLUTIONS = ("conv1", "conv2", "conv3", "conv4", "conv5")
OTHERS = {  # of table 8, whose networks have twice as many parameters
    "one view (Inst-Dis)": (16.8, 26.5, 31.8, 34.1, 35.6),
    "AET": (19.3, 32.8, 40.6, 39.7, 37.7),
    "DeepCluster": (12.9, 29.2, 38.2, 39.8, 36.1),
    "RotNet": (18.8, 31.7, 38.7, 38.2, 36.5),
    "Counting": (18.0, 30.6, 34.3, 32.5, 25.7),
    "BiGAN": (17.7, 24.5, 31.0, 29.9, 28.0),
    "Jigsaw": (19.2, 30.1, 34.7, 33.9, 28.3),
    "Colorization": (13.1, 24.8, 31.0, 32.6, 31.8),
    "Context": (16.2, 23.3, 30.2, 31.7, 29.6),
    "Data-Init": (17.5, 23.0, 24.5, 23.2, 20.6),
}


def resnet_rows(data: str) -> Sequence[Row]:
    """Two pairs of views at three widths, and RandAugment."""
    lab = {0.5: (57.5, 80.3), 1.0: (64.0, 85.5), 2.0: (68.3, 88.2)}
    ydbdr = {0.5: (58.4, 81.2), 1.0: (64.8, 86.1), 2.0: (69.0, 88.9)}
    more = {0.5: (60.0, 82.3), 1.0: (66.2, 87.0), 2.0: (70.6, 89.7)}
    return [
        *(widened("{L, ab}", "imagenet_resnet_lab", ("L", "ab"), *pair) for pair in lab.items()),
        *(widened("{Y, DbDr}", "imagenet_resnet", ("Y", "DbDr"), *pair) for pair in ydbdr.items()),
        *(
            widened("{Y, DbDr} + RA", "imagenet_resnet_randaugment", ("Y", "DbDr"), *pair)
            for pair in more.items()
        ),
        Row(name="{Y, DbDr}, exact softmax, x1", recipe="imagenet_resnet_exact", measures=TOP),
        Row(name="random, x1", recipe="imagenet_resnet", way=RANDOM, measures=TOP),
    ]


def widened(name: str, recipe: str, views: Sequence[str], width: float, paper: tuple[float, float]) -> Row:
    """A recipe with the ResNets of all views at one width, beside the paper's top-1 and top-5."""
    settings = tuple(f"encoders.{view}.width={width}" for view in views)
    numbers = {"top-1": paper[0], "top-5": paper[1]}
    measures = TOP_OF_WIDE if width == 2 else TOP
    return Row(name=f"{name}, x{width:g}", recipe=recipe, settings=settings, measures=measures, paper=numbers)


def imagenet_resnet() -> Study:
    """ResNets of three widths, contrasted in two colour spaces."""
    return Study(
        name="imagenet-resnet",
        claim="Wider encoders learn more, and {Y, DbDr} more than {L, ab}",
        paper="table 1, section 4.1",
        data="imagenet",
        rows=resnet_rows,
        claims=(
            *(
                Claim(
                    f"accuracy rises with the width from {name}",
                    rises([f"{name}, x{w:g}" for w in WIDTHS], "top-1"),
                )
                for name in ("{L, ab}", "{Y, DbDr}")
            ),
            Claim(
                "{Y, DbDr} beats {L, ab} at every width",
                every(*(beats(f"{{Y, DbDr}}, x{w:g}", f"{{L, ab}}, x{w:g}", "top-1") for w in WIDTHS)),
            ),
            Claim(
                "RandAugment improves every width",
                every(*(beats(f"{{Y, DbDr}} + RA, x{w:g}", f"{{Y, DbDr}}, x{w:g}", "top-1") for w in WIDTHS)),
            ),
            Claim("contrast is above random encoders", beats("{Y, DbDr}, x1", "random, x1", "top-1")),
        ),
        seeds=(0,),
        **ON_PICTURES,
    )


def alexnet_rows(data: str) -> Sequence[Row]:
    """Contrast, prediction and bounds, with the same halves."""
    layers = by_layer(*CONVOLUTIONS)

    def row(name: str, recipe: str, *numbers: float, **more) -> Row:
        return Row(name=name, recipe=recipe, measures=layers, paper=told(*numbers), **more)

    return [
        row("CMC {Y, DbDr}", "imagenet_alexnet", 18.3, 33.7, 38.3, 40.5, 42.8),
        row("CMC {L, ab}", "imagenet_alexnet_lab"),
        row("CMC {L, ab}, patch", "imagenet_alexnet_patch"),
        row("CMC {Y, DbDr}, exact softmax", "imagenet_alexnet_exact"),
        row("Split-Brain", "imagenet_split_brain", 17.7, 29.3, 35.4, 35.2, 32.8),
        row("random", "imagenet_alexnet", 11.6, 17.1, 16.9, 16.3, 14.1, way=RANDOM),
        row(
            "supervised",
            "imagenet_alexnet",
            *(19.3, 36.3, 44.2, 48.3, 50.5),
            settings=(f"epochs={pictures(data).schedule(90)['epochs']}", "probe_layer=fc7"),
            way=SUPERVISED,
        ),
        *(Row(name=name, paper=told(*numbers)) for name, numbers in OTHERS.items()),
    ]


def told(*numbers: float) -> dict[str, float]:
    """The paper's numbers by layer, where there are some."""
    return dict(zip(CONVOLUTIONS, numbers, strict=True)) if numbers else {}


def imagenet_alexnet() -> Study:
    """Half-AlexNets, layer by layer."""
    cmc = "CMC {Y, DbDr}"
    return Study(
        name="imagenet-alexnet",
        claim="Contrast beats prediction, the more the deeper the layer",
        paper="appendix D.2, table 8",
        data="imagenet",
        rows=alexnet_rows,
        claims=(
            Claim(
                "contrast beats Split-Brain from conv3 on",
                every(*(beats(cmc, "Split-Brain", layer) for layer in CONVOLUTIONS[2:])),
            ),
            Claim("what contrast learns rises to the last layer", beats(cmc, cmc, "conv5", there="conv3")),
            Claim(
                "what prediction learns falls towards it",
                beats("Split-Brain", "Split-Brain", "conv3", there="conv5"),
            ),
            Claim("{Y, DbDr} beats {L, ab} at conv5", beats(cmc, "CMC {L, ab}", "conv5")),
            Claim("NCE beats patches at conv5", beats("CMC {L, ab}", "CMC {L, ab}, patch", "conv5")),
            Claim(
                "contrast is above random encoders at every layer",
                every(*(beats(cmc, "random", layer) for layer in CONVOLUTIONS)),
            ),
            Claim("supervision stays ahead at conv5", beats("supervised", cmc, "conv5")),
        ),
        seeds=(0,),
        **ON_PICTURES,
    )
