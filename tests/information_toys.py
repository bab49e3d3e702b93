"""Views of which it is known what they share: rooms with noise beside them, and tables with a plan."""

from dataclasses import replace
from functools import partial

import torch
from toys import jitter, take, toy

from coview.contrast import full_graph
from coview.data import Resident
from coview.data.scenes import scenes
from coview.encoders import SmallConv
from coview.recipes.demo import CHANNELS, VIEWS
from coview.training import Recipe
from coview.views import crop_and_flip, field


def planned(split: str, *, samples: int = 1200) -> Resident:
    """Heat and light share one number nearly, wind shares another with light, and dice nothing with any."""
    generator = torch.Generator().manual_seed({"train": 3, "test": 4}[split])
    hidden, other, *noise = torch.randn(6, samples, 2, generator=generator)
    fields = {
        "heat": hidden + 0.3 * noise[0],
        "light": torch.cat([hidden + 0.3 * noise[1], other], 1),
        "wind": (other + noise[2]) ** 3,
        "dice": noise[3],
    }
    return Resident(f"weather {split}", fields)


def weather() -> Recipe:
    """Four tables."""
    names = ("heat", "light", "wind", "dice")
    views = {name: partial(take, name=name) for name in names}
    base = toy()
    return replace(
        base,
        data=partial(planned, samples=1200),
        views=views,
        augment=partial(jitter, strength=0.01),
        encoders=dict.fromkeys(names, base.encoders["sound"]),
        graph=full_graph(list(names)),
    )


def noisy_rooms(split: str, *, samples: int = 300) -> Resident:
    """Small rooms, and pixels of noise."""
    rooms = scenes(split, samples=samples, size=16)
    noise = torch.randn(samples, 1, 16, 16, generator=torch.Generator().manual_seed(1))
    return replace(rooms, fields={**rooms.fields, "nuisance": noise})


def rooms() -> Recipe:
    """Geometry, colour and noise."""
    wanted = ("ab", "depth", "normal")
    return Recipe(
        data=partial(noisy_rooms, samples=300),
        views={**{name: VIEWS[name] for name in wanted}, "nuisance": partial(field, name="nuisance")},
        augment=partial(crop_and_flip, size=16, padding=1),
        encoders={name: partial(SmallConv, CHANNELS[name], width=8, dim=16) for name in wanted},
        graph=full_graph(list(wanted)),
    )
