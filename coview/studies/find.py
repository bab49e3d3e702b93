"""Studies by name: those that ship, and those in a file of the user's."""

import importlib
import pkgutil

import coview.studies
from coview.names import did_you_mean
from coview.recipes.find import functions_of, load_function, returns
from coview.studies.study import Study


def shipped_studies() -> dict[str, Study]:
    """Every study that a public function of the modules here makes from nothing."""
    names = [one.name for one in pkgutil.iter_modules(coview.studies.__path__)]
    modules = [importlib.import_module(f"coview.studies.{name}") for name in names]
    found = [make() for module in modules for make in functions_of(module) if returns(make, Study)]
    return {study.name: study for study in found}


def find_study(name: str) -> Study:
    """The study called `stl10-table`, or `my_file.py:my_study`."""
    if ".py" in name:
        study = load_function(name, Study)()
        if not isinstance(study, Study):
            raise ValueError(f"{name} must return a coview.studies.Study, got a {type(study).__name__}")
        return study
    known = shipped_studies()
    if name not in known:
        raise ValueError(
            f"no study '{name}'{did_you_mean(name, known)}; `coview reproduce` names all, my_file.py:my_study is yours"
        )
    return known[name]
