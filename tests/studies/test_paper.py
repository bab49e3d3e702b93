"""The paper's numbers that studies print, against its tables copied here line by line, and no other ones."""

import pytest

from coview.recipes.find import find_recipe
from coview.studies.find import find_study, shipped_studies

MLP, LINEAR = ("conv5, MLP", "fc7, MLP"), ("conv5, linear", "fc7, linear")
STRIDED = ("strided, linear", "strided, MLP")
TOP, LAYERS = ("top-1", "top-5"), ("conv1", "conv2", "conv3", "conv4", "conv5")
CLIPS, SEGMENTS = ("UCF-101", "HMDB-51"), ("accuracy", "mIoU")
BY_VIEW = {one: tuple(f"{view}, {one}" for view in ("L", "ab", "depth", "normal")) for one in SEGMENTS}
STL10 = ("accuracy on stl10",)

# By study: each row of the paper's table, the columns of a line of it, and the line.
TABLES = {
    "imagenet-resnet": [  # table 1
        ("{L, ab}, x0.5", TOP, "57.5 / 80.3"),
        ("{L, ab}, x1", TOP, "64.0 / 85.5"),
        ("{L, ab}, x2", TOP, "68.3 / 88.2"),
        ("{Y, DbDr}, x0.5", TOP, "58.4 / 81.2"),
        ("{Y, DbDr}, x1", TOP, "64.8 / 86.1"),
        ("{Y, DbDr}, x2", TOP, "69.0 / 88.9"),
        ("{Y, DbDr} + RA, x0.5", TOP, "60.0 / 82.3"),
        ("{Y, DbDr} + RA, x1", TOP, "66.2 / 87.0"),
        ("{Y, DbDr} + RA, x2", TOP, "70.6 / 89.7"),
    ],
    "video-streams": [  # table 2
        ("random", CLIPS, "48.2 & 19.5"),
        ("ImageNet's labels", CLIPS, "67.7 & 28.0"),
        ("VGAN (another network)", CLIPS, "52.1 & -"),
        ("LT-Motion (another network)", CLIPS, "53.0 & -"),
        ("TempCoh", CLIPS, "45.4 & 15.9"),
        ("Shuffle and Learn", CLIPS, "50.2 & 18.1"),
        ("Geometry", CLIPS, "55.1 & 23.3"),
        ("OPN", CLIPS, "56.3 & 22.1"),
        ("ST Order", CLIPS, "58.6 & 25.0"),
        ("Cross and Learn", CLIPS, "58.7 & 27.2"),
        ("V", CLIPS, "55.3 & -"),
        ("D", CLIPS, "57.1 & -"),
        ("V+D", CLIPS, "59.1 & 26.7"),
    ],
    "more-views": [  # figure 4 has no numbers; these are of table 3
        ("random", SEGMENTS, "45.5 & 21.4"),
        ("L + ab + depth + normal", SEGMENTS, "57.1 & 34.1"),
    ],
    "core-or-full": [  # table 3
        ("random", SEGMENTS, "45.5 & 21.4"),
        ("core view", SEGMENTS, "57.1 & 34.1"),
        ("full graph", SEGMENTS, "57.0 & 34.4"),
        ("supervised", SEGMENTS, "57.8 & 35.9"),
    ],
    "all-views": [  # table 4
        ("random", BY_VIEW["mIoU"], "21.4 & 15.6 & 30.1 & 29.5"),
        ("random", BY_VIEW["accuracy"], "45.5 & 37.7 & 51.1 & 50.5"),
        ("contrast", BY_VIEW["mIoU"], "34.4 & 26.1 & 39.2 & 37.8"),
        ("contrast", BY_VIEW["accuracy"], "57.0 & 49.6 & 59.4 & 57.8"),
        ("supervised", BY_VIEW["mIoU"], "35.9 & 29.6 & 41.0 & 41.5"),
        ("supervised", BY_VIEW["accuracy"], "57.8 & 52.6 & 59.1 & 59.6"),
    ],
    "predict-or-contrast": [  # table 5
        ("L, depth, predicted", STL10, "55.5"),
        ("L, depth, contrasted", STL10, "58.3"),
        ("L, normal, predicted", STL10, "58.4"),
        ("L, normal, contrasted", STL10, "60.1"),
        ("L, segments, predicted", STL10, "57.7"),
        ("L, segments, contrasted", STL10, "59.2"),
        ("random", STL10, "25.2"),
        ("supervised", STL10, "65.1"),
    ],
    "stl10-table": [  # table 7
        ("autoencoder", MLP, "62.19 & 55.78"),
        ("NAT", MLP, "64.32 & 61.43"),
        ("BiGAN", MLP, "71.53 & 67.18"),
        ("Split-Brain", MLP, "72.35 & 63.15"),
        ("one view (DIM)", MLP, "72.57 & 70.00"),
        ("one view (DIM), strided crop", STRIDED, "- & 78.21"),
        ("CPC", STRIDED, "- & 77.81"),
        ("CMC, patch", LINEAR, "76.65 & 79.25"),
        ("CMC, patch", MLP, "80.14 & 80.11"),
        ("CMC, strided crop", STRIDED, "82.58 & 83.43"),
        ("CMC, NCE", LINEAR, "83.28 & 86.66"),
        ("CMC, NCE", MLP, "84.64 & 86.88"),
        ("supervised", ("fc7, linear",), "68.70"),
    ],
    "imagenet-alexnet": [  # table 8
        ("supervised", LAYERS, "19.3 & 36.3 & 44.2 & 48.3 & 50.5"),
        ("random", LAYERS, "11.6 & 17.1 & 16.9 & 16.3 & 14.1"),
        ("Data-Init", LAYERS, "17.5 & 23.0 & 24.5 & 23.2 & 20.6"),
        ("Context", LAYERS, "16.2 & 23.3 & 30.2 & 31.7 & 29.6"),
        ("Colorization", LAYERS, "13.1 & 24.8 & 31.0 & 32.6 & 31.8"),
        ("Jigsaw", LAYERS, "19.2 & 30.1 & 34.7 & 33.9 & 28.3"),
        ("BiGAN", LAYERS, "17.7 & 24.5 & 31.0 & 29.9 & 28.0"),
        ("Split-Brain", LAYERS, "17.7 & 29.3 & 35.4 & 35.2 & 32.8"),
        ("Counting", LAYERS, "18.0 & 30.6 & 34.3 & 32.5 & 25.7"),
        ("one view (Inst-Dis)", LAYERS, "16.8 & 26.5 & 31.8 & 34.1 & 35.6"),
        ("RotNet", LAYERS, "18.8 & 31.7 & 38.7 & 38.2 & 36.5"),
        ("DeepCluster", LAYERS, "12.9 & 29.2 & 38.2 & 39.8 & 36.1"),
        ("AET", LAYERS, "19.3 & 32.8 & 40.6 & 39.7 & 37.7"),
        ("CMC {Y, DbDr}", LAYERS, "18.3 & 33.7 & 38.3 & 40.5 & 42.8"),
    ],
    "negatives": [("4,096, NCE", ("NCE",), "60.3")],  # figure 6
    "compatibility": [  # table 9
        ("MoCo", TOP[:1], "73.5"),
        ("PIRL", TOP[:1], "75.1"),
        ("CMC", TOP[:1], "75.6"),
        ("CMC + MoCo", TOP[:1], "77.2"),
        ("CMC + PIRL", TOP[:1], "78.0"),
        ("CMC + MoCo + PIRL", TOP[:1], "79.3"),
        ("CMC + MoCo + PIRL + RandAugment", TOP[:1], "81.5"),
    ],
    "colour-information": [],  # figure 5 has no numbers
    "patch-information": [],
    "cifar10": [  # of others
        ("SimCLR, one full ResNet-18", ("kNN",), "84.7"),
        ("MoCo, one full ResNet-18", ("kNN",), "83.8"),
        ("BYOL, one full ResNet-18", ("kNN",), "86.9"),
    ],
    "missing": [],  # not in the paper
}


def test_every_study_is_looked_at():
    assert set(TABLES) == set(shipped_studies())


@pytest.mark.parametrize("name", list(TABLES))
def test_numbers_are_those_of_the_table(name):
    study, wanted = find_study(name), {}
    for row, columns, line in TABLES[name]:
        cells = line.replace("/", "&").split("&")
        numbers = {
            column: float(cell) for column, cell in zip(columns, cells, strict=True) if cell.strip() != "-"
        }
        wanted[row] = {**wanted.get(row, {}), **numbers}
    assert {row.name: dict(row.paper) for row in study.rows(study.data) if row.paper} == wanted


@pytest.mark.parametrize("name", ["stl10-table", "imagenet-alexnet"])
def test_a_supervised_alexnet_has_its_full_layers(name):
    study = find_study(name)
    (row,) = (row for row in study.rows(study.data) if row.name == "supervised")
    recipe, _ = find_recipe(row.recipe, row.settings)
    assert recipe.probe_layer == "fc7"  # labels are learned from there, whatever layer is looked at
