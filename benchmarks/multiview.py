"""MultiViewEncoder beside CCA, multiset and generalised CCA, PCA and the raw features, on tables of several views.

    python benchmarks/multiview.py --data FOLDER          # with Handwritten.mat, Scene-15.mat and BDGP.mat in it

Five folds, each with a seed of its own; what is chosen is chosen on a fifth of the training fold, by the linear probe
that is also the measure. Then once more with every view of half of the samples missing, in training and test alike.
What has been measured is kept in result.json and not measured again, so this can be stopped and goes on.
"""

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch
from cca_zoo.linear import GCCA, MCCA, RidgeCCA
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer
from sklearn.model_selection import StratifiedKFold, train_test_split

from coview.data.own import find
from coview.estimator import MultiViewEncoder, side_by_side
from coview.files import write_text
from coview.probes import linear_probe

SETS = ("Handwritten", "Scene-15", "BDGP")
FOLDS = 5
MISSING = {"all there": 0.0, "half missing": 0.5}
Views = list[np.ndarray]
Pair = tuple[np.ndarray, np.ndarray]


def raw(train: Views, test: Views, seed: int) -> Pair:
    """The numbers themselves, what is missing at its mean."""
    return np.concatenate(_filled(train), 1), np.concatenate(_filled(test), 1)


def neighbours(train: Views, test: Views, seed: int, *, count: int) -> Pair:
    """The numbers themselves, what is missing as the nearest training samples have it."""
    key = (count, _print(train), _print(test))
    if key not in FILLS:
        while len(FILLS) > 3:
            del FILLS[next(iter(FILLS))]
        filler = KNNImputer(n_neighbors=count, keep_empty_features=True).fit(np.concatenate(train, 1))
        one, other = (filler.transform(np.concatenate(part, 1)) for part in (train, test))
        FILLS[key] = one, other
    return FILLS[key]


FILLS: dict[Any, Pair] = {}  # the last ones: they take long, and several methods ask for the same


def pca(train: Views, test: Views, seed: int, *, size: int) -> Pair:
    """The directions in which all numbers together vary most."""
    one, other = raw(train, test, seed)
    found = PCA(min(size, *one.shape), random_state=seed).fit(one)
    return found.transform(one), found.transform(other)


def cca(train: Views, test: Views, seed: int, *, size: int, beside: bool = False, **settings: Any) -> Pair:
    """What views have in common, linearly; the scores of all views side by side, `beside` the numbers themselves."""
    key = ("cca", *map(str, settings.items()), _print(train), _print(test))
    scores = once(key, partial(_cca, train, test, **settings))
    found = [
        np.concatenate([view[:, :size] for view in one], 1) for one in scores
    ]  # the first are the strongest
    if beside:
        found = [np.concatenate(both, 1) for both in zip(found, raw(train, test, seed), strict=True)]
    return found[0], found[1]


def _cca(
    train: Views, test: Views, *, make: Any, shrinkage: float, pair: Any = None, fill: int = 0
) -> tuple[Views, Views]:
    """As many scores as are asked for at most. `pair`: of two views alone; `fill`: gaps from so many neighbours."""
    one, other = _filled(train), _filled(test)
    if fill:
        ends = np.cumsum([view.shape[1] for view in train])[:-1]
        one, other = (np.split(table, ends, 1) for table in neighbours(train, test, 0, count=fill))
    if pair is not None:
        one, other = [one[n] for n in pair], [other[n] for n in pair]
    size = min(max(SIZES), *(view.shape[1] for view in one))
    found = make(n_components=size, shrinkage=shrinkage).fit(one)
    return found.transform(one), found.transform(other)


def ours(train: Views, test: Views, seed: int, *, numbers: bool = True, **settings: Any) -> Pair:
    """Features of encoders that were contrasted with each other, with or without the `numbers` that they saw."""
    key = ("ours", *map(str, settings.items()), seed, _print(train))
    encoder = once(key, lambda: MultiViewEncoder(random_state=seed, **settings).fit(train))
    widths = [part for view in train for part in (encoder.hidden[-1], view.shape[1])]
    kept = np.repeat(np.arange(len(widths)) % 2 == 0, widths) | numbers
    return encoder.transform(train)[:, kept], encoder.transform(test)[:, kept]


def once(key: Any, make: Callable[[], Any]) -> Any:
    """What was made last, if it was made of the same: sizes and outputs that differ share one fit."""
    if key not in LAST:
        LAST.clear()
        LAST[key] = make()
    return LAST[key]


LAST: dict[Any, Any] = {}


def _print(views: Views) -> int:
    return hash(tuple(view.tobytes() for view in views))


@dataclass(frozen=True)
class Method:
    """A way from views to features, and what may be chosen in it."""

    make: Callable[..., Pair]
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    gaps_only: bool = False

    def settings(self) -> Iterator[dict[str, Any]]:
        for values in itertools.product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))


SIZES = (10, 20, 40, 80)
SHRINKAGE = (0.1, 0.5, 0.9)


def methods(views: int) -> dict[str, Method]:
    """What is compared."""
    pairs = list(itertools.combinations(range(views), 2))
    linear = {"shrinkage": SHRINKAGE, "size": SIZES}
    return {
        "raw features": Method(raw),
        "raw, gaps from neighbours": Method(neighbours, {"count": (5, 20)}, gaps_only=True),
        "PCA of all": Method(pca, {"size": (20, 50, 100, 200)}),
        "CCA, best pair": Method(partial(cca, make=RidgeCCA), {"pair": pairs, **linear}),
        "multiset CCA": Method(partial(cca, make=MCCA), linear),
        "multiset CCA, gaps from neighbours": Method(partial(cca, make=MCCA, fill=5), linear, gaps_only=True),
        "generalised CCA": Method(partial(cca, make=GCCA), linear),
        "generalised CCA beside raw": Method(
            partial(cca, make=GCCA, beside=True, size=max(SIZES)), {"shrinkage": SHRINKAGE}
        ),
        "MultiViewEncoder, untrained": Method(partial(ours, learning_rate=0.0, epochs=1)),
        "MultiViewEncoder, as it comes": Method(ours),
        "MultiViewEncoder, without the numbers": Method(partial(ours, numbers=False)),
    }


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of solvers that stop early
    store = arguments.out / "result.json"
    known: dict[str, Any] = json.loads(store.read_text()) if store.is_file() else {}
    for name, (gaps, share), fold in itertools.product(arguments.sets, MISSING.items(), range(FOLDS)):
        views, label = load(arguments.data / f"{name}.mat")
        for method, one in methods(len(views)).items():
            key = f"{name} | {gaps} | {method} | {fold}"
            if (
                key in known
                or (one.gaps_only and not share)
                or not (not arguments.only or arguments.only in method)
            ):
                continue
            started = time.perf_counter()
            accuracy, settings = measure(one, knocked_out(views, share, seed=fold), label, fold)
            seconds = time.perf_counter() - started
            known[key] = {"accuracy": accuracy, "settings": settings, "seconds": seconds}
            print(f"{key}: {accuracy:.2f} {settings} {seconds:.0f} s", flush=True)
            write_text(store, json.dumps(known, indent=1) + "\n")
    write_text(arguments.out / "table.md", tables(known))


def load(file: Path) -> tuple[Views, np.ndarray]:
    """The views and labels of a .mat file."""
    found = find(file)
    assert found.label is not None
    return [column.values for column in found.columns.values() if column.values is not None], found.label


def knocked_out(views: Views, share: float, *, seed: int) -> Views:
    """Views of which a share of the rows is missing; every sample keeps one view."""
    draw = np.random.default_rng(seed)
    there = draw.random((len(views[0]), len(views))) >= share
    bare = np.flatnonzero(~there.any(1))
    there[bare, draw.integers(len(views), size=len(bare))] = True
    return [np.where(there[:, [n]], view, np.nan) for n, view in enumerate(views)]


def measure(method: Method, views: Views, label: np.ndarray, fold: int) -> tuple[float, dict[str, Any]]:
    """Accuracy on the test fold, with what was best on a fifth of the training fold."""
    cut = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(label, label)
    train, test = list(cut)[fold]
    settings = list(method.settings())
    if len(settings) > 1:
        part, held_out = train_test_split(train, test_size=0.2, stratify=label[train], random_state=fold)
        scores = [accuracy(method, views, label, part, held_out, fold, one) for one in settings]
        settings = [settings[int(np.argmax(scores))]]
    return accuracy(method, views, label, train, test, fold, settings[0]), settings[0]


def accuracy(
    method: Method,
    views: Views,
    label: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    seed: int,
    settings: dict,
) -> float:
    """Of a linear probe on the features of the second part, fitted on the first, in percent."""
    table, groups = side_by_side(views)
    table = _standardised(table, train)
    parts = [[table[rows][:, columns] for columns in groups.values()] for rows in (train, test)]
    features = [
        torch.from_numpy(np.asarray(one, dtype=np.float32)) for one in method.make(*parts, seed, **settings)
    ]
    labels = [torch.from_numpy(label[rows]) for rows in (train, test)]
    score = linear_probe(
        features[0], labels[0], features[1], labels[1], classes=int(label.max()) + 1, seed=seed
    )
    return score.accuracy


def tables(known: Mapping[str, Any]) -> str:
    """A row a method, a column a set: mean and deviation over folds, and how far ours is from the best other."""
    lines = ["# MultiViewEncoder beside linear methods", "", INTRODUCTION]
    for gaps in MISSING:
        names = [name for name in SETS if any(key.startswith(f"{name} | {gaps}") for key in known)]
        if not names:
            continue
        rows = {method: [_cell(known, name, gaps, method) for name in names] for method in methods(2)}
        lines += [
            "",
            f"## {gaps.capitalize()}",
            "",
            f"| method | {' | '.join(names)} |",
            f"|---|{'---:|' * len(names)}",
        ]
        lines += [
            f"| {method} | {' | '.join(_shown(cells))} |" for method, cells in rows.items() if any(cells)
        ]
        lines += ["", *_verdict(rows, names)]
    return "\n".join(lines) + "\n"


INTRODUCTION = """\
Linear probe, % right, mean ± sample deviation over five folds, each with a seed of its own; written by
`benchmarks/multiview.py`. Everything is standardised on the training fold. What is missing is at its mean for
the raw features, PCA and the three kinds of CCA, unless a row says that it comes from the nearest training samples.
Sizes, shrinkage, neighbours and the pair of plain CCA are chosen on a fifth of the training fold; nothing is chosen for
`MultiViewEncoder`, which has its defaults. It puts the numbers beside its hidden layers, so there are rows for it
without them, and for generalised CCA with them. Those defaults were found on held-out parts of training folds of these
same three sets, so it is no stranger to them."""


def _cell(known: Mapping[str, Any], name: str, gaps: str, method: str) -> list[float]:
    found = (known.get(f"{name} | {gaps} | {method} | {fold}") for fold in range(FOLDS))
    return [one["accuracy"] for one in found if one]


def _shown(cells: list[list[float]]) -> list[str]:
    return [f"{mean(one):.1f} ± {stdev(one):.1f}" if len(one) == FOLDS else "–" for one in cells]


def _verdict(rows: Mapping[str, list[list[float]]], names: Sequence[str]) -> list[str]:
    """Wins and losses of ours, as it comes, against the best of the others and itself untrained, fold by fold."""
    lines = []
    for place, name in enumerate(names):
        whole = {method: cells[place] for method, cells in rows.items() if len(cells[place]) == FOLDS}
        ours = whole.get("MultiViewEncoder, as it comes")
        others = {method: one for method, one in whole.items() if not method.startswith("MultiViewEncoder")}
        if ours is None or not others:
            continue
        best = max(others, key=lambda method: mean(others[method]))
        line = f"- {name}: as it comes {_apart(ours, others[best])} the best other ({best})"
        start = whole.get("MultiViewEncoder, untrained")
        lines.append(line if start is None else f"{line}; {_apart(ours, start)} itself untrained")
    return lines


def _apart(ours: Sequence[float], theirs: Sequence[float]) -> str:
    gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
    word = "ahead of" if mean(gaps) > 0 else "behind"
    better = sum(gap > 0 for gap in gaps)
    return f"{abs(mean(gaps)):.1f} ± {stdev(gaps):.1f} points (better in {better} of {FOLDS} folds) {word}"


def _filled(views: Views) -> Views:
    return [np.nan_to_num(view) for view in views]


def _standardised(table: np.ndarray, train: np.ndarray) -> np.ndarray:
    deviation = np.nanstd(table[train], 0)
    return (table - np.nanmean(table[train], 0)) / np.where(deviation > 0, deviation, 1.0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the .mat files")
    parser.add_argument("--out", type=Path, default=Path("results/multiview"))
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--only", help="only methods with this in their name")
    return parser.parse_args()


if __name__ == "__main__":
    main()
