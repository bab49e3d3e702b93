"""MultiViewEncoder: fit, transform and score in scikit-learn's manner."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor
from torch.nn import functional as F

from coview.contrast import PairGraph, core_graph, full_graph
from coview.estimator.columns import grouped, is_apart, present, side_by_side
from coview.estimator.descent import Settings, descend
from coview.estimator.fuse import Memory, completed, fused
from coview.names import did_you_mean

OUTPUTS = ("hidden", "embedding", "fused", "all")
MEMORY = 4096  # training samples kept to guess missing views from
STEPS, EPOCHS = 600, 20  # where nothing is said of epochs: so many steps, and at least so many epochs
LIMIT = 10.0  # deviations beyond which a number is held


class MultiViewEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Encoders of feature tables, trained by contrasting the views of each sample.

    X is a dict or a list of arrays [N F], one per view, or one array whose `columns` belong to views: their widths, or
    a dict of column numbers. Where nothing is said, the columns of a data frame called `view.feature` are grouped so,
    and any other array has two halves. A row of NaN is a missing view; a single NaN takes the mean of its column.

    - `graph`: "full", the name of a core view, edges, or a PairGraph.
    - `output`: "all", the last hidden layers of all views and the standardised numbers themselves, side by side;
      "hidden", without the numbers; "embedding", unit embeddings; "fused", the mean direction of those that are there.
    - `hidden`, `dim`: widths of the hidden layers, and of an embedding.
    - `temperature` divides the cosines.
    - `drop`, `noise`: share of numbers hidden in training, and deviation of what is added.
    - `negatives`: "batch", the other samples of the batch, or "memory", all samples.
    - `epochs`: how often every sample is seen; None: as often as makes 600 steps, 20 times at least.
    """

    def __init__(  # scikit-learn may hand anything over here, and it is looked at in `fit`
        self,
        graph="full",
        *,
        columns=None,
        output="all",
        hidden=(512,),
        dim=64,
        temperature=0.1,
        drop=0.3,
        noise=0.0,
        negatives="batch",
        epochs=None,
        batch_size=256,
        learning_rate=2e-3,
        weight_decay=1e-2,
        device="cpu",
        random_state=None,
    ) -> None:
        self.graph = graph
        self.columns = columns
        self.output = output
        self.hidden = hidden
        self.dim = dim
        self.temperature = temperature
        self.drop = drop
        self.noise = noise
        self.negatives = negatives
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "MultiViewEncoder":
        """Learn from the views of X; y is not looked at."""
        table = self._array(X, reset=True)
        self._check(len(table))
        self.mean_, self.deviation_ = _moments(table)
        views, have = self._views(table)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.encoders_, self.losses_ = descend(views, have, self._settings(len(table)))
        rows = (
            slice(None)
            if len(table) <= MEMORY
            else np.random.default_rng(seed).permutation(len(table))[:MEMORY]
        )
        kept = {name: one[rows] for name, one in views.items()}
        there = {name: one[rows] for name, one in have.items()}
        embeddings, features = self._encode(kept, there)
        self.memory_ = Memory(embeddings, features, there)
        self._n_features_out = self._join(embeddings, features, there).shape[1]
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "N F"]:
        """Features of the samples of X; what a sample lacks is guessed from what it has."""
        check_is_fitted(self)
        views, have = self._views(self._array(X, reset=False))
        embeddings, features = self._encode(views, have)
        return self._join(embeddings, features, have).cpu().numpy()

    def encode(self, X: Any) -> dict[str, Float[np.ndarray, "N D"]]:
        """Each view's own embedding, a unit vector that can be compared across views; NaN where a view is missing."""
        check_is_fitted(self)
        views, have = self._views(self._array(X, reset=False))
        embeddings, _ = self._encode(views, have)
        return {
            name: torch.where(have[name][:, None], one, torch.nan).cpu().numpy()
            for name, one in embeddings.items()
        }

    def score(self, X: Any, y: Any = None) -> float:
        """How well the views of a sample find each other among the samples of X: the mean reciprocal rank, 0 to 1."""
        check_is_fitted(self)
        views, have = self._views(self._array(X, reset=False))
        embeddings, _ = self._encode(views, have)
        ranks = [
            _reciprocal_rank(
                embeddings[pair.anchor], embeddings[pair.target], have[pair.anchor] & have[pair.target]
            )
            for pair in self.graph_.directed()
            if pair.anchor != pair.target
        ]
        known = [rank for rank in ranks if rank is not None]
        return float(np.mean(known)) if known else float("nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _array(self, X: Any, *, reset: bool) -> Float[np.ndarray, "N F"]:
        """X as one array; the columns of each view are settled when it is fitted."""
        if is_apart(X):
            X, groups = side_by_side(X)
            if not reset and {name: len(one) for name, one in groups.items()} != self._widths():
                found = ", ".join(f"{name} {len(one)}" for name, one in groups.items())
                wanted = ", ".join(f"{name} {width}" for name, width in self._widths().items())
                raise ValueError(f"wanted the views that were fitted ({wanted} columns), got {found}")
        else:
            groups = None
        table: Any = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float32,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        if reset:
            names = list(getattr(self, "feature_names_in_", [])) or None
            self.groups_ = groups or grouped(self.columns, table.shape[1], names)
            self.graph_ = _graph(self.graph, list(self.groups_))
        return table

    def _widths(self) -> dict[str, int]:
        return {name: len(one) for name, one in self.groups_.items()}

    def _views(self, table: Float[np.ndarray, "N F"]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """The views as standardised numbers on the device, 0 where one is missing, and which samples have them."""
        scaled = ((table - self.mean_) * self.deviation_).clip(-LIMIT, LIMIT)
        views, have = {}, {}
        for name, columns in self.groups_.items():
            have[name] = torch.from_numpy(present(table[:, columns])).to(self.device)
            views[name] = torch.from_numpy(np.nan_to_num(scaled[:, columns])).to(self.device)
        return views, have

    def _settings(self, samples: int) -> Settings:
        return Settings(
            graph=self.graph_,
            hidden=tuple(self.hidden),
            dim=self.dim,
            temperature=self.temperature,
            drop=self.drop,
            noise=self.noise,
            negatives=self.negatives,
            epochs=self.epochs or _enough_epochs(samples, self.batch_size),
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
        )

    @torch.no_grad()
    def _encode(self, views: Mapping[str, Tensor], have: Mapping[str, Tensor]) -> tuple[dict, dict]:
        """Unit embeddings and features of every view, zeros where it is missing."""
        embeddings, features = {}, {}
        for name, view in views.items():
            encoder: Any = self.encoders_[name]
            layers = encoder.features(view)
            there = have[name][:, None]
            embeddings[name] = F.normalize(layers["embedding"], dim=1) * there
            features[name] = self._features(view, layers, embeddings[name]) * there
        return embeddings, features

    def _features(self, view: Tensor, layers: Mapping[str, Tensor], embedding: Tensor) -> Tensor:
        if self.output in ("embedding", "fused"):
            return embedding
        last = layers[f"hidden{len(self.hidden)}"] if len(self.hidden) else embedding
        return torch.cat([last, view], 1) if self.output == "all" else last

    def _join(self, embeddings: dict, features: dict, have: dict) -> Tensor:
        if self.output == "fused":
            return fused(embeddings, have)
        whole = completed(self.memory_, features, embeddings, have, self.temperature)
        return torch.cat(list(whole.values()), 1)

    def _check(self, samples: int) -> None:
        if self.output not in OUTPUTS:
            near = did_you_mean(str(self.output), OUTPUTS)
            raise ValueError(f"output must be one of {', '.join(OUTPUTS)}, got {self.output!r}{near}")
        if self.negatives not in ("batch", "memory"):
            raise ValueError(f"negatives must be 'batch' or 'memory', got {self.negatives!r}")
        if samples < 2:
            raise ValueError(f"contrast needs other samples to choose from, got n_samples={samples}")


def _enough_epochs(samples: int, batch_size: int) -> int:
    return max(STEPS // max(samples // batch_size, 1), EPOCHS)


def _moments(table: Float[np.ndarray, "N F"]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and one over deviation of every column, over what is there; a constant column counts for nothing."""
    have = np.logical_not(np.isnan(table))
    count = np.maximum(have.sum(0), 1)
    values = np.where(have, table, 0.0).astype(np.float64)
    mean = values.sum(0) / count
    deviation = np.sqrt((np.where(have, values - mean, 0.0) ** 2).sum(0) / count)
    known = deviation > 1e-6 * np.maximum(np.abs(mean), 1e-30)
    return mean.astype(np.float32), np.where(known, 1 / np.where(known, deviation, 1.0), 0.0).astype(
        np.float32
    )


def _graph(graph: Any, views: Sequence[str]) -> PairGraph:
    """A pair graph, from one, from its edges, from "full", or from the name of the core view."""
    if len(views) < 2:
        raise ValueError("contrast needs two views or more, got 1 (n_features = 1)")
    if isinstance(graph, PairGraph):
        found = graph
    elif isinstance(graph, str):
        if graph != "full" and graph not in views:
            raise ValueError(f"graph must be 'full', edges, or a view ({', '.join(views)}), got '{graph}'")
        found = (
            full_graph(views)
            if graph == "full"
            else core_graph(graph, [one for one in views if one != graph])
        )
    else:
        found = PairGraph(graph)
    strange = [view for view in found.views if view not in views]
    if strange:
        near = did_you_mean(strange[0], views)
        raise ValueError(f"the graph contrasts view '{strange[0]}', but X has {', '.join(views)}{near}")
    return found


def _reciprocal_rank(anchor: Tensor, target: Tensor, both: Tensor) -> float | None:
    """The mean of one over the rank of the own target, among the samples that have both views."""
    if int(both.sum()) < 2:
        return None
    scores = anchor[both] @ target[both].T
    rank = (scores >= scores.diagonal()[:, None] - 1e-6).sum(1)  # ties count against us
    return float((1 / rank).mean())
