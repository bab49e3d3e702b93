"""How many negatives it takes: more are better, and all are no worse than thousands (appendix D.3).

Claim:     accuracy rises with the number of negatives m; in the paper to about 60.3 % at m = 4,096, where it
           saturates. The paper stops at 8,192: here the last point is all pictures.
Command:   coview reproduce negatives
Data:      ImageNet-100, with half-AlexNets of L and ab.
Hardware:  made for one H200; no run has been timed yet.
Paper:     about 60.3 at m = 4,096, by NCE; the softmax is said to follow the same trend.
Ours:      not run yet.

What the paper leaves open: which layer is probed (conv5).
"""

from dataclasses import replace
from functools import partial

from coview.contrast import Bank
from coview.recipes.imagenet import imagenet_alexnet_lab
from coview.training import Recipe, softmax


def negatives_drawn(data_name: str = "imagenet100") -> Recipe:
    """A softmax over the match and m negatives, an own draw for each anchor; `negatives.draw` is m."""
    return replace(imagenet_alexnet_lab(data_name), loss=softmax)


def negatives_nce(data_name: str = "imagenet100") -> Recipe:
    """The same draws by NCE, as in the paper."""
    return imagenet_alexnet_lab(data_name)


def negatives_all(data_name: str = "imagenet100") -> Recipe:
    """The softmax over all pictures."""
    return replace(negatives_drawn(data_name), negatives=partial(Bank, draw="all", momentum=0.5))
