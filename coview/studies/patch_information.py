"""`patch-information`: what patches a distance apart share, and what encoders of them learn (figure 5, right)."""

from collections.abc import Callable, Sequence
from functools import partial

from matplotlib.figure import Figure

from coview.probes import find_protocol
from coview.recipes.measure import count_classes, features, probe
from coview.recipes.patches import LABELLED, count_patches
from coview.reports.comparison import curve
from coview.reports.look import GREEN, house_look
from coview.reports.outcome import Line, columns_of
from coview.studies.claims import FAILS, HOLDS, OPEN, Claim, Lines, Missing, Verdict, judge
from coview.studies.information import NATS, SAFE, information
from coview.studies.ranks import LEVEL, rank_correlation
from coview.studies.study import Row, Study
from coview.studies.subject import Subject

DISTANCES = (64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384)
LINEAR = "linear, conv5"


def accuracy_elsewhere(
    subject: Subject, *, kind: str = "linear", layer: str = "conv5", protocol: str = "ours"
) -> float:
    """Percent right on the labelled set beside the patches, each picture given to both encoders."""
    splits = {split: subject.recipe.data(part) for split, part in PARTS.items()}
    found = features(subject.encoders, subject.recipe, splits, layer)
    classes, fitted, seed = count_classes(splits["train"]), find_protocol(protocol), subject.recipe.seed
    return probe(found, list(subject.encoders), classes, kind=kind, protocol=fitted, seed=seed).accuracy


PARTS = {"train": LABELLED, "test": "test"}
MEASURES = {
    "information": partial(
        information, first="near", second="far", steps=4000, batch=512, learning_rate=1e-3
    ),
    LINEAR: partial(accuracy_elsewhere, kind="linear", layer="conv5"),
}


def rows(data: str) -> Sequence[Row]:
    """A row a distance."""
    return [
        Row(
            name=str(distance),
            recipe="patch_pairs",
            settings=(f"data.distance={distance}",),
            measures=MEASURES,
            at=float(distance),
        )
        for distance in DISTANCES
    ]


def placed(lines: Lines, column: str) -> list[Line]:
    """The rows that have a number in a column, by distance."""
    found = [line for line in lines.values() if column in line.numbers and line.at is not None]
    return sorted(found, key=lambda line: line.at or 0.0)


def falls(column: str) -> Callable[[Lines], Verdict]:
    """The farther the less, by ranks, beyond what chance gives in one of twenty tries."""

    def check(lines: Lines) -> Verdict:
        there = placed(lines, column)
        if len(there) < 4:
            raise Missing(f"{len(there)} distances have {column}: ranks want four or more")
        rank, chance = rank_correlation(
            [line.at or 0.0 for line in there], [line.numbers[column].mean for line in there]
        )
        reason = f"rank correlation {rank:.2f} over {len(there)} distances"
        return Verdict(OPEN if chance > LEVEL else HOLDS if rank < 0 else FAILS, reason)

    return check


def best_inside(column: str) -> Callable[[Lines], Verdict]:
    """Some distance between the least and the largest is better than both."""

    def check(lines: Lines) -> Verdict:
        there = placed(lines, column)
        if len(there) < 3:
            raise Missing(f"{len(there)} distances have {column}: wanted are three or more")
        best = max(there, key=lambda line: line.numbers[column].mean)
        ends = [line for line in (there[0], there[-1]) if line is not best]
        rival = max(ends, key=lambda line: line.numbers[column].mean)
        ours, theirs = best.numbers[column], rival.numbers[column]
        reason = f"{ours} at {best.name}, {theirs} at {rival.name}"
        if len(ends) == 1:
            return Verdict(FAILS, f"the best is at an end: {reason}")
        return judge(ours.mean - theirs.mean, ours, theirs, reason)

    return check


@house_look
def draw(lines: Sequence[Line], paper: str) -> Figure:
    """Each number against the distance, the best distance marked where accuracy is shown."""
    figure = curve(lines, paper, axis="distance in pixels", apart=True)
    there = placed({line.name: line for line in lines}, LINEAR)
    if there:
        best = max(there, key=lambda line: line.numbers[LINEAR].mean)
        panel = figure.axes[columns_of(lines).index(LINEAR)]
        panel.axvline(best.at or 0.0, color=GREEN, lw=1.0, ls="--", zorder=0)
        panel.annotate(
            f"best at {best.name}",
            (best.at or 0.0, 1.0),
            (4, -9),
            color=GREEN,
            size=8,
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
        )
    return figure


def patch_information() -> Study:
    """Information and accuracy against the distance."""
    return Study(
        name="patch-information",
        claim="Between too much and too little shared information lies a distance that is best",
        paper="section 4.4, figure 5, right (a plot without numbers)",
        data="div2k",
        rows=rows,
        samples=count_patches,
        fitted="Patches are of 64 pixels everywhere; labels come from `--set data.labelled=NAME`.",
        claims=(
            Claim("information falls with the distance", falls(NATS)),
            Claim("by InfoNCE too, which is never too high", falls(SAFE)),
            Claim("a distance between the least and the largest is best", best_inside(LINEAR)),
        ),
        figure=draw,
        seeds=(0, 1),
    )
