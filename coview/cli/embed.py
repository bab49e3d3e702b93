"""`coview embed` and `coview search`: what trained encoders say of samples, and which samples they find alike."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from coview.data import Dataset
from coview.reports.tables import Table
from coview.trained import Embedded, Model, embed, load_embedded, open_model, save_embedded, search
from coview.trained.embed import check_file
from coview.trained.search import encode_file, encoded_sample

SPLITS = ("train", "test")


def embed_run(run: Path, data: str | None, out: Path, views: list[str], layer: str, console: Console) -> None:
    """Write the embeddings of a split, or of files of your own."""
    check_file(out)
    model = open_model(run)
    for name in views:
        model.check_view(name)
    found = embedded(model, data, views=views, layer=layer)
    save_embedded(found, out)
    total = len(found.samples)
    counts = {name: int(have.sum()) for name, have in found.present.items()}
    rows = tuple((name, n, total - n, found.views[name].shape[1]) for name, n in counts.items())
    console.print(Table(f"{total:,} samples embedded", ("view", "there", "missing", "numbers"), rows).rich())
    console.print(Text(f"Written: {out}"), soft_wrap=True)


def embedded(model: Model, data: str | None, *, views: list[str], layer: str = "embedding") -> Embedded:
    """The embeddings of a place, of a split, or where nothing is said of everything that the run's files hold."""
    names, found = _samples(model, data)
    return embed(model, found, names, layer=layer, views=views)


def _samples(model: Model, data: str | None) -> tuple[tuple[str, ...], Dataset]:
    if data is None and model.place is None and model.data is None:
        raise ValueError(f"{model.name} was exported without data: name a folder, a table or arrays")
    if data is not None and data not in SPLITS:
        return model.read(Path(data))
    if model.place is not None:
        return model.read(model.place, data or "all")
    if model.data is None:
        raise ValueError(
            f"{model.name} was exported without data: '{data}' should be a folder, a table or arrays"
        )
    found = model.data(data or "train")
    return tuple(map(str, range(len(found)))), found


def search_run(
    run: Path,
    query: str,
    view: str,
    target: str,
    *,
    data: str | None,
    embeddings: Path | None,
    count: int,
    faiss: bool,
) -> Table:
    """The samples that are nearest in one view to a file, or to another sample, in another view."""
    model = open_model(run)
    for name in (view, target):
        model.check_view(name)
    file = Path(query) if Path(query).is_file() else None
    views = [target] if file is not None or view == target else [target, view]
    found = load_embedded(embeddings) if embeddings is not None else embedded(model, data, views=views)
    asked = encoded_sample(found, query, view) if file is None else encode_file(model, file, view)
    hits = search(asked, found, target, count=count, faiss=faiss)
    labelled = found.label is not None
    columns = ("sample", "cosine", *(("label",) if labelled else ()))
    rows = tuple((hit.sample, f"{hit.cosine:.3f}", *((hit.label,) if labelled else ())) for hit in hits)
    note = f"{int(found.present[target].sum()):,} samples to choose from"
    return Table(f"{view} of {Path(query).name} in {target}", columns, rows, note)
