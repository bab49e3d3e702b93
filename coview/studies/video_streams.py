"""`video-streams`: the ventral and the dorsal stream, each alone and both, on clips (section 4.2, table 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from torch import nn

from coview.contrast import core_graph
from coview.data.images.place import data_root
from coview.data.video.named import find_layout, folds_of
from coview.encoders import SameAs
from coview.probes.action import FineTuning
from coview.recipes.action import found_again, recognise
from coview.recipes.clip_sets import clip_set, count_clips
from coview.recipes.measure import features, probe
from coview.studies.claims import Claim, beats, every
from coview.studies.measures import accuracy
from coview.studies.study import Measure, Row, Study
from coview.studies.subject import Subject
from coview.studies.ways import RANDOM, SUPERVISED
from coview.views import frame

PAPER = {
    "random": {"UCF-101": 48.2, "HMDB-51": 19.5},
    "V": {"UCF-101": 55.3},
    "D": {"UCF-101": 57.1},
    "V+D": {"UCF-101": 59.1, "HMDB-51": 26.7},
}
OTHERS = {  # of table 2, with CaffeNets but where the paper notes another network
    "ImageNet's labels": {"UCF-101": 67.7, "HMDB-51": 28.0},
    "VGAN (another network)": {"UCF-101": 52.1},
    "LT-Motion (another network)": {"UCF-101": 53.0},
    "TempCoh": {"UCF-101": 45.4, "HMDB-51": 15.9},
    "Shuffle and Learn": {"UCF-101": 50.2, "HMDB-51": 18.1},
    "Geometry": {"UCF-101": 55.1, "HMDB-51": 23.3},
    "OPN": {"UCF-101": 56.3, "HMDB-51": 22.1},
    "ST Order": {"UCF-101": 58.6, "HMDB-51": 25.0},
    "Cross and Learn": {"UCF-101": 58.7, "HMDB-51": 27.2},
}
ACTION = "action"  # the column of clips that are not the paper's
ALL, FLOW = "all views", "flow"


def action(
    subject: Subject,
    *,
    on: str | None = None,
    tuning: FineTuning = FineTuning(),
    frames: int = 25,
    crops: int = 10,
) -> float:
    """Percent of clips recognised by the encoder of frames, fine-tuned; the mean over the official splits.

    It has learned without labels from the first split's training clips. `on` names another set of clips.
    """
    found = []
    for fold in folds_of(on or _name(subject), data_root(_root(subject))):
        keywords = {"fold": fold, **({"name": on} if on else {})}
        recipe = replace(subject.recipe, data=partial(subject.recipe.data, **keywords))
        splits = {split: recipe.data(split) for split in ("train", "test")}
        score = recognise(
            subject.encoders["frame"],
            recipe,
            splits,
            tuning=tuning,
            frames=frames,
            crops=crops,
            seed=recipe.seed,
        )
        found.append(score)
    return sum(found) / len(found)


def retrieval(subject: Subject, *, view: str = "frame", layer: str = "conv5") -> dict[str, float]:
    """R@1, 5 and 10 of clips by class."""
    found = found_again(subject.encoders[view], subject.recipe, subject.splits, view=view, layer=layer)
    return {f"R@{k}": recall for k, recall in found.items()}


def two_frames(subject: Subject, *, layer: str = "conv5") -> float:
    """Percent right by a linear probe of what the encoder of frames says of i_t and of i_t+k, side by side."""
    names, trained = ("frame", "later"), subject.recipe
    recipe = replace(
        trained,
        views={name: partial(frame, at=at) for at, name in enumerate(names)},
        encoders={"frame": trained.encoders["frame"], "later": SameAs("frame")},
        graph=core_graph("frame", ["later"]),
    )
    encoders = nn.ModuleDict(dict.fromkeys(names, subject.encoders["frame"]))
    found = features(encoders, recipe, subject.splits, layer)
    return probe(found, names, subject.classes, seed=recipe.seed).accuracy


def rows(data: str) -> Sequence[Row]:
    """Both bounds, each stream, both, and both with another camera where there is one; others' of the paper's clips."""
    both, cameras = "video_ventral_dorsal", data != "scenes" and clip_set(data).second
    made = [
        _row("random", both, data, way=RANDOM),
        _row("supervised", both, data, way=SUPERVISED),
        _row("V", "video_ventral", data),
        _row("D", "video_dorsal", data),
        _row("V+D", both, data),
    ]
    if cameras:
        return [*made, _row("V+D+camera", "video_camera", data)]
    told = OTHERS if data == "ucf101" else {}
    return [*made, *(Row(name=name, paper=numbers) for name, numbers in told.items())]


def video_streams() -> Study:
    """The table."""
    return Study(
        name="video-streams",
        claim="Both streams together teach the encoder of frames more than each alone",
        paper="section 4.2, table 2",
        data="ucf101",
        rows=rows,
        samples=count_clips,
        fitted="Crops, k, the stack of flows and epochs are fitted by the rules of coview/recipes/clip_sets.py.",
        claims=(
            *_claims("UCF-101", "the paper's clips"),
            *_claims(ACTION, "these clips"),
            Claim("of rendered clips, all views: V+D beats both", _above(ALL)),
            Claim("of rendered clips, flow: D beats random by 20", beats("D", "random", FLOW, by=20.0)),
        ),
    )


def _row(name: str, recipe: str, data: str, **more) -> Row:
    paper = PAPER.get(name, {}) if data == "ucf101" else {}
    return Row(name=name, recipe=recipe, measures=_measures(name, data), paper=paper, **more)


def _measures(name: str, data: str) -> Mapping[str, Measure]:
    """Of rendered clips a frame alone cannot tell the motion: there all views are probed side by side."""
    if data == "scenes":
        flow = {} if name == "V" else {FLOW: partial(accuracy, layer="conv5", views=("flow",))}
        return {ALL: partial(accuracy, layer="conv5"), **flow}
    tuned = {"ucf101": "UCF-101", "hmdb51": "HMDB-51"}.get(data, ACTION)
    again = {"linear": partial(accuracy, layer="conv5", views=("frame",)), "retrieval": retrieval}
    found = {tuned: partial(action, tuning=FineTuning(epochs=60)), **again}
    if data == "ucf101" and _is_there("hmdb51"):
        found["HMDB-51"] = partial(action, on="hmdb51", tuning=FineTuning(epochs=60))
    return found


def _claims(column: str, where: str) -> tuple[Claim, ...]:
    return (
        Claim(f"on {where}, V+D beats V and D", _above(column)),
        Claim(f"on {where}, V+D beats random", beats("V+D", "random", column)),
    )


def _above(column: str):
    return every(beats("V+D", "V", column), beats("V+D", "D", column))


def _is_there(name: str) -> bool:
    try:
        find_layout(name, data_root(None))
    except FileNotFoundError:
        return False
    return True


def _name(subject: Subject) -> str:
    return str(_keywords(subject)["name"])


def _root(subject: Subject) -> str | None:
    return _keywords(subject)["root"]


def _keywords(subject: Subject) -> Mapping:
    return subject.recipe.data.keywords  # pyright: ignore[reportFunctionMemberAccess]
