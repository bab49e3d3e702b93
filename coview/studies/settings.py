"""Settings of a run: a schedule's milestones and warmup keep their share of the epochs when those are set."""

from collections.abc import Iterator, Sequence

from coview.recipes.find import find_recipe
from coview.training import Recipe, override


def settle(name: str, settings: Sequence[str]) -> list[str]:
    """All that is to be set in the recipe of a name, in the order of `--set`, where some settings are wanted."""
    recipe, _ = find_recipe(name)
    written: list[str] = []
    for setting in settings:
        changed = override(recipe, [setting])
        for one in [setting, *_in_proportion(recipe, changed)]:
            recipe = override(recipe, [one])
            written.append(one)
    return written


def settle_where_there(name: str, settings: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Settings, and of those that are wanted of a whole study the ones that this recipe has."""
    taken = list(settings)
    for setting in wanted:
        try:
            settle(name, [*taken, setting])
        except ValueError:
            continue
        taken.append(setting)
    return taken


def _in_proportion(old: Recipe, new: Recipe) -> Iterator[str]:
    """What else is to be set where the number of epochs has changed."""
    share = new.epochs / old.epochs
    if share == 1:
        return
    if old.milestones:
        yield f"milestones={','.join(str(max(round(one * share), 1)) for one in old.milestones)}"
    if old.warmup:
        yield f"warmup={old.warmup * share:.6g}"
