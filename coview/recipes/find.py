"""Recipes by name: those that ship, and those in a file of the user's."""

import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import coview.recipes
from coview.data import Dataset, packed
from coview.data.shards import has_shards, is_remote
from coview.names import did_you_mean
from coview.training import Recipe, override

Maker = Callable[..., Recipe]

DATA = "data_name"  # what the parameter of a recipe is called that can learn from several data sets
_WITH_DATA = re.compile(r"(?P<maker>.*?\.py:\w+|\w+)@(?P<data>.+)")


def shipped_recipes() -> dict[str, Maker]:
    """Every public function of the modules here that returns a recipe, and needs nothing for it."""
    modules = (
        importlib.import_module(f"coview.recipes.{m.name}")
        for m in pkgutil.iter_modules(coview.recipes.__path__)
    )
    return {name: make for module in modules for name, make in recipes_in(module).items()}


def recipes_in(module: ModuleType) -> dict[str, Maker]:
    """The recipes that a module defines itself."""
    return {one.__name__: one for one in functions_of(module) if returns(one, Recipe, given=[DATA])}


def functions_of(module: ModuleType) -> list[Callable[..., Any]]:
    """The functions that a module defines itself."""
    return [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]


def find_recipe(name: str, settings: Sequence[str] = ()) -> tuple[Recipe, dict[str, Any]]:
    """The recipe called `demo` or `my_file.py:my_recipe`, with settings, and what it takes to find it again.

    One that can learn from several data sets is named with the one it is to be fitted to: `stl10_nce@cifar10`. Any
    other can take its data from shards that `coview pack` wrote: `demo@packed/rooms`.
    """
    make, data = find_maker(name), _data_of(name)
    signature = inspect.signature(make)
    if data and DATA not in signature.parameters:
        if has_shards(data[DATA]):
            recipe, origin = find_recipe(_parts(name)[0], settings)
            recipe = replace(recipe, data=partial(packed, root=data[DATA]))
            return recipe, {**origin, "recipe": _from_anywhere(name)}
        raise ValueError(f"{name}: this recipe has data of its own, and is not fitted to others")
    try:
        signature.bind(**data)
    except TypeError as error:
        raise ValueError(
            f"{name} must be a function that takes nothing and returns a recipe: {error}"
        ) from error
    recipe = make(**data)
    if not isinstance(recipe, Recipe):
        raise ValueError(f"{name} must return a coview.training.Recipe, got a {type(recipe).__name__}")
    return override(recipe, settings), {"recipe": _from_anywhere(name), "settings": list(settings)}


def beside_run(origin: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The origin of a run whose recipe lies in its folder, named from there: the folder may be moved."""
    path, separator, function = origin["recipe"].rpartition(":")
    inside = bool(separator) and Path(path).parent == folder.expanduser().resolve()
    return {**origin, "recipe": f"{Path(path).name}:{function}"} if inside else origin


def find_data(name: str, settings: Sequence[str] = ()) -> Callable[[str], Dataset]:
    """The data of a recipe by split; or a function of yours from a split to a dataset, `my_file.py:my_data`."""
    make = find_maker(name)
    needed = [one for one in inspect.signature(make).parameters.values() if one.default is one.empty]
    if [one.name for one in needed] != ["split"]:
        return find_recipe(name, settings)[0].data
    if settings:
        raise ValueError(f"{name} is a function of a split, and has nothing to set: --set is for recipes")
    return make


def find_maker(name: str) -> Callable[..., Any]:
    """The function behind a recipe's name, for its docstring."""
    name, _ = _parts(name)
    return load_function(name, Recipe) if ".py:" in name or name.endswith(".py") else _shipped(name)


def _parts(name: str) -> tuple[str, str | None]:
    """The name of a recipe's function, and what stands behind an @, a folder by its whole path."""
    found = _WITH_DATA.fullmatch(name)
    if found is None:
        return name, None
    data = found["data"]
    here = not is_remote(data) and (is_path(data) or has_shards(data))
    return found["maker"], str(Path(data).expanduser().resolve()) if here else data


def _data_of(name: str) -> dict[str, str]:
    """What a recipe's function is to be called with."""
    _, data = _parts(name)
    return {} if data is None else {DATA: data}


def _from_anywhere(name: str) -> str:
    """The name with the whole paths of its file and data, so that a run can be opened from another folder."""
    maker, data = _parts(name)
    path, separator, function = maker.rpartition(":")
    if separator:
        maker = f"{Path(path).expanduser().resolve()}:{function}"
    return maker if data is None else f"{maker}@{data}"


def is_path(data: str) -> bool:
    """Whether data are named by their folder."""
    return os.sep in data or data.startswith(("~", "."))


def returns(function: Callable[..., Any], kind: type, *, given: Sequence[str] = ()) -> bool:
    """Whether a public function says that it returns such a thing, and needs nothing but what may be given."""
    signature = inspect.signature(function)
    known = all(name in given and one.default is not one.empty for name, one in signature.parameters.items())
    public = not function.__name__.startswith("_")
    return public and known and signature.return_annotation in (kind, kind.__name__)


def _shipped(name: str) -> Maker:
    if name == "mine":
        raise ValueError(
            "'mine' is made from your data: `coview init DIR` writes it as a file, my_recipe.py:mine"
        )
    known = shipped_recipes()
    if name not in known:
        near = did_you_mean(name, [*known, "mine"])
        raise ValueError(f"no recipe '{name}'{near}; `coview list` names all, my_file.py:my_recipe is yours")
    return known[name]


def load_function(name: str, kind: type) -> Callable[..., Any]:
    """The function called `my_file.py:my_function`, which is to return such a thing."""
    path_text, separator, function = name.rpartition(":")
    what = kind.__name__.lower()
    if not separator or not path_text.endswith(".py"):
        raise ValueError(f"a {what} of your own is my_file.py:my_{what}, got '{name}'")
    path = Path(path_text).expanduser().resolve()
    if not path.is_file():
        raise FileNotFoundError(f"no file {path_text} (looked for {path})")
    module = _load(path)
    found = getattr(module, function, None)
    if not callable(found):
        known = [one.__name__ for one in functions_of(module) if returns(one, kind, given=[DATA])]
        raise ValueError(
            f"{path_text} has no function '{function}'{did_you_mean(function, known)}; "
            f"it has {known or f'none that gives a {kind.__name__}'}"
        )
    return found


def _load(path: Path) -> ModuleType:
    name = path.stem
    if name in sys.stdlib_module_names or getattr(sys.modules.get(name), "__file__", str(path)) != str(path):
        name = f"recipe_{name}"  # others must go on finding theirs
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that what it defines can be found by name
    sys.path.insert(0, str(path.parent))  # and its neighbours imported
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
