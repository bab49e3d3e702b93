"""What a run is made of, as one frozen value that can be shown, changed by name and written down."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any, get_args, get_type_hints

from torch import nn

from coview.contrast import (
    Bank,
    CosineCritic,
    Critic,
    InBatch,
    Negatives,
    Objective,
    PairGraph,
    Patches,
    Queue,
    softmax_loss,
)
from coview.contrast.objective import Loss
from coview.data import Dataset
from coview.encoders import SameAs
from coview.names import did_you_mean
from coview.types import Augment, Present, Still, View

PLAIN = (int, float, str, bool, tuple, type(None))


def softmax(samples: int) -> Loss:
    """The softmax; it needs to know nothing of the dataset. NCELoss is the other choice."""
    return softmax_loss


def queue(
    views: Sequence[str],
    samples: int,
    dim: int,
    *,
    present: Present | None = None,
    size: int = 4096,
    precision: str = "auto",
) -> Negatives:
    """Negatives from a queue; it learns from each batch what is missing."""
    return Queue(views, size, dim, precision=precision)


def in_batch(views: Sequence[str], samples: int, dim: int, *, present: Present | None = None) -> Negatives:
    """Negatives from the batch."""
    return InBatch()


def patches(
    views: Sequence[str],
    samples: int,
    dim: int,
    *,
    present: Present | None = None,
    same_image: bool = False,
) -> Negatives:
    """Negatives from the batch, cells among them: for graphs of `patch_graph`."""
    return Patches(same_image)


def contrast(recipe: "Recipe", data: Dataset, dim: int) -> nn.Module:
    """The method: the recipe's critic, negatives and loss on the pairs of its graph."""
    negatives = recipe.negatives(list(recipe.graph.targets), len(data), dim, present=data.present)
    return Objective(recipe.graph, recipe.critic(), negatives, recipe.loss(len(data)))


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Parts as functions that make them, numbers as they are; a variant is `replace(recipe, field=...)`.

    A part that is a `functools.partial` shows its keywords and lets them be set: `critic.temperature=0.2`.
    """

    data: Callable[[str], Dataset]  # split ("train", "test") -> dataset
    views: Mapping[str, View]
    encoders: Mapping[str, Callable[[], nn.Module]]
    graph: PairGraph
    augment: Augment | None = None
    still: Still | None = None  # in place of `augment` where nothing is to be random: probes, contact sheets
    critic: Callable[[], Critic] = partial(CosineCritic, temperature=0.07)
    negatives: Callable[..., Negatives] = partial(
        Bank, draw="all", momentum=0.5
    )  # called with views, samples, dim, present=
    loss: Callable[[int], Loss] = softmax
    objective: Callable[["Recipe", Dataset, int], nn.Module] = (
        contrast  # called with this, data, embedding size
    )

    slow: float | None = None  # momentum of copies of the encoders that follow them and make the keys (MoCo)
    key_groups: int | None = None  # in which slow copies shuffle a batch; None: they use running statistics
    crops: int = 1  # 2: keys are made of another crop than anchors

    epochs: int = 100
    steps: int | None = None  # stop after so many, whatever epochs says
    batch_size: int = 128
    optimiser: str = "sgd"  # or adam, adamw
    learning_rate: float = 0.03
    momentum: float = 0.9  # of SGD; the first beta of Adam
    weight_decay: float = 1e-4
    schedule: str = "cosine"  # or constant, step
    milestones: tuple[int, ...] = ()  # epochs at which "step" multiplies the learning rate by `decay`
    decay: float = 0.1
    warmup: float = 0.0  # epochs over which the learning rate rises from 0
    clip: float | None = None  # largest norm of the gradient
    precision: str = "auto"  # bf16-mixed on CUDA, 32-true elsewhere
    channels_last: bool = True  # weights of convolutions in the layout that matrix units read fastest
    batch_norm: str = "local"  # or synchronised: with the statistics of all processes' samples
    compile: bool = False  # encoders and views through torch.compile: a minute at the start, then faster
    capture: bool = (
        True  # on CUDA, the step as one CUDA graph as soon as nothing in it waits for a look at the data
    )
    seed: int = 0
    log_every: int = 10  # steps
    save_every: int = 1  # epochs
    probe_layer: str = "embedding"  # what probes look at by default
    probe_every: int | None = None  # epochs between looks at the encoders while they train

    def __post_init__(self) -> None:
        missing = [view for view in self.graph.views if view not in self.encoders]
        if missing:
            raise ValueError(
                f"the graph contrasts view '{missing[0]}', but only {', '.join(self.encoders)} have encoders"
                f"{did_you_mean(missing[0], self.encoders)}"
            )
        unseen = [view for view in self.encoders if view not in self.views]
        if unseen:
            raise ValueError(
                f"there is an encoder for view '{unseen[0]}', but the views are {', '.join(self.views)}"
                f"{did_you_mean(unseen[0], self.views)}"
            )
        _check_shared(self.encoders)
        _check_keys(self)
        if self.batch_norm not in ("local", "synchronised"):
            raise ValueError(f"batch_norm must be local or synchronised, got '{self.batch_norm}'")
        least = {"epochs": 1, "batch_size": 2, "log_every": 1, "save_every": 1, "probe_every": 1}
        for name, number in least.items():
            value = getattr(self, name)
            if value is not None and value < number:
                raise ValueError(f"{name} must be {number} or more, got {value}")


def _check_shared(encoders: Mapping[str, Callable[[], nn.Module]]) -> None:
    """Refuse a view that is to share the encoder of one that has none of its own."""
    own = [name for name, make in encoders.items() if not isinstance(make, SameAs)]
    for name, make in encoders.items():
        if isinstance(make, SameAs) and make.view not in own:
            raise ValueError(
                f"view '{name}' is to share the encoder of '{make.view}'{did_you_mean(make.view, own)}, "
                f"but encoders of their own have {', '.join(own) or 'none'}"
            )


def _check_keys(recipe: Recipe) -> None:
    """Refuse what says nothing sensible about how keys are made."""
    if recipe.slow is not None and not 0 <= recipe.slow < 1:
        raise ValueError(f"slow is a momentum from 0 to below 1, such as 0.99, got {recipe.slow}")
    if recipe.key_groups is not None and (recipe.slow is None or recipe.key_groups < 1):
        raise ValueError(
            "key_groups is into how many groups `slow` encoders shuffle a batch on each process: "
            f"got {recipe.key_groups} with slow={recipe.slow}"
        )
    if recipe.crops not in (1, 2):
        raise ValueError(f"crops must be 1 or 2, got {recipe.crops}")
    if recipe.crops == 2 and recipe.augment is None:
        raise ValueError("two crops of a sample are the same without an augmentation: give the recipe one")


def override(recipe: Recipe, settings: Sequence[str]) -> Recipe:
    """The recipe with `name=value` settings; a dot goes into a part, as in `encoders.L.width=32`."""
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not separator:
            raise ValueError(f"--set wants name=value, got '{setting}'")
        recipe = _set(recipe, name.strip().split("."), text, name.strip())
    return recipe


def describe(value: Any) -> Any:
    """A recipe or a part of one as plain values for JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: describe(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, partial):
        given = {f"argument{n + 1}": describe(argument) for n, argument in enumerate(value.args)}
        return {"call": _dotted(value.func), **given, **{k: describe(v) for k, v in value.keywords.items()}}
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, PairGraph):
        one_way = [[pair.anchor, pair.target, pair.weight] for pair in value.one_way]
        return {"edges": [list(edge) for edge in value.edges], **({"one way": one_way} if one_way else {})}
    return _dotted(value) if callable(value) else repr(value)


def _set(holder: Any, path: Sequence[str], text: str, name: str) -> Any:
    """The holder with what the path leads to replaced by the parsed text."""
    first, *rest = path
    inside = dict(_inside(holder))
    if first not in inside:
        where = f" of {'.'.join(name.split('.')[: -len(path)])}" if len(path) < len(name.split(".")) else ""
        offer = f"{did_you_mean(first, inside)}; there are {', '.join(inside)}" if inside else ""
        raise ValueError(f"no field '{first}'{where} to set in '{name}'{offer}")
    hint = get_type_hints(type(holder)).get(first) if is_dataclass(holder) else None
    new = _set(inside[first], rest, text, name) if rest else _parse(text, inside[first], name, hint)
    if isinstance(holder, partial):
        return partial(holder.func, *holder.args, **{**holder.keywords, first: new})
    if isinstance(holder, Mapping):
        return {**holder, first: new}
    return replace(holder, **{first: new})  # pyright: ignore[reportArgumentType]


def _inside(holder: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(holder, partial):
        yield from holder.keywords.items()
    elif isinstance(holder, Mapping):
        yield from holder.items()
    elif is_dataclass(holder):
        yield from ((field.name, getattr(holder, field.name)) for field in fields(holder))


def _parse(text: str, old: Any, name: str, hint: Any = None) -> Any:
    if not isinstance(old, PLAIN):
        parts = ", ".join(f"{name}.{key}" for key, value in _inside(old) if isinstance(value, PLAIN))
        raise ValueError(f"'{name}' is a part, not a value{f'; to be set in it: {parts}' if parts else ''}")
    try:
        new = {"true": True, "false": False, "none": None}.get(text.lower())
        new = new if text.lower() in ("true", "false", "none") else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        new = text
    choices = (
        tuple(one for one in (get_args(hint) or PLAIN) if isinstance(one, type))
        if old is None
        else (type(old),)
    )
    if float in choices and int not in choices and type(new) is int:
        new = float(new)
    if isinstance(old, tuple) and isinstance(new, list | int | float):
        new = tuple(new) if isinstance(new, list) else (new,)
    optional = type(None) in (get_args(hint) if hint is not None else ())
    fits = type(new) in choices or (new is None and optional) or name.endswith("draw")
    if not fits:
        wanted = " or ".join(one.__name__ for one in choices if one is not type(None))
        raise ValueError(f"'{name}' is {old!r}: wanted is {wanted}, got '{text}'")
    return new


def _dotted(value: Any) -> str:
    name = getattr(value, "__qualname__", type(value).__name__)
    return f"{getattr(value, '__module__', '')}.{name}".removeprefix("builtins.")
