"""Recipes by name: those that ship, and those in a file of the user's."""

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import coview.recipes
from coview.names import did_you_mean
from coview.training import Recipe, override

Maker = Callable[[], Recipe]


def shipped_recipes() -> dict[str, Maker]:
    """Every public function of the modules here that takes nothing and returns a recipe."""
    modules = (
        importlib.import_module(f"coview.recipes.{m.name}")
        for m in pkgutil.iter_modules(coview.recipes.__path__)
    )
    return {name: make for module in modules for name, make in recipes_in(module).items()}


def recipes_in(module: ModuleType) -> dict[str, Maker]:
    """The recipes that a module defines itself."""
    own = [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]
    return {f.__name__: f for f in own if _is_recipe(f)}


def find_recipe(name: str, settings: Sequence[str] = ()) -> tuple[Recipe, dict[str, Any]]:
    """The recipe called `demo` or `my_file.py:my_recipe`, with settings, and what it takes to find it again."""
    make = find_maker(name)
    try:
        inspect.signature(make).bind()
    except TypeError as error:
        raise ValueError(
            f"{name} must be a function that takes nothing and returns a recipe: {error}"
        ) from error
    recipe = make()
    if not isinstance(recipe, Recipe):
        raise ValueError(f"{name} must return a coview.training.Recipe, got a {type(recipe).__name__}")
    return override(recipe, settings), {"recipe": _from_anywhere(name), "settings": list(settings)}


def beside_run(origin: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The origin of a run whose recipe lies in its folder, named from there: the folder may be moved."""
    path, separator, function = origin["recipe"].rpartition(":")
    inside = bool(separator) and Path(path).parent == folder.expanduser().resolve()
    return {**origin, "recipe": f"{Path(path).name}:{function}"} if inside else origin


def find_maker(name: str) -> Callable[..., Any]:
    """The function behind a recipe's name, for its docstring."""
    return _from_file(name) if ".py" in name else _shipped(name)


def _from_anywhere(name: str) -> str:
    """The name with the whole path of its file, so that a run can be opened from another folder."""
    path, separator, function = name.rpartition(":")
    return f"{Path(path).expanduser().resolve()}{separator}{function}" if ".py" in name else name


def _is_recipe(function: Callable[..., Any]) -> bool:
    signature = inspect.signature(function)
    public = not function.__name__.startswith("_")
    return public and signature.return_annotation in (Recipe, "Recipe") and not signature.parameters


def _shipped(name: str) -> Maker:
    if name == "mine":
        raise ValueError(
            "'mine' is made from your data: `coview init DIR` writes it as a file, my_recipe.py:mine"
        )
    known = shipped_recipes()
    if name not in known:
        raise ValueError(
            f"no recipe '{name}'{did_you_mean(name, known)}; `coview list` names all, my_file.py:my_recipe is yours"
        )
    return known[name]


def _from_file(name: str) -> Callable[..., Any]:
    path_text, separator, function = name.rpartition(":")
    if not separator or not path_text.endswith(".py"):
        raise ValueError(f"a recipe of your own is my_file.py:my_recipe, got '{name}'")
    path = Path(path_text).expanduser().resolve()
    if not path.is_file():
        raise FileNotFoundError(f"no file {path_text} (looked for {path})")
    module = _load(path)
    found = getattr(module, function, None)
    if not callable(found):
        known = recipes_in(module)
        raise ValueError(
            f"{path_text} has no function '{function}'{did_you_mean(function, known)}; "
            f"it has {list(known) or 'no recipes'}"
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
