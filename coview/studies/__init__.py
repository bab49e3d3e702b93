"""Studies: tables of the paper, planned, run or resumed, and written from run folders beside its numbers."""

from coview.studies.claims import Claim, Verdict, beats, best, every, rises, within
from coview.studies.measures import accuracies, accuracy, recall
from coview.studies.ranks import correlated
from coview.studies.study import Measure, Place, Row, Study
from coview.studies.subject import Subject
from coview.studies.ways import CONTRAST, RANDOM, SUPERVISED, Way

__all__ = [
    "CONTRAST",
    "RANDOM",
    "SUPERVISED",
    "Claim",
    "Measure",
    "Place",
    "Row",
    "Study",
    "Subject",
    "Verdict",
    "Way",
    "accuracies",
    "accuracy",
    "beats",
    "best",
    "correlated",
    "every",
    "recall",
    "rises",
    "within",
]
