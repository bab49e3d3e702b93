"""Frozen encoders -> a number: linear, MLP and nearest-neighbour accuracy, and cross-view retrieval."""

from coview.probes.features import Features, concatenate, extract, layer_features
from coview.probes.knn import knn_probe
from coview.probes.linear import Linear, Score, fit_linear, linear_probe
from coview.probes.mlp import fit_mlp, mlp_probe
from coview.probes.retrieval import Recall, cross_view_retrieval, nearest, retrieval
from coview.probes.supervised import train_supervised

__all__ = [
    "Features",
    "Linear",
    "Recall",
    "Score",
    "concatenate",
    "cross_view_retrieval",
    "extract",
    "fit_linear",
    "fit_mlp",
    "knn_probe",
    "layer_features",
    "linear_probe",
    "mlp_probe",
    "nearest",
    "retrieval",
    "train_supervised",
]
