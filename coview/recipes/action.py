"""Clips by what is done in them: an encoder fine-tuned on single frames, and clips found among others."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from coview.data.video import Clips, Takes
from coview.probes.action import ActionNet, FineTuning, average_scores, clip_retrieval, fine_tune, shares
from coview.probes.layers import layer_features, mode
from coview.recipes.measure import as_trained, count_classes, fastest_device
from coview.training import Recipe
from coview.training.loop import epoch_order
from coview.types import Fields, Sample
from coview.views import augmented, stand_still, ten_crops

BATCH = 64  # clips that are looked at together


def recognise(
    encoder: nn.Module,
    recipe: Recipe,
    splits: Mapping[str, Any],
    *,
    view: str = "frame",
    layer: str = "conv5",
    tuning: FineTuning = FineTuning(),
    frames: int = 25,
    crops: int = 10,
    seed: int = 0,
) -> float:
    """Percent of the test clips recognised from `frames` x `crops` looks by a network trained from the encoder on.

    One crop is that of probes, ten are the corners and the middle with their mirror images.
    """
    if crops not in (1, 10):
        raise ValueError(f"a frame is looked at by 1 or 10 crops, got {crops}")
    device = fastest_device()
    train, test = (_frames_alone(splits[split], view).to(device) for split in ("train", "test"))
    torch.manual_seed(seed)
    with as_trained(recipe, device):
        first = recipe.views[view](
            stand_still(train.fetch(torch.arange(min(2, len(train)))), recipe.still).fields
        )
        encoder = encoder.to(device)
        with mode([encoder], training=False):
            network = ActionNet(encoder, first, layer=layer, classes=count_classes(train), tuning=tuning)
        network.to(device)
        batches = partial(_batches, train, recipe, view, tuning, seed)
        fine_tune(network, batches, tuning, steps=max(len(train) // tuning.batch, 1))
        right = list(_judged(network, recipe, test, view, frames, crops))
    return 100 * torch.cat(right).float().mean().item()


def found_again(
    encoder: nn.Module,
    recipe: Recipe,
    splits: Mapping[str, Any],
    *,
    view: str = "frame",
    layer: str = "conv5",
    looks: int = 10,
) -> dict[int, float]:
    """R@1, 5, 10: test clips whose class is among their nearest training clips, by features averaged over looks."""
    device = fastest_device()
    encoder.to(device)
    said = []
    for split in ("test", "train"):
        data = _frames_alone(splits[split], view).to(device)
        with as_trained(recipe, device):
            said += _averaged(encoder, recipe, data, view, layer, looks)
    return clip_retrieval(*said)


def _frames_alone(data: Clips, view: str) -> Clips:
    """The same clips, of which only what a view needs is taken; other views of frames take frame t."""
    return replace(data, takes=Takes(rgb=(0,), flow=())) if view == "frame" else data


def _batches(
    data: Clips, recipe: Recipe, view: str, tuning: FineTuning, seed: int, epoch: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Clips at random moments, augmented as in training."""
    generator = torch.Generator(data.device).manual_seed(seed * 1_000_003 + epoch)
    for sample in data.epoch(epoch_order(len(data), tuning.batch, seed, epoch)):
        assert sample.label is not None
        yield recipe.views[view](augmented(sample, recipe.augment, generator).fields), sample.label


def _judged(
    network: nn.Module, recipe: Recipe, data: Clips, view: str, frames: int, crops: int
) -> Iterator[Tensor]:
    """Whether clips are recognised, some clips at a time."""
    for index in torch.arange(len(data)).split(BATCH):
        samples = list(_looks(data, index, frames))
        label = samples[0].label
        assert label is not None
        looks = (recipe.views[view](fields) for sample in samples for fields in _crops(sample, recipe, crops))
        yield average_scores(network, looks).argmax(1) == label


def _looks(data: Clips, index: Tensor, looks: int) -> Iterator[Sample]:
    return data.at((index, torch.full((len(index),), share)) for share in shares(looks))


def _crops(sample: Sample, recipe: Recipe, crops: int) -> Iterator[Fields]:
    still = stand_still(sample, recipe.still).fields
    size = next(iter(still.values())).shape[-1]
    if crops == 1:
        yield still
    else:
        yield from ten_crops(sample.fields, size=size)


@torch.no_grad()
def _averaged(
    encoder: nn.Module, recipe: Recipe, data: Clips, view: str, layer: str, looks: int
) -> tuple[Tensor, Tensor]:
    """Features of every clip, averaged over moments, and labels."""
    found, label = [], []
    with mode([encoder], training=False):
        for index in torch.arange(len(data)).split(BATCH):
            samples = list(_looks(data, index, looks))
            said = [
                layer_features(
                    encoder, recipe.views[view](stand_still(sample, recipe.still).fields), layer
                ).float()
                for sample in samples
            ]
            found.append(torch.stack(said).mean(0))
            assert samples[0].label is not None
            label.append(samples[0].label)
    return torch.cat(found), torch.cat(label)
