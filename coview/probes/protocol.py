"""Named ways to fit classifiers to frozen features: the paper's, setting by setting, and ours."""

from dataclasses import dataclass, replace
from functools import partial

from jaxtyping import Float, Int
from torch import Tensor

from coview.names import did_you_mean
from coview.probes.descent import Descent, descent_path, linear_start, mlp_start
from coview.probes.knn import knn_probe
from coview.probes.linear import front_end, linear_probe
from coview.probes.mlp import ADAM
from coview.probes.scoring import Score, fit_and_score

KINDS = ("linear", "mlp", "knn")
STARTS = {"linear": linear_start, "mlp": mlp_start}


@dataclass(frozen=True)
class Protocol:
    """How a linear classifier and one with a hidden layer of 200 are fitted; kNN is the same in all."""

    name: str
    linear: Descent | None  # None: to the optimum, the weight decay chosen on a held-out part (linear.py)
    mlp: Descent
    standardise: bool = False  # by the whole training set; a Descent may have a batch norm instead

    def descent(self, kind: str) -> Descent | None:
        """How one kind is fitted by minibatches; None where it is not."""
        return {"linear": self.linear, "mlp": self.mlp}.get(kind)


# The paper does not say how many samples a batch of its probes has; 256 is the released code's number.
PAPER_SGD = Descent(epochs=100, learning_rates=(0.1,), momentum=0.9, milestones=(60, 75, 90), decay=0.2)
# "The same optimizer setting" as for its encoders, whose 200 epochs have their milestones at 120 and 160.
PAPER_ADAM = Descent(
    epochs=100, optimiser="adam", learning_rates=(1e-3,), momentum=0.5, milestones=(60, 80), batch=128
)

OURS = Protocol("ours", linear=None, mlp=ADAM, standardise=True)
# Behind a batch norm no single rate fits both 128 and 9,600 features.
ADVISED = Protocol(
    "advised",
    linear=replace(PAPER_SGD, batch_norm=True, learning_rates=(0.1, 0.01, 0.001)),
    mlp=replace(PAPER_ADAM, batch_norm=True),
)
PAPER = Protocol("paper", linear=PAPER_SGD, mlp=PAPER_ADAM)
PAPER_RESNET = Protocol("paper-resnet", linear=replace(PAPER_SGD, learning_rates=(30.0,)), mlp=PAPER_ADAM)
PAPER_RESNET_X2 = Protocol(
    "paper-resnet-x2", linear=replace(PAPER_SGD, learning_rates=(50.0,)), mlp=PAPER_ADAM
)
PAPER_STL10 = Protocol("paper-stl10", linear=PAPER_ADAM, mlp=PAPER_ADAM)

PROTOCOLS = {one.name: one for one in (OURS, ADVISED, PAPER, PAPER_RESNET, PAPER_RESNET_X2, PAPER_STL10)}


def find_protocol(name: str) -> Protocol:
    """A protocol by its name."""
    if name not in PROTOCOLS:
        raise ValueError(
            f"no protocol '{name}'{did_you_mean(name, PROTOCOLS)}; there are {', '.join(PROTOCOLS)}"
        )
    return PROTOCOLS[name]


def probe_by(
    protocol: Protocol,
    kind: str,
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    classes: int,
    seed: int = 0,
) -> Score:
    """The score of a linear, MLP or kNN probe under a protocol."""
    given = (train, train_label, test, test_label)
    if kind not in KINDS:
        raise ValueError(f"a probe is one of {', '.join(KINDS)}, got '{kind}'{did_you_mean(kind, KINDS)}")
    if kind == "knn":
        return knn_probe(*given, classes=classes)
    descent = protocol.descent(kind)
    if descent is None:
        return linear_probe(*given, classes=classes, standardise=protocol.standardise, seed=seed)
    train, test = front_end(*given, classes=classes, standardise=protocol.standardise)
    path = descent_path(partial(STARTS[kind], classes=classes), descent, seed=seed)
    rates = descent.learning_rates
    return fit_and_score(
        path, train, train_label, test, test_label, settings=rates, what="learning_rate", seed=seed
    )
