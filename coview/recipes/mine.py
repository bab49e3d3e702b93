"""Your own views: what was found in a folder, a table or arrays becomes a recipe, by rules (docs/your-data.md)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from pprint import pformat
from typing import Any

import numpy as np

from coview.data.own import Found, Summary, find, survey
from coview.training import Recipe

HELD_OUT = 0.2  # share of the samples to test on, where the data names no split
DIM = 64
SMALL, LARGE = 64, 128  # pixels of a side
MANY = 20_000  # samples from which on maps are larger, and encoders residual networks
WIDE = 64  # columns of a table that get a range each; a wider one has one range for all
STEPS = {"map": 1500, "table": 1500}
EPOCHS = (20, 200)  # the fewest and the most


@dataclass(frozen=True)
class Plan:
    """What was found, and what the rules make of it."""

    found: Found
    views: Mapping[str, Summary]
    train: int
    test: int
    side: int | None
    pairs: tuple[tuple[str, str], ...]
    batch_size: int
    epochs: int

    @property
    def maps(self) -> list[str]:
        return [name for name, view in self.views.items() if view.kind == "map"]


def mine(path: str | PathLike[str]) -> Recipe:
    """The recipe for the views at a place."""
    return recipe_of(plan(path))


def recipe_of(plan: Plan) -> Recipe:
    """The recipe that the file would make."""
    namespace: dict[str, Any] = {}
    exec(compile(recipe_text(plan), "<recipe of your data>", "exec"), namespace)
    return namespace["mine"]()


def plan(path: str | PathLike[str]) -> Plan:
    """Look at the views at a place, and choose sizes, pairs and schedule by what is there."""
    found = find(path)
    train = found.part("train", held_out=HELD_OUT)
    views = survey(found, train)
    maps = [view for view in views.values() if view.kind == "map"]
    batch = batch_size(len(train))
    return Plan(
        found,
        views,
        train=len(train),
        test=len(found) - len(train),
        side=choose_side(maps, len(train)) if maps else None,
        pairs=_pairs(found, train),
        batch_size=batch,
        epochs=choose_epochs(len(train), batch, "map" if maps else "table"),
    )


def choose_side(maps: Iterable[Summary], samples: int) -> int:
    """The shorter side of the largest view in steps of 16, at most what the number of samples can feed."""
    most = LARGE if samples >= MANY else SMALL
    return min(max(max(view.median_side for view in maps) // 16 * 16, 16), most)


def batch_size(samples: int) -> int:
    """128, or the largest power of two of which the training part has four."""
    if samples < 16:
        raise ValueError(
            f"{samples} samples to train on are too few: contrast needs others to choose from, 16 or more"
        )
    return min(128, 2 ** ((samples // 4).bit_length() - 1))


def choose_epochs(samples: int, batch: int, kind: str) -> int:
    """As many as make the steps that this kind of view wants, within bounds."""
    fewest, most = EPOCHS
    return min(max(round(STEPS[kind] * batch / samples), fewest), most)


def _pairs(found: Found, rows: np.ndarray) -> tuple[tuple[str, str], ...]:
    """All pairs of views that two samples or more have both of."""
    have = {name: column.present[rows] for name, column in found.columns.items()}
    pairs = tuple(pair for pair in combinations(have, 2) if (have[pair[0]] & have[pair[1]]).sum() >= 2)
    alone = [name for name in have if not any(name in pair for pair in pairs)]
    if alone:
        raise ValueError(f"view '{alone[0]}' shares fewer than two training samples with any other view")
    return pairs


def recipe_text(plan: Plan) -> str:
    """The recipe as a Python file, to be read and edited."""
    names = list(plan.views)
    encoders = {name: _encoder(plan, view) for name, view in plan.views.items()}
    classes = sorted({text.split("(")[1].split(",")[0] for text in encoders.values()})
    full = len(plan.pairs) == len(names) * (len(names) - 1) // 2
    listed = ", ".join(map(_quoted, names))
    graph = f"full_graph([{listed}])" if full else f"PairGraph({_wrapped(list(plan.pairs), 14)})"
    views = "".join(
        f"    {_comment(view)}{_quoted(name)}: {_view(view)},\n" for name, view in plan.views.items()
    )
    return TEMPLATE.format(
        listing=_listing(names),
        contrast="full_graph" if full else "PairGraph",
        encoder_names=", ".join(classes),
        crop="crop_and_flip, " if plan.side else "",
        data=_quoted(str(plan.found.place.resolve())),
        side=f"SIDE = {plan.side}  # pixels: every map becomes a square of so many\n" if plan.side else "",
        views=views,
        encoders="".join(f"    {_quoted(name)}: {text},\n" for name, text in encoders.items()),
        arguments=_data_arguments(plan),
        augment="        augment=partial(crop_and_flip, size=SIDE, padding=SIDE // 10, flip=True),\n"
        if plan.side
        else "",
        graph=graph,
        train=plan.train,
        test=plan.test,
        epochs=plan.epochs,
        batch_size=plan.batch_size,
        layer=_quoted(_probe_layer(plan)),
    )


def _encoder(plan: Plan, view: Summary) -> str:
    if view.kind == "table":
        return f"partial(MLP, inputs={view.channels}, hidden=(512,), dim={DIM}, standardise=True, drop=0.3)"
    if plan.side == LARGE:
        return f'partial(ResNet, channels={view.channels}, depth=18, width=0.5, dim={DIM}, stem="imagenet")'
    return f"partial(SmallConv, channels={view.channels}, width=32, dim={DIM})"


def _probe_layer(plan: Plan) -> str:
    """The last hidden layer, if the encoders call it alike."""
    if not plan.maps:
        return "hidden1"
    if len(plan.maps) < len(plan.views):
        return "embedding"
    return "pooled" if plan.side == LARGE else "fc"


def _view(view: Summary) -> str:
    low, high = view.low, view.high
    if len(low) == 1 or (view.kind == "table" and len(low) > WIDE):
        return f"partial(scaled, name={_quoted(view.name)}, low={min(low)!r}, high={max(high)!r})"
    bounds = f"        low={_wrapped(low, 12)},\n        high={_wrapped(high, 13)},\n"
    return f"partial(\n        scaled,\n        name={_quoted(view.name)},\n{bounds}    )"


def _comment(view: Summary) -> str:
    gaps = view.samples - view.present
    return f"# {view.present:,} of {view.samples:,} samples have it\n    " if gaps else ""


def _data_arguments(plan: Plan) -> str:
    if not plan.maps:
        return f"own_data, path=DATA, held_out={HELD_OUT}"
    channels = ", ".join(f"{_quoted(name)}: {plan.views[name].channels}" for name in plan.maps)
    lines = ["own_data", "path=DATA", "side=SIDE", f"channels={{{channels}}}", f"held_out={HELD_OUT}"]
    return "".join(f"\n            {line}," for line in lines) + "\n        "


def _listing(names: Sequence[str]) -> str:
    plain = [name.replace("\\", "/").replace('"', "'") for name in names]  # it stands in a docstring
    return f"{', '.join(plain[:-1])} and {plain[-1]}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _wrapped(value: Any, indent: int) -> str:
    return pformat(value, width=108 - indent, compact=True).replace("\n", "\n" + " " * indent)


TEMPLATE = '''"""Contrast of {listing}, as they were found in DATA.

Edit what you like; docs/your-data.md says by which rules it was made. Then:

    coview views THIS_FILE.py:mine
    coview train THIS_FILE.py:mine
"""

from functools import partial

from coview.contrast import Bank, CosineCritic, {contrast}
from coview.data.own import own_data
from coview.encoders import {encoder_names}
from coview.training import Recipe
from coview.views import {crop}scaled

DATA = {data}
{side}
# low and high: where nearly all values of the training samples lie; they become -1 and 1
VIEWS = {{
{views}}}
ENCODERS = {{
{encoders}}}


def mine() -> Recipe:
    """{listing}: {train:,} samples to train on, {test:,} to test on."""
    return Recipe(
        data=partial({arguments}),
        views=VIEWS,
{augment}        encoders=ENCODERS,
        graph={graph},
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw="all", momentum=0.5, start="empty"),
        epochs={epochs},
        batch_size={batch_size},
        optimiser="adamw",
        learning_rate=2e-3,
        weight_decay=1e-2,
        warmup=1.0,
        probe_layer={layer},
    )
'''
