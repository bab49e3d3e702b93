"""Work for a CUDA device beside what it is busy with; on other devices it is simply done."""

from collections.abc import Callable

import torch
from torch import Tensor

from coview.types import Sample


class Beside:
    """A CUDA stream of its own for batches in the making; who uses one waits on the device, never the host."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        if self.stream is not None:  # labels may still be on their way
            self.stream.wait_stream(torch.cuda.current_stream(device))

    def make(self, sample: Callable[[], Sample | None]) -> tuple[Sample | None, torch.cuda.Event | None]:
        """Called by the thread that makes batches: a sample, and the event after which it may be used."""
        if self.stream is None:
            return sample(), None
        # nvJPEG writes on a stream of its own, perhaps to where the pictures of the last batch were.
        self.stream.synchronize()
        with torch.cuda.stream(self.stream):
            made, event = sample(), torch.cuda.Event()
            event.record()
        return made, event

    def arrive(self, sample: Sample, event: torch.cuda.Event | None) -> Sample:
        """Called by who uses the sample: from here on it belongs to the current stream."""
        if event is not None:
            current = torch.cuda.current_stream(self.device)
            current.wait_event(event)
            for tensor in _tensors(sample):
                tensor.record_stream(current)
        return sample


def _tensors(sample: Sample) -> list[Tensor]:
    label = [] if sample.label is None else [sample.label]
    return [sample.index, *sample.fields.values(), *(sample.present or {}).values(), *label]
