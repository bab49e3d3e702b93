"""What the studies of pictures have in common: how data are counted, and how sizes follow from them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from coview.recipes.pictures import count_pictures
from coview.studies.measures import accuracy
from coview.studies.study import Measure

ON_PICTURES: Mapping[str, Any] = {
    "samples": count_pictures,
    "fitted": "Crops, encoders, drawn negatives and epochs are fitted by the rules of coview/recipes/pictures.py.",
}


def by_layer(*layers: str, kind: str = "linear") -> dict[str, Measure]:
    """A column a layer: how much a probe reads from both views there."""
    return {layer: partial(accuracy, kind=kind, layer=layer) for layer in layers}
