"""A map of embeddings as a table that embedding-atlas opens: a row for each sample in each view."""

from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from coview.files import write_whole
from coview.reports.widgets import Samples
from coview.reports.widgets.samples import TILE


def write_atlas(found: Samples, file: Path) -> int:
    """Write id, sample, view, label, x, y, neighbors in the other views and a picture; gives the number of rows."""
    if file.suffix != ".parquet":
        raise ValueError(f"embedding-atlas opens .parquet, got {file.name}")
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ModuleNotFoundError("Parquet needs pyarrow: pip install 'coview[own]'") from error
    rows = _rows(found)
    table = pyarrow.Table.from_pylist(rows)
    write_whole(file, lambda opened: parquet.write_table(table, opened))
    return len(rows)


def _rows(found: Samples) -> list[dict[str, Any]]:
    places = next(iter(found.maps.values()))
    there = [(view, n) for view, have in found.present.items() for n in np.flatnonzero(have).tolist()]
    number = {one: index for index, one in enumerate(there)}
    sheets = {view: _sheet(one.source) for view, one in found.thumbnails.items()}
    return [
        {
            "id": index,
            "sample": found.names[n],
            "view": view,
            "label": None if found.label is None else found.label[n],
            "x": float(places[view][n, 0]),
            "y": float(places[view][n, 1]),
            "neighbors": _neighbours(found, view, n, number),
            "picture": {"bytes": _tile(sheets[view], n, found.thumbnails[view].across)},
        }
        for index, (view, n) in enumerate(there)
    ]


def _neighbours(found: Samples, view: str, n: int, number: dict[tuple[str, int], int]) -> dict[str, list]:
    """The nearest of all other views, nearest first."""
    near = [
        (1 - float(cosine), number[target, int(one)])
        for target, rows in found.near.get(view, {}).items()
        for one, cosine in zip(rows[n], found.cosine[view][target][n], strict=True)
        if (target, int(one)) in number
    ]
    near.sort()
    return {"ids": [one for _, one in near], "distances": [distance for distance, _ in near]}


def _sheet(source: str) -> Image.Image:
    return Image.open(BytesIO(b64decode(source.partition(",")[2]))).convert("RGB")


def _tile(sheet: Image.Image, n: int, across: int) -> bytes:
    left, top = n % across * TILE, n // across * TILE
    file = BytesIO()
    sheet.crop((left, top, left + TILE, top + TILE)).save(file, "PNG")
    return file.getvalue()
