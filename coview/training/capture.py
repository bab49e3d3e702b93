"""Steps, one by one or as a CUDA graph: recorded once, then launched whole, so that the GPU never waits for Python."""

import gc
import warnings

import torch
from torch import Tensor

from coview.training.progress import Seen
from coview.training.state import Training
from coview.training.step import step
from coview.types import Fields, Sample

BEFORE = (
    3  # steps taken one by one first: what is allocated, compiled or chosen once must not be in the recording
)


class Steps:
    """Takes steps; on CUDA it records one as soon as that is safe, and from then on replays it."""

    def __init__(self, training: Training) -> None:
        self.training, self.taken = training, 0
        self.recording: _Recording | None = None
        self.hindrance: str | None = None  # why steps are taken one by one

    def __call__(self, sample: Sample) -> Seen:
        if self.recording is None and self.taken >= BEFORE:
            self.hindrance = self.hindrance_now(sample)
            if self.hindrance is None:
                self._record(sample)
        if self.recording is not None and self.recording.fits(sample):
            return self.recording.replay(sample)
        self.taken += 1
        return step(self.training, sample)

    def hindrance_now(self, sample: Sample) -> str | None:
        """What keeps a step from being recorded: anything in it for which the host looks at the data, or waits."""
        training = self.training
        looks = training.objective.hindrance
        reasons = {
            "capture=false": not training.recipe.capture,
            "there is no CUDA": training.fabric.device.type != "cuda",
            "there are several processes": training.fabric.world_size > 1,
            "samples may lack a view": sample.present is not None,
            str(looks): looks is not None,
            "it could not be recorded": self.hindrance == "it could not be recorded",
        }
        return next((reason for reason, holds in reasons.items() if holds), None)

    def _record(self, sample: Sample) -> None:
        try:
            self.recording = _Recording(self.training, sample)
        except RuntimeError as error:
            self.hindrance = "it could not be recorded"
            self.training.optimiser.zero_grad(set_to_none=True)
            reason = " ".join(str(error).split())[:200]
            warnings.warn(
                f"the step cannot be recorded as a CUDA graph and runs without ({reason}); capture=false says so",
                stacklevel=2,
            )


class _Recording:
    """A step whose kernels always read and write the same places."""

    def __init__(self, training: Training, sample: Sample) -> None:
        second = None if sample.second is None else _copied(sample.second)
        self.place = Sample(_copied(sample.fields), sample.index.clone(), second=second)
        self.graph = torch.cuda.CUDAGraph()
        training.optimiser.zero_grad(set_to_none=True)  # gradients are to live in the recording
        gc.collect()
        groups = training.optimiser.param_groups
        draws = torch.cuda.default_generators[training.fabric.device.index or 0]
        before = draws.clone_state()
        try:
            for group in groups:
                group["capturable"] = True
            # Other threads may fetch the next batch meanwhile.
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self.seen = step(training, self.place)
        except RuntimeError:
            draws.graphsafe_set_state(before)  # or it would go on waiting for the end of the recording
            raise
        finally:
            for group in groups:
                group["capturable"] = False

    def fits(self, sample: Sample) -> bool:
        """Whether the sample can be put where the recording looks."""
        return sample.present is None and _form(sample) == _form(self.place)

    def replay(self, sample: Sample) -> Seen:
        for place, values in zip(_tensors(self.place), _tensors(sample), strict=True):
            place.copy_(values)
        self.graph.replay()
        return self.seen.kept()


def _form(sample: Sample) -> list[tuple[str, torch.Size, torch.dtype]]:
    names = [*sample.fields, "", *(sample.second or {})]
    return [(name, one.shape, one.dtype) for name, one in zip(names, _tensors(sample), strict=True)]


def _tensors(sample: Sample) -> list[Tensor]:
    return [*sample.fields.values(), sample.index, *(sample.second or {}).values()]


def _copied(fields: Fields) -> Fields:
    return {name: values.clone() for name, values in fields.items()}
