"""Frames, neighbouring frames and optical flow as views of a clip, and another camera where there is one.

Claim: the ventral (i_t, i_t+k) and the dorsal stream (i_t, f_t) together teach the encoder of frames more about actions
than each alone: 59.1 against 55.3 and 57.1 % on UCF101 (section 4.2, table 2).
"""

from dataclasses import replace
from functools import partial

from coview.contrast import CosineCritic, core_graph
from coview.encoders import SameAs
from coview.recipes.clip_sets import BATCH, clip_set
from coview.training import Recipe, apart, in_batch
from coview.views import flow_stack, frame

VIEWS = {
    "frame": partial(frame, name="rgb", at=0),
    "later": partial(frame, name="rgb", at=1),
    "flow": partial(flow_stack, name="flow", pixels=5.0),
    "camera": partial(frame, name="second", at=0),
}


def video_ventral_dorsal(data_name: str = "ucf101") -> Recipe:
    """V+D: a frame against a later one and against the flow around it."""
    return _streams(data_name, ["later", "flow"])


def video_ventral(data_name: str = "ucf101") -> Recipe:
    """V: a frame against a later one of its clip, by one encoder."""
    return _streams(data_name, ["later"])


def video_dorsal(data_name: str = "ucf101") -> Recipe:
    """D: a frame against the flow around it."""
    return _streams(data_name, ["flow"])


def video_camera(data_name: str = "two-camera") -> Recipe:
    """V+D and a second camera, whose frame at the same time is encoded like the first's."""
    found = clip_set(data_name)
    if not found.second:
        raise ValueError(
            f"the clips of {data_name} have one camera: wanted are first/ and second/ in one folder"
        )
    base = _streams(data_name, ["later", "flow", "camera"])
    return replace(base, data=found.data(second=True))


def _streams(data_name: str, targets: list[str]) -> Recipe:
    """A frame against each of some views; what shows frames shares one encoder."""
    found = clip_set(data_name)
    own = {"frame": found.encoder(3), "flow": found.encoder(2 * found.stack)}
    names = ["frame", *targets]
    return Recipe(
        data=found.data(),
        views={name: VIEWS[name] for name in names},
        encoders={name: own.get(name, SameAs("frame")) for name in names},
        graph=core_graph("frame", targets),
        augment=found.augment(),
        still=found.still(),
        critic=partial(CosineCritic, temperature=0.07),
        negatives=in_batch,
        objective=apart,
        epochs=found.epochs,
        batch_size=BATCH,
        learning_rate=0.03,
        save_every=max(found.epochs // 20, 1),
        probe_layer="conv5",
    )
