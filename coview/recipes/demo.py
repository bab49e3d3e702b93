"""Four views of rendered rooms, contrasted all with all: the method at a size for two CPU cores.

Claim: contrast alone teaches each encoder what room it sees, far above a random encoder (section 4.3 in small).
"""

from dataclasses import replace
from functools import partial

from coview.contrast import Bank, NCELoss, PairGraph, core_graph, full_graph, patch_graph
from coview.contrast.critic import CosineCritic
from coview.data import Resident
from coview.data.scenes import scenes
from coview.encoders import SmallConv, with_cells
from coview.training import Recipe, patches, split_brain
from coview.views import chroma, crop_and_flip, depth, lightness, normal

VIEWS = {"L": lightness, "ab": chroma, "depth": depth, "normal": normal}
CHANNELS = {"L": 1, "ab": 2, "depth": 1, "normal": 3}


def rooms(split: str, *, train: int = 2560, test: int = 1000, size: int = 64, seed: int = 0) -> Resident:
    """Rendered rooms; those to test on are others than those to train on."""
    return scenes(split, samples=train if split == "train" else test, size=size, seed=seed)


def demo() -> Recipe:
    """The full graph over four views, each anchor choosing among the whole memory."""
    return Recipe(
        data=partial(rooms, train=2560, test=1000, size=64, seed=0),
        views=VIEWS,
        augment=partial(crop_and_flip, size=64, padding=6),
        encoders={
            name: partial(SmallConv, channels=channels, width=24, dim=64)
            for name, channels in CHANNELS.items()
        },
        graph=full_graph(list(VIEWS)),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw="all", momentum=0.5, start="empty"),
        epochs=16,
        batch_size=128,
        optimiser="adamw",
        learning_rate=2e-3,
        weight_decay=1e-2,
        warmup=1.0,
        probe_layer="fc",
    )


def demo_core() -> Recipe:
    """The core view: L against each of the others, who are not contrasted among themselves (equation 7)."""
    return replace(demo(), graph=core_graph("L", ["ab", "depth", "normal"]))


def demo_sampled() -> Recipe:
    """As the paper trains: every anchor draws its own 512 negatives from memory (section 3.4)."""
    bank = partial(Bank, draw=512, shared=False, momentum=0.5, start="random")
    return replace(demo(), negatives=bank)


def demo_nce() -> Recipe:
    """Noise-contrastive estimation in place of the softmax, with a running normaliser (appendix B.1)."""
    return replace(demo_sampled(), loss=partial(NCELoss, normaliser="running"))


def demo_two() -> Recipe:
    """The two colour views alone: the paper's ImageNet setting in small."""
    everything = demo()
    colours = ("L", "ab")
    return replace(
        everything,
        views={name: everything.views[name] for name in colours},
        encoders={name: everything.encoders[name] for name in colours},
        graph=PairGraph([colours]),
    )


def demo_patches() -> Recipe:
    """Each colour view as a whole against cells of the other's early maps, within the batch (appendix B.2)."""
    two, layers = demo_two(), ("conv2", "conv3")
    encoders = {
        name: partial(with_cells, make=make, layers=layers, dim=64) for name, make in two.encoders.items()
    }
    graph = patch_graph(list(encoders), layers)
    return replace(two, encoders=encoders, graph=graph, negatives=partial(patches, same_image=False))


def demo_predictive() -> Recipe:
    """Split-Brain in place of contrast: each colour view predicts the other's quantised values (section 3.1)."""
    return replace(demo_two(), objective=split_brain)


def demo_gaps() -> Recipe:
    """Half of the rooms lack depth, another half normals: every pair learns from the samples that have it."""
    return replace(demo(), data=partial(rooms_with_gaps, share=0.5, train=2560, test=1000, size=64, seed=0))


def rooms_with_gaps(split: str, *, share: float = 0.5, **rest: int) -> Resident:
    """Rooms of which a share of the training samples lacks depth, and another draw of that share normals."""
    import torch

    data = rooms(split, **rest)
    if split != "train":
        return data
    generator = torch.Generator().manual_seed(rest.get("seed", 0))
    present = {view: torch.rand(len(data), generator=generator) >= share for view in ("depth", "normal")}
    return replace(data, present=present)
