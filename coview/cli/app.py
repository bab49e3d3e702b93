"""The commands: each reads its arguments, calls the library, and shows what comes back."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

app = typer.Typer(
    help="Contrastive multiview coding: learn representations by contrasting views of the same thing.",
    epilog="Start with `coview demo`. Put --debug anywhere to see where an error comes from.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
console = Console()

RecipeName = Annotated[
    str, typer.Argument(metavar="RECIPE", help="A name from `coview list`, or my_file.py:my_recipe.")
]
MaterialName = Annotated[
    str, typer.Argument(metavar="DATA|RECIPE", help="A recipe, an image set, or a folder of pictures.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a field of the recipe, or of a part: critic.temperature=0.2.",
    ),
]


@app.command(epilog="Example: coview demo --run runs/demo")
def demo(
    run: Annotated[
        Path | None,
        typer.Option(help="The folder for the run and its report; runs/demo, or the next one free."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives another run, the same seed the same.")] = 0,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what the run folder holds.")] = False,
) -> None:
    """Train four views of rendered rooms in three minutes on two CPU cores, and report what they learned."""
    from coview.cli.demo import next_free, run_demo

    folder = run or (Path("runs/demo") if resume else next_free(Path("runs/demo")))
    run_demo(folder, seed, settings or [], console, resume=resume)


@app.command("list", epilog="Example: coview list")
def list_recipes() -> None:
    """Name the recipes that ship, each with what it shows."""
    from coview.recipes.find import shipped_recipes

    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, make in shipped_recipes().items():
        grid.add_row(Text(name, style="bold"), Text(_first_line(make)))
    console.print(grid)


@app.command(epilog="Example: coview show demo --set epochs=2")
def show(recipe: RecipeName, settings: Settings = None) -> None:
    """Show what a recipe is made of, and what may be set in it."""
    from coview.recipes.find import find_maker, find_recipe
    from coview.training import describe

    found, _ = find_recipe(recipe, settings or [])
    console.print(Text(f"{recipe}: {_first_line(find_maker(recipe))}", style="bold"))
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 2))
    for name, value in _flat(describe(found)):
        grid.add_row(Text(name, style="cyan"), Text(str(value)))
    console.print(grid)
    text = f"\nTrain it:  coview train {recipe}    Change it:  --set NAME=VALUE"
    console.print(Text(text, style="dim"), soft_wrap=True)


@app.command(epilog="Example: coview train demo --set epochs=2 --run runs/short")
def train(
    recipe: RecipeName,
    settings: Settings = None,
    run: Annotated[Path | None, typer.Option(help="The run folder; runs/RECIPE where not given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what the run folder holds.")] = False,
) -> None:
    """Train a recipe into a run folder."""
    from coview.cli.live import LiveTraining
    from coview.recipes.find import find_recipe
    from coview.recipes.measure import look_in
    from coview.training import fit

    found, origin = find_recipe(recipe, settings or [])
    folder, looks = run or Path("runs") / recipe.rpartition(":")[2], look_in(found)
    with LiveTraining(console, f"Training {recipe}") as live:
        training = fit(found, folder, resume=resume, origin=origin, observe=live.observe, look_in=looks)
    if training.fabric.is_global_zero:
        following = f"coview probe {shlex.quote(str(folder))}"
        console.print(Text(f"{training.step} steps done, in {folder}. Next:  {following}"), soft_wrap=True)
        if training.fabric.device.type == "cuda":
            way = f"one by one, for {training.hindrance}" if training.hindrance else "as one CUDA graph each"
            console.print(Text(f"Steps were taken {way}.", style="dim"))


@app.command(epilog="Example: coview probe runs/demo --kind all --layer all --bounds")
def probe(
    run: Annotated[Path, typer.Argument(help="A run folder; what is found is written into its probes.json.")],
    kind: Annotated[
        list[str] | None,
        typer.Option(help="linear, mlp, knn, all of these, or retrieval; linear by default."),
    ] = None,
    view: Annotated[
        list[str] | None, typer.Option(help="Only this view; several are put side by side.")
    ] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(help="A layer of the encoders, several, or all; the recipe's choice by default."),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="ours, advised, paper, paper-resnet, paper-resnet-x2 or paper-stl10: docs/method.md."
        ),
    ] = "ours",
    augmented: Annotated[
        bool,
        typer.Option("--augmented", help="Fit to augmented samples: their features are made each epoch."),
    ] = False,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Random and supervised encoders of the same shape too.")
    ] = False,
    supervised_epochs: Annotated[
        int | None, typer.Option(help="Epochs of the supervised ones; those of the run by default.", min=1)
    ] = None,
) -> None:
    """Measure what the frozen encoders of a run know about the labels, or about each other."""
    from coview.cli.probe import Options, probe_run

    asked = Options(
        kind or ("linear",), view or (), layer or (), protocol, augmented, bounds, supervised_epochs
    )
    console.print(probe_run(run, asked, console).rich())


@app.command(epilog="Example: coview report runs/demo runs/short --out report.html")
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
) -> None:
    """Compare runs on one self-contained page; runs that differ in their seed alone become one row."""
    from coview.reports.page import write_page
    from coview.reports.runs import compare, read_run, report_page

    found = [read_run(run) for run in runs]
    write_page(out, report_page(found))
    console.print(compare(found).rich())
    console.print(Text(f"Written: {out}"), soft_wrap=True)


@app.command(epilog="Example: coview views demo --samples 8 --out views.png")
def views(
    recipe: RecipeName,
    settings: Settings = None,
    out: Annotated[Path, typer.Option(help="The PNG to write.")] = Path("views.png"),
    samples: Annotated[int, typer.Option(help="How many samples to show.", min=1)] = 8,
    split: Annotated[str, typer.Option(help="train or test.")] = "train",
    augmented: Annotated[
        bool, typer.Option("--augmented", help="As training sees them, cropped and flipped.")
    ] = False,
) -> None:
    """Draw a contact sheet: what each view of a recipe looks like."""
    from coview.cli.sheet import write_sheet
    from coview.recipes.find import find_recipe

    found, _ = find_recipe(recipe, settings or [])
    write_sheet(found, out, samples=samples, split=split, augmented=augmented)
    console.print(Text(f"Written: {out}"), soft_wrap=True)


@app.command(epilog="Example: coview data stl10 --root /data --download")
def data(
    name: Annotated[
        str | None, typer.Argument(help="An image set, or a folder of pictures; all known sets if not given.")
    ] = None,
    root: Annotated[
        Path | None, typer.Option(help="Where sets lie; $COVIEW_DATA, or data in the current folder.")
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch it, if it is not there.")] = False,
) -> None:
    """Say what is there of an image set, where it was looked for, and how to get it."""
    from coview.cli.data import show_data

    show_data(name, root, console, download=download)


@app.command(epilog="Example: coview reproduce negatives --data-name scenes --seeds 0,1 --plan")
def reproduce(
    study: Annotated[
        str | None, typer.Argument(help="A study, or my_file.py:my_study; without it, all are listed.")
    ] = None,
    data_name: Annotated[
        str | None,
        typer.Option(
            help="Other data than the paper's: stl10, cifar10, tiny, imagenet100, scenes, a folder."
        ),
    ] = None,
    root: Annotated[Path | None, typer.Option(help="The folder that the data lie in.")] = None,
    seeds: Annotated[str, typer.Option(help="As 0,1,2; the study's own where not given.")] = "",
    rows: Annotated[
        str | None, typer.Option(help="Run only rows with this in their name; * and ? fit all.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where table, figure and record go; results/STUDY-DATA by default.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where the run folders are.")] = Path("runs"),
    settings: Settings = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would run, and stop.")] = False,
) -> None:
    """Run or resume all runs of a table of the paper, and write it beside the paper's numbers."""
    from coview.cli.reproduce import Wanted, list_studies
    from coview.cli.reproduce import reproduce as run_study

    if study is None:
        list_studies(console)
        return
    wanted = Wanted(
        study=study,
        data=data_name,
        root=root,
        seeds=seeds,
        rows=rows,
        out=out,
        runs=runs,
        settings=tuple(settings or ()),
    )
    if code := run_study(wanted, console, only_plan=plan):
        raise typer.Exit(code)


@app.command(epilog="Example: coview mi demo --views L depth")
def mi(
    name: MaterialName,
    views: Annotated[
        tuple[str, str], typer.Option(help="Two views of the recipe; of pictures also as Y DbDr, R GB, H SV.")
    ],
    settings: Settings = None,
    bound: Annotated[str, typer.Option(help="mine, infonce, nwj or interpolated.")] = "mine",
    critic: Annotated[str, typer.Option(help="separable or concatenated.")] = "separable",
    seeds: Annotated[int, typer.Option(help="How many critics, each judged by other samples.", min=1)] = 3,
    steps: Annotated[int | None, typer.Option(help="Steps of each critic.", min=1)] = None,
    batch: Annotated[int | None, typer.Option(help="Samples of a step.", min=2)] = None,
    samples: Annotated[int | None, typer.Option(help="Take so many, spread over all.", min=1)] = None,
    still: Annotated[
        bool, typer.Option("--still", help="Samples as they are, not as training has them.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The PNG to write; its numbers go beside it.")] = Path("mi.png"),
) -> None:
    """Estimate how much two views share, in nats and bits."""
    from coview.cli.mi import How, Which, run_mi

    how = How.given(bound=bound, critic=critic, seeds=seeds, steps=steps, batch=batch)
    which = Which(name=name, settings=tuple(settings or ()), samples=samples, still=still)
    run_mi(which, views, how, out, console)


@app.command("choose-views", epilog="Example: coview choose-views demo --view L --view depth --view normal")
def choose_views(
    name: MaterialName,
    view: Annotated[
        list[str] | None, typer.Option(help="Choose among these; all of the recipe by default.")
    ] = None,
    channels: Annotated[str | None, typer.Option(help="Choose among the channels of this view.")] = None,
    settings: Settings = None,
    bound: Annotated[str, typer.Option(help="mine, infonce, nwj or interpolated.")] = "mine",
    seeds: Annotated[int, typer.Option(help="How many critics for each pair.", min=1)] = 2,
    steps: Annotated[int | None, typer.Option(help="Steps of each critic.", min=1)] = None,
    batch: Annotated[int | None, typer.Option(help="Samples of a step.", min=2)] = None,
    samples: Annotated[int | None, typer.Option(help="Take so many, spread over all.", min=1)] = None,
    check: Annotated[
        int, typer.Option(help="Of so many ways to make two views of all, estimate it.", min=0)
    ] = 2,
    still: Annotated[
        bool, typer.Option("--still", help="Samples as they are, not as training has them.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The PNG to write: what every pair shares.")] = Path("pairs.png"),
) -> None:
    """Say which views to contrast, by how much every pair of them shares."""
    from coview.cli.choose import Wanted, choose_views
    from coview.cli.mi import How, Which

    how = How.given(bound=bound, seeds=seeds, steps=steps, batch=batch)
    which = Which(name=name, settings=tuple(settings or ()), samples=samples, still=still)
    choose_views(which, Wanted(views=tuple(view or ()), channels=channels, check=check), how, out, console)


@app.command(epilog="Example: coview bench contrast --json bench.json")
def bench(
    what: Annotated[str, typer.Argument(help="contrast, step, data, probes or all.")] = "all",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write every number into this file.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Of the steps, only those with this in their name.")
    ] = None,
    way: Annotated[
        list[str] | None, typer.Option(help='Of the ways to run a step, only this, for example "captured".')
    ] = None,
) -> None:
    """Measure this library's path beside what the paper's released code does, on this machine."""
    from coview.cli.bench import run_bench

    run_bench(what, json_file, console, only=only or [], ways=way or [])


def main() -> None:
    """Run the command line; errors are one line, and say what to do."""
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        code = app(arguments, prog_name="coview", standalone_mode=False)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        if debug:
            raise
        code = _explain(error)
    if code == 130:  # typer turns an interruption into this code
        again = "the same command goes on" if "reproduce" in arguments else "go on with --resume"
        _say(f"interrupted: {again}")
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else 0)


def _explain(error: Exception) -> int:
    """One line for an error: 2 for wrong use, 1 for what went wrong all the same."""
    usage = getattr(error, "format_message", None)  # of typer's own errors
    if callable(usage):
        if type(error).__name__ == "NoArgsIsHelpError":
            print(usage())
            return 0
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "coview"
        _say(f"{_one_line(str(usage()))} (see `{path} --help`)")
        return 2
    if type(error).__name__ in ("Exit", "Abort"):
        return int(getattr(error, "exit_code", 130))
    known = isinstance(
        error, ValueError | IndexError | FileNotFoundError | FileExistsError | ModuleNotFoundError
    )
    expected = known or isinstance(error, OSError) or type(error).__name__ == "TrainingError"
    prefix = "" if expected else f"unexpected {type(error).__name__}: "
    _say(
        f"{prefix}{_one_line(str(error))}{'' if expected else ' (--debug shows where)'}", everywhere=not known
    )
    return 2 if known else 1


def _say(message: str, *, everywhere: bool = False) -> None:
    """Under torchrun wrong use is met by every process and said by the first; what goes wrong may be met by one."""
    if everywhere or os.environ.get("RANK", "0") == "0" or "WORLD_SIZE" not in os.environ:
        print(f"coview: {message}", file=sys.stderr)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _first_line(function: Any) -> str:
    return (function.__doc__ or "").strip().partition("\n")[0]


def _flat(value: dict[str, Any], above: str = "") -> list[tuple[str, Any]]:
    """Nested fields as dotted names, the way --set wants them."""
    rows: list[tuple[str, Any]] = []
    for name, inner in value.items():
        if isinstance(inner, dict) and "edges" in inner:
            shown = ", ".join(
                f"{a}-{b}" + (f" x{weight:g}" if weight != 1 else "") for a, b, weight in inner["edges"]
            )
            rows.append((f"{above}{name}", shown))
        elif isinstance(inner, dict):
            rows.append((f"{above}{name}", inner.get("call", "")))
            rows.extend(_flat({k: v for k, v in inner.items() if k != "call"}, f"{above}{name}."))
        else:
            rows.append((f"{above}{name}", inner))
    return rows
