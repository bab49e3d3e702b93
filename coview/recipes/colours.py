"""Two parts of a colour space as views: how much they share decides what is learned (section 4.4).

Claim:     colour spaces whose parts share least give the best encoders.
Command:   coview reproduce colour-information, or one space: coview train colour_parts --set views.first.space=YDbDr
           --set views.rest.space=YDbDr
Hardware:  made for one H200; no run has been timed yet.
Ours:      not run yet.

What the paper leaves open: encoders (STL-10 halves), negatives (all) and the schedule (40 epochs).
"""

from functools import partial

import torch

from coview.contrast import Bank, CosineCritic, PairGraph
from coview.recipes.pictures import pictures
from coview.training import Recipe
from coview.views import colour

CHANNELS = {"first": (0,), "rest": (1, 2)}


def colour_parts(data_name: str = "stl10") -> Recipe:
    """The first channel of a colour space against the other two, each through a half-AlexNet."""
    images = pictures(data_name)
    return Recipe(
        data=images.data(),
        views={name: partial(colour, space="Lab", channels=channels) for name, channels in CHANNELS.items()},
        augment=images.augment(),
        still=images.still(),
        encoders={name: images.half(len(channels), dim=64) for name, channels in CHANNELS.items()},
        graph=PairGraph([("first", "rest")]),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw="all", momentum=0.5),
        **images.schedule(40),
        batch_size=256,
        learning_rate=0.03,
        schedule="cosine",
        compile=torch.cuda.is_available(),  # elsewhere it is seldom won back
        log_every=50,
        save_every=10,
        probe_layer="conv5",
    )
