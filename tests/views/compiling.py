"""Compiles an augmentation, checks that it says the same as before, and tells how many graphs that took."""

from functools import partial

import torch

from coview.views import colour_jitter, in_turn, rand_augment


def changed(augment, fields):
    """Augmented twice, by the same seed each time."""
    generator = torch.Generator().manual_seed(5)
    return [augment(fields, generator) for _ in range(2)]


if __name__ == "__main__":
    torch.set_num_threads(1)
    fields = {"rgb": torch.randint(256, (4, 3, 21, 30), dtype=torch.uint8), "depth": torch.rand(4, 1, 21, 30)}
    augment = partial(in_turn, crop=partial(rand_augment, size=9), jitter=partial(colour_jitter, hue=0.03))
    compiled = torch.compile(augment, backend="aot_eager")
    for found, wanted in zip(changed(compiled, fields), changed(augment, fields), strict=True):
        for field in fields:
            torch.testing.assert_close(found[field], wanted[field])
    print(torch._dynamo.utils.counters["stats"]["unique_graphs"])
