"""What is measured in the encoders of a run; a row gives each as a partial: `partial(accuracy, layer="conv5")`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

from coview.probes import Score, find_protocol
from coview.recipes.measure import probe, probe_views, retrieval
from coview.studies.subject import Subject


def accuracy(
    subject: Subject,
    *,
    kind: str = "linear",
    layer: str | None = None,
    views: Sequence[str] = (),
    protocol: str = "ours",
) -> float:
    """Percent of the test samples that a probe gets right from some views side by side, or from all."""
    return score(subject, kind=kind, layer=layer, views=views, protocol=protocol).accuracy


def top_1_and_5(
    subject: Subject,
    *,
    kind: str = "linear",
    layer: str | None = None,
    protocol: str = "ours",
    instead: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """The same of all views, and percent of the samples whose class is among the five highest.

    `instead` names, by protocol, another one that encoders of this size want.
    """
    protocol = (instead or {}).get(protocol, protocol)
    found = score(subject, kind=kind, layer=layer, protocol=protocol)
    return {"top-1": found.accuracy, **({} if found.top5 is None else {"top-5": found.top5})}


def score(
    subject: Subject, *, kind: str, layer: str | None, views: Sequence[str] = (), protocol: str
) -> Score:
    """How well one probe does on the test samples."""
    found = subject.features(layer)
    wanted, fitted = list(views or found["train"].values), find_protocol(protocol)
    return probe(found, wanted, subject.classes, kind=kind, protocol=fitted, seed=subject.recipe.seed)


def accuracies(subject: Subject, *, kind: str = "linear", layer: str | None = None) -> dict[str, float]:
    """The same for each view on its own, and for all of them: a column a view."""
    return probe_views(subject.features(layer), subject.classes, kind=kind, seed=subject.recipe.seed)


def fitted_by(measure: Callable[..., Any], protocol: str) -> Callable[..., Any]:
    """The measure with its probe fitted by a named protocol, if it has one."""
    inside = measure.func if isinstance(measure, partial) else measure
    if "protocol" not in signature(inside).parameters:
        return measure
    return partial(measure, protocol=find_protocol(protocol).name)


def recall(subject: Subject) -> float:
    """R@1 in percent, averaged over the directed pairs: how often a sample finds itself in another view."""
    found = retrieval(subject.features("embedding")["test"])
    return sum(one["recall"] for one in found.values()) / len(found)
