"""Hooks of the docs site: which pages there are, pages for the examples and the modules, links out of this folder."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

HERE = Path(__file__).parent
NAV: list[tuple[str, str | list[tuple[str, str]]]] = [
    ("Start", "index.md"),
    ("Your own data", "your-data.md"),
    ("After training", "trained.md"),
    ("scikit-learn", "estimator.md"),
    (
        "The method",
        [
            ("From the paper to the code", "method.md"),
            ("Adding your own", "adding.md"),
            ("Information", "information.md"),
            ("Several processes", "scale.md"),
            ("The house", "design.md"),
        ],
    ),
    (
        "Recipes and data",
        [
            ("Recipes", "recipes.md"),
            ("Studies", "studies.md"),
            ("Image sets", "images.md"),
            ("Frames with depth", "rgbd.md"),
            ("Clips", "video.md"),
        ],
    ),
    ("Performance", "performance.md"),
    ("Reliability", "reliability.md"),
    ("Questions", "faq.md"),
]
MODULES = {
    "contrast": "The method: pair graphs, critics, negatives, losses",
    "training": "Recipes, training, run folders",
    "encoders": "Encoders",
    "views": "Views and augmentation",
    "data": "Datasets",
    "data.own": "Your own data",
    "probes": "Probes",
    "information": "Information",
    "predictive": "Prediction",
    "trained": "Embed, search, export",
    "estimator": "The scikit-learn estimator",
    "types": "The nouns",
}


def on_config(config: Any) -> Any:
    """The pages that are there, in order."""
    nav: list[dict[str, Any]] = []
    known = set()
    for title, place in NAV:
        inside = place if isinstance(place, list) else [(title, place)]
        there = [(name, page) for name, page in inside if (HERE / page).is_file()]
        known |= {page for _, page in there}
        if isinstance(place, list):
            nav.append({title: [{name: page} for name, page in there]})
        else:
            nav += [{name: page} for name, page in there]
    others = sorted(page.name for page in HERE.glob("*.md") if page.name not in known)
    if others:  # a new page is found without being named here
        nav.append({"More": others})
    nav.append({"Examples": [f"examples/{path.stem}.md" for path in _examples()]})
    nav.append({"API": [{title: f"api/{name}.md"} for name, title in _modules().items()]})
    config.nav = nav
    return config


def on_files(files: Files, config: Any) -> Files:
    """A page for each example and each module."""
    for path in _examples():
        text = f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
        files.append(File.generated(config, f"examples/{path.stem}.md", content=text))
    for name, title in _modules().items():
        files.append(File.generated(config, f"api/{name}.md", content=f"# {title}\n\n::: coview.{name}\n"))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links that lead out of this folder: to the examples' pages, else the name of the file alone."""
    return re.sub(r"\[([^\]]+)\]\(\.\./([^)\s]+)\)", _link, markdown)


def _link(found: re.Match[str]) -> str:
    words, path = found.group(1), PurePosixPath(found.group(2))
    if path.parts[0] == "examples":
        stem = path.stem if path.suffix == ".py" else _examples()[0].stem
        return f"[{words}](examples/{stem}.md)"
    if path.name == "README.md":
        return f"[{words}](index.md)"
    return words if words.startswith("`") else f"{words} (`{path}`)"


def _examples() -> list[Path]:
    return sorted((HERE.parent / "examples").glob("*.py"))


def _modules() -> dict[str, str]:
    """Those of the modules that are there."""
    package = HERE.parent / "coview"
    paths = {name: package.joinpath(*name.split(".")) for name in MODULES}
    there = {name for name, path in paths.items() if path.is_dir() or path.with_suffix(".py").is_file()}
    return {name: title for name, title in MODULES.items() if name in there}
