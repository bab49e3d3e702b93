"""Samples to look at: a map of their embeddings, and whom each finds in every other view."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from PIL import Image

from coview.reports.widgets.script import widget

TILE = 56  # pixels of a picture's side
ACROSS = 25  # pictures in a row of a sheet

Map = Float[np.ndarray, "N 2"]


@dataclass(frozen=True)
class Thumbnails:
    """The pictures of one view, as one sheet of tiles."""

    source: str  # a data address
    across: int = ACROSS

    @staticmethod
    def of(images: Sequence[UInt8[np.ndarray, "_ _ 3"] | None]) -> "Thumbnails":
        """The images in order, empty tiles where there is none."""
        down = -(-len(images) // ACROSS)
        sheet = Image.new("RGB", (ACROSS * TILE, max(down, 1) * TILE))
        for number, image in enumerate(images):
            if image is not None:
                place = (number % ACROSS * TILE, number // ACROSS * TILE)
                kind = Image.Resampling.BILINEAR if min(image.shape[:2]) > TILE else Image.Resampling.NEAREST
                sheet.paste(Image.fromarray(image).resize((TILE, TILE), kind), place)
        file = BytesIO()
        sheet.save(file, "JPEG", quality=82)
        return Thumbnails(f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode()}")


@dataclass(frozen=True)
class Samples:
    """N samples in V views.

    `near[anchor][target]` are, for each sample, the nearest K in the target view, nearest first; `cosine` how near;
    `rank` at which place the sample finds itself, from 1, and 0 where it lacks one of both views.
    """

    names: tuple[str, ...]
    present: Mapping[str, Bool[np.ndarray, "N"]]
    thumbnails: Mapping[str, Thumbnails]
    maps: Mapping[str, Mapping[str, Map]]  # kind of map -> view -> places
    near: Mapping[str, Mapping[str, Int[np.ndarray, "N K"]]]
    cosine: Mapping[str, Mapping[str, Float[np.ndarray, "N K"]]]
    rank: Mapping[str, Mapping[str, Int[np.ndarray, "N"]]]
    label: tuple[str | None, ...] | None = None

    def html(self) -> str:
        classes = sorted({word for word in self.label or () if word is not None})
        data = {
            "names": self.names,
            "classes": classes,
            "label": [classes.index(word) if word is not None else -1 for word in self.label or ()],
            "views": list(self.present),
            "present": {name: have.astype(int).tolist() for name, have in self.present.items()},
            "sheets": {
                name: {"source": one.source, "across": one.across} for name, one in self.thumbnails.items()
            },
            "maps": {
                kind: {name: _rounded(at) for name, at in views.items()} for kind, views in self.maps.items()
            },
            "near": _nested(self.near),
            "cosine": {
                a: {b: np.round(one, 3).tolist() for b, one in rows.items()}
                for a, rows in self.cosine.items()
            },
            "rank": _nested(self.rank),
        }
        return widget("samples", data, "The samples need scripts to be shown.")


def _nested(values: Mapping[str, Mapping[str, np.ndarray]]) -> dict[str, dict[str, list]]:
    return {anchor: {target: one.tolist() for target, one in rows.items()} for anchor, rows in values.items()}


def _rounded(places: Map) -> list[list[float]]:
    return np.round(places.astype(np.float64), 3).tolist()
