"""Frozen encoders -> a number: linear, MLP and nearest-neighbour accuracy, and cross-view retrieval."""

from coview.probes.descent import Descent, descend
from coview.probes.features import Features, concatenate, extract, extract_layers
from coview.probes.knn import knn_probe
from coview.probes.layers import layer_features, layer_names
from coview.probes.linear import Linear, fit_linear, linear_probe
from coview.probes.mlp import mlp_probe
from coview.probes.protocol import ADVISED, OURS, PAPER, PROTOCOLS, Protocol, find_protocol, probe_by
from coview.probes.retrieval import Recall, cross_view_retrieval, nearest, retrieval
from coview.probes.scoring import Score
from coview.probes.supervised import train_supervised

__all__ = [
    "ADVISED",
    "OURS",
    "PAPER",
    "PROTOCOLS",
    "Descent",
    "Features",
    "Linear",
    "Protocol",
    "Recall",
    "Score",
    "concatenate",
    "cross_view_retrieval",
    "descend",
    "extract",
    "extract_layers",
    "find_protocol",
    "fit_linear",
    "knn_probe",
    "layer_features",
    "layer_names",
    "linear_probe",
    "mlp_probe",
    "nearest",
    "probe_by",
    "retrieval",
    "train_supervised",
]
