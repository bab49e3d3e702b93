"""Hooks of the docs site: which pages there are, those made of recipes, results, examples and modules, links."""

import ast
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
            ("Results", "results.md"),
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
        there = [(name, page) for name, page in inside if page in MADE or (HERE / page).is_file()]
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
    for name, make in MADE.items():
        files.append(File.generated(config, name, content=make()))
    for path in _examples():
        text = f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
        files.append(File.generated(config, f"examples/{path.stem}.md", content=text))
    for name, title in _modules().items():
        files.append(File.generated(config, f"api/{name}.md", content=f"# {title}\n\n::: coview.{name}\n"))
    return files


def recipes() -> str:
    """Every module of recipes: what it claims, and the names in it."""
    parts = [
        "# Recipes\n\nTrain one with `coview train NAME`, look at it with `coview show NAME`, change it with `--set`. "
        "What has been measured is under [results](results.md)."
    ]
    for path in sorted((HERE.parent / "coview" / "recipes").glob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        rows = [f"| `{one.name}` | {_first_line(one)} |" for one in module.body if _is_recipe(one)]
        if rows:
            title, _, more = (ast.get_docstring(module) or path.stem).partition("\n")
            table = "\n".join(["| recipe | what it is |", "|---|---|", *rows])
            parts.append(f"## {path.stem}\n\n{title}\n\n{_claims(more)}\n\n{table}")
    return "\n\n".join(parts) + "\n"


def results() -> str:
    """The tables in results/, as the runs wrote them."""
    parts = ["# Results\n\nEvery table was written by the command or script that it names, from runs."]
    for path in sorted((HERE.parent / "results").glob("*/table.md")):
        table = re.sub(r"^#+ ", "### ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        parts.append(f"## {path.parent.name}\n\n{_without_pictures(table)}")
    return "\n\n".join(parts) + "\n"


MADE = {"recipes.md": recipes, "results.md": results}


def _claims(text: str) -> str:
    """`Claim: ...` and the like as a list, whose lines may go on; what stands below it as it is."""
    return re.sub(r"^(\w+):\s+(.*(?:\n[ ]+.*)*)", _claim, text.strip(), flags=re.MULTILINE)


def _claim(found: re.Match[str]) -> str:
    return f"- **{found[1]}**: {' '.join(found[2].split())}"


def _is_recipe(node: ast.stmt) -> bool:
    """A public function that returns a recipe, and can be called with nothing."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") or node.returns is None:
        return False
    return ast.unparse(node.returns) == "Recipe" and len(node.args.args) == len(node.args.defaults)


def _first_line(node: ast.stmt) -> str:
    words = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
    return " ".join((words or "").partition("\n\n")[0].split()).replace("|", "\\|")


def _without_pictures(text: str) -> str:
    return re.sub(r"!\[[^\]]*\]\([^)]*\)\n?", "", text).strip()


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
