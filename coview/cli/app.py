"""The commands: each reads its arguments, calls the library, and shows what comes back."""

import os
import platform
import shlex
import sys
from contextlib import nullcontext
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text
from typer.core import TyperCommand

from coview.cli.warned import plain_warnings


class Command(TyperCommand):
    """A command whose arguments and options are called by what they are, and not by their Python types."""

    def __init__(self, *args: Any, params: list[Any] | None = None, **options: Any) -> None:
        for one in params or ():
            if one.metavar is None and not getattr(one, "is_flag", False):
                one.metavar = one.name.rpartition("_")[2].upper()
        super().__init__(*args, params=params, **options)


STOPPED = 75  # the exit code of a training that was asked to stop, and saved what it had

app = typer.Typer(
    help="Contrastive multiview coding: learn representations by contrasting views of the same thing.",
    epilog="Start with `coview demo`. Put --debug anywhere to see where an error comes from.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
command = partial(app.command, cls=Command)
console = Console()

RecipeName = Annotated[
    str, typer.Argument(metavar="RECIPE", help="A name from `coview list`, or my_file.py:my_recipe.")
]
MaterialName = Annotated[
    str,
    typer.Argument(
        metavar="DATA|RECIPE", help="A recipe, an image set, or your data: a folder, table or arrays."
    ),
]
OwnData = Annotated[
    Path, typer.Argument(help="A folder with a folder for each view, a CSV or Parquet table, or arrays.")
]
TrainedFolder = Annotated[Path, typer.Argument(help="A run folder, or one that was exported or imported.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a field of the recipe, or of a part: critic.temperature=0.2.",
    ),
]


def _versions(wanted: bool) -> bool:
    if wanted:
        import torch

        print(
            f"coview {metadata.version('coview')}, torch {torch.__version__}, Python {platform.python_version()}"
        )
        raise typer.Exit
    return wanted


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option("--version", help="Say which versions these are.", is_eager=True, callback=_versions),
    ] = False,
) -> None:
    """Take what stands before the name of a command."""


@command(epilog="Example: coview demo --run runs/demo")
def demo(
    run: Annotated[
        Path | None,
        typer.Option(help="The folder for the run and its report; runs/demo, or the next one free."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives another run, the same seed the same.")] = 0,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what the run folder holds.")] = False,
) -> None:
    """Train four views of rendered rooms, and report. In three minutes, on two CPU cores."""
    from coview.cli.demo import next_free, run_demo

    folder = run or (Path("runs/demo") if resume else next_free(Path("runs/demo")))
    run_demo(folder, seed, settings or [], console, resume=resume)


@command("list", epilog="Example: coview list")
def list_recipes() -> None:
    """Name the recipes that ship, each with what it shows."""
    from coview.recipes.find import shipped_recipes

    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    grid.add_row(Text("mine", style="bold"), Text("Your own views: coview train mine --data DIR."))
    recipes = shipped_recipes()
    for name in sorted(recipes, key=lambda one: not one.startswith("demo")):  # those that need no data first
        grid.add_row(Text(name, style="bold"), Text(_first_line(recipes[name])))
    console.print(grid)


@command(epilog="Example: coview show demo --set epochs=2")
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


@command(epilog="Example: coview look my_data --out samples.png")
def look(
    data: OwnData,
    out: Annotated[Path | None, typer.Option(help="A PNG for a contact sheet of some samples.")] = None,
) -> None:
    """Say what views are in a folder, a table or arrays. How many, of what form, with what gaps and ranges."""
    from coview.cli import mine

    mine.look(data, out, console)


@command(epilog="Example: coview init my_data --out my_recipe.py")
def init(
    data: OwnData,
    out: Annotated[Path, typer.Option(help="The Python file to write.")] = Path("my_recipe.py"),
) -> None:
    """Write the recipe for your own views as a Python file. Edit it, and train it by its name."""
    from coview.cli import mine

    mine.init(data, out, console)


@command(epilog="Example: coview train demo --set epochs=2 --run runs/short")
def train(
    recipe: RecipeName,
    settings: Settings = None,
    run: Annotated[Path | None, typer.Option(help="The run folder; runs/RECIPE where not given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what the run folder holds.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="For the recipe 'mine': a folder of views, a table, or arrays.")
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(help="wandb or mlflow: log there too; TensorBoard's events are always written."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress, only what is found in the end.")
    ] = False,
) -> None:
    """Train a recipe into a run folder. `coview train mine --data DIR` makes one for your own views."""
    from coview.cli.elsewhere import Elsewhere, each
    from coview.cli.learned import show_learned
    from coview.cli.live import LiveTraining
    from coview.cli.mine import own_recipe
    from coview.recipes.find import beside_run, find_recipe
    from coview.recipes.measure import look_in
    from coview.training import fit

    folder = run or Path("runs") / recipe.rpartition(":")[2].replace(os.sep, "-")
    own = recipe == "mine"
    if data is not None and not own:
        raise ValueError(f"--data goes with the recipe 'mine', not with '{recipe}'")
    found, origin = find_recipe(own_recipe(data, folder, console) if own else recipe, settings or [])
    origin, looks = beside_run(origin, folder), look_in(found)
    with (
        LiveTraining(console, f"Training {recipe}", quiet=quiet) as live,
        Elsewhere(log or [], found, folder) as there,
    ):
        observe = each(live.observe, there.observe)
        training = fit(found, folder, resume=resume, origin=origin, observe=observe, look_in=looks)
    if training.fabric.is_global_zero:
        if own:
            show_learned(folder, console)
        following = f"coview {'report' if own else 'probe'} {shlex.quote(str(folder))}"
        console.print(Text(f"{training.step} steps done, in {folder}. Next:  {following}"), soft_wrap=True)
        if training.fabric.device.type == "cuda":
            way = f"one by one, for {training.hindrance}" if training.hindrance else "as one CUDA graph each"
            console.print(Text(f"Steps were taken {way}.", style="dim"))


@command(epilog="Example: coview probe runs/demo --kind all --layer all --bounds")
def probe(
    run: Annotated[Path, typer.Argument(help="A run folder; what is found is written into its probes.json.")],
    kind: Annotated[
        list[str] | None,
        typer.Option(help="linear, mlp, knn, all of these, or retrieval; linear by default."),
    ] = None,
    view: Annotated[
        list[str] | None, typer.Option(help="Only this view; give it again for several, put side by side.")
    ] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(help="A layer of the encoders, or all; the recipe's choice by default."),
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
    """Measure what frozen encoders know. About the labels, or about each other."""
    from coview.cli.probe import Options, probe_run

    asked = Options(
        kind or ("linear",), view or (), layer or (), protocol, augmented, bounds, supervised_epochs
    )
    console.print(probe_run(run, asked, console).rich())


@command(epilog="Example: coview status runs")
def status(
    place: Annotated[Path, typer.Argument(help="A folder with run folders in it.")] = Path("runs"),
) -> None:
    """List runs: their state, progress and best probe."""
    from coview.reports.status import status as where_runs_stand

    console.print(where_runs_stand(place).rich())


@command(epilog="Example: coview embed runs/mine new_data --out embeddings.parquet")
def embed(
    run: TrainedFolder,
    data: Annotated[
        str | None,
        typer.Argument(
            help="A folder, table or arrays, or train or test; by default what the run was made of."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="A .parquet or .npz file to write.")] = Path("embeddings.npz"),
    view: Annotated[list[str] | None, typer.Option(help="Only this view; give it again for several.")] = None,
    layer: Annotated[str, typer.Option(help="A layer of the encoders.")] = "embedding",
) -> None:
    """Write the embeddings of samples. Of each view that is there, and of all of them fused."""
    from coview.cli.embed import embed_run

    embed_run(run, data, out, view or [], layer, console)


@command(epilog="Example: coview search runs/mine --query new.jpg --view rgb --in depth")
def search(
    run: TrainedFolder,
    query: Annotated[str, typer.Option(help="A file, or the name of a sample.")],
    view: Annotated[str, typer.Option(help="The view that the query is seen in.")],
    target: Annotated[str, typer.Option("--in", help="The view to search in.")],
    data: Annotated[
        str | None, typer.Option(help="Where to search; by default what the run was made of.")
    ] = None,
    embeddings: Annotated[
        Path | None, typer.Option(help="A file that `coview embed` wrote, to search in that.")
    ] = None,
    count: Annotated[int, typer.Option(help="How many to find.", min=1)] = 10,
    faiss: Annotated[bool, typer.Option("--faiss", help="By a graph, for millions of samples.")] = False,
) -> None:
    """Find samples in one view by what they are in another."""
    from coview.cli.embed import search_run

    found = search_run(run, query, view, target, data=data, embeddings=embeddings, count=count, faiss=faiss)
    console.print(found.rich())


@command(epilog="Example: coview export runs/mine --out exported")
def export(
    run: TrainedFolder,
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("exported"),
    onnx: Annotated[bool, typer.Option(help="Also a program for the ONNX runtime for each view.")] = True,
    atlas: Annotated[
        Path | None,
        typer.Option(help="Instead, a .parquet of the embeddings on a map, for embedding-atlas to open."),
    ] = None,
) -> None:
    """Write encoders for others to use. Weights, programs for PyTorch and ONNX, and a card."""
    from coview.cli.export import export_atlas, export_run

    if atlas is not None:
        export_atlas(run, atlas, console)
    else:
        export_run(run, out, onnx=onnx, console=console)


@command("import", epilog="Example: coview import CMC_alexnet.pth --out released")
def import_weights(
    file: Annotated[Path, typer.Argument(help="A .pth file of the paper's released two-view code.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("imported"),
    onnx: Annotated[bool, typer.Option(help="Also a program for the ONNX runtime for each view.")] = False,
) -> None:
    """Bring in weights of the paper's released code. AlexNet or ResNet, Lab; the folder is like an exported one."""
    from coview.cli.export import import_file

    import_file(file, out, onnx=onnx, console=console)


@command(epilog="Example: coview report runs/demo runs/short --out report.html")
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    samples: Annotated[
        int, typer.Option(help="How many samples of each run to show; 0: none, and no encoder is run.", min=0)
    ] = 200,
    segments: Annotated[
        int,
        typer.Option(
            help="Of frames with segments: epochs of the decoders that show what each view tells of them.",
            min=0,
        ),
    ] = 0,
) -> None:
    """Show runs on one page that needs no network. Those that differ in their seed alone become one row."""
    from coview.cli.report import write_report

    write_report(runs, out, console, samples=samples, epochs=segments)


@command(epilog="Example: coview views demo --samples 8 --out views.png")
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


@command(epilog="Example: coview data stl10 --root /data --download")
def data(
    name: Annotated[
        str | None, typer.Argument(help="An image set, or a folder of pictures; all known sets if not given.")
    ] = None,
    root: Annotated[
        Path | None, typer.Option(help="Where sets lie; $COVIEW_DATA, or data in the current folder.")
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch it, if it is not there.")] = False,
) -> None:
    """Say what is there of an image set, and how to get it."""
    from coview.cli.data import show_data

    show_data(name, root, console, download=download)


@command(epilog="Example: coview flow data/ucf101/UCF-101 --out data/ucf101/UCF-101-packed")
def flow(
    clips: Annotated[Path, typer.Argument(help="A folder of videos, folders of frames, or packed clips.")],
    out: Annotated[Path, typer.Option(help="The folder for packed clips; what is there is not done again.")],
    size: Annotated[
        str, typer.Option(help="Height x width of the frames; what does not fit is cut.")
    ] = "128x171",
    rate: Annotated[
        float | None, typer.Option(help="Frames a second; all that there are by default.", min=0.1)
    ] = None,
    tvl1: Annotated[
        str, typer.Option(help="opencv (its numbers), fast (a fourth of the work), or none: frames alone.")
    ] = "opencv",
    lossy: Annotated[bool, typer.Option("--lossy", help="Flow as JPEG, in a fraction of the room.")] = False,
    compile: Annotated[
        bool, typer.Option("--compile", help="Through torch.compile: minutes at first, then faster.")
    ] = False,
    pairs: Annotated[int, typer.Option(help="Pairs of frames whose flow is found at once.", min=1)] = 64,
    workers: Annotated[int, typer.Option(help="Threads that decode, and that write.", min=1)] = 4,
) -> None:
    """Pack clips as frames, and the flow between them. TV-L1, in 8 bits."""
    from coview.cli.flow import Wanted, run_flow

    wanted = Wanted(clips, out, size, rate, tvl1, lossy, compile, pairs, workers)
    if code := run_flow(wanted, console):
        raise typer.Exit(code)


@command(epilog="Example: coview pack demo packed/rooms, then coview train demo@packed/rooms")
def pack(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="A recipe, or your data: my_file.py:my_data, of a split.")
    ],
    out: Annotated[Path, typer.Argument(help="The folder to write shards into, one folder for each split.")],
    settings: Settings = None,
    split: Annotated[list[str] | None, typer.Option(help="train and test, unless you name others.")] = None,
    megabytes: Annotated[float, typer.Option(help="How large a shard is, about.", min=0.001)] = 64.0,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Do not shuffle: for data that is not to be trained on.")
    ] = False,
) -> None:
    """Write a recipe's data as tar shards. They are streamed from a disk, a bucket or a web server."""
    from coview.cli.pack import pack_data
    from coview.recipes.find import find_data

    data = find_data(recipe, settings or [])
    pack_data(data, out, split or ["train", "test"], console, megabytes=megabytes, shuffle=not in_order)


@command(epilog="Example: coview reproduce negatives --data-name scenes --seeds 0,1 --plan")
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
    protocol: Annotated[
        str | None, typer.Option(help="How probes are fitted, as in `coview probe`; ours by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where table, figure and record go; results/STUDY-DATA by default.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where the run folders are.")] = Path("runs"),
    settings: Settings = None,
    at_once: Annotated[
        int,
        typer.Option(
            help="Processes that share the runs, each on a GPU of its own if there are several.", min=1
        ),
    ] = 1,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would run, and stop.")] = False,
    serve: Annotated[bool, typer.Option("--serve", hidden=True)] = False,
) -> None:
    """Run or resume a table of the paper. It is written beside the paper's numbers."""
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
        protocol=protocol,
        out=out,
        runs=runs,
        settings=tuple(settings or ()),
    )
    if code := run_study(wanted, console, only_plan=plan, at_once=at_once, serving=serve):
        raise typer.Exit(code)


@command(epilog="Example: coview mi demo --views L depth")
def mi(
    name: MaterialName,
    views: Annotated[
        tuple[str, str],
        typer.Option(
            metavar="VIEW VIEW", help="Two views of the recipe; of pictures also as Y DbDr, R GB, H SV."
        ),
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


@command("choose-views", epilog="Example: coview choose-views demo --view L --view depth --view normal")
def choose_views(
    name: MaterialName,
    view: Annotated[
        list[str] | None,
        typer.Option(help="Choose among these, each with --view; all of the recipe by default."),
    ] = None,
    channels: Annotated[str | None, typer.Option(help="Choose among the channels of this view.")] = None,
    settings: Settings = None,
    bound: Annotated[str, typer.Option(help="mine, infonce, nwj or interpolated.")] = "mine",
    seeds: Annotated[int, typer.Option(help="How many critics for each pair.", min=1)] = 2,
    steps: Annotated[int | None, typer.Option(help="Steps of each critic.", min=1)] = None,
    batch: Annotated[int | None, typer.Option(help="Samples of a step.", min=2)] = None,
    samples: Annotated[int | None, typer.Option(help="Take so many, spread over all.", min=1)] = None,
    check: Annotated[
        int, typer.Option(help="How many ways to make two views of all are estimated.", min=0)
    ] = 2,
    still: Annotated[
        bool, typer.Option("--still", help="Samples as they are, not as training has them.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The PNG to write: what every pair shares.")] = Path("pairs.png"),
) -> None:
    """Say which views to contrast. Every pair is judged by how much it shares."""
    from coview.cli.choose import Wanted, choose_views
    from coview.cli.mi import How, Which

    how = How.given(bound=bound, seeds=seeds, steps=steps, batch=batch)
    which = Which(name=name, settings=tuple(settings or ()), samples=samples, still=still)
    choose_views(which, Wanted(views=tuple(view or ()), channels=channels, check=check), how, out, console)


@command(epilog="Example: coview bench contrast --json bench.json")
def bench(
    what: Annotated[str, typer.Argument(help="contrast, step, data, flow, probes or all.")] = "all",
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
    """Measure speed on this machine. Beside it stands what the paper's released code does."""
    from coview.cli.bench import run_bench

    run_bench(what, json_file, console, only=only or [], ways=way or [])


def main() -> None:
    """Run the command line; errors are one line, and say what to do."""
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        with nullcontext() if debug else plain_warnings():
            code = app(arguments, prog_name="coview", standalone_mode=False)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        if debug:
            raise
        code = _explain(error)
    if code == 130:  # typer turns an interruption into this code
        _say(f"interrupted{_how_to_go_on(arguments)}")
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else 0)


def _how_to_go_on(arguments: list[str]) -> str:
    """What an interrupted command leaves behind, where it leaves anything."""
    if {"reproduce", "flow"} & set(arguments[:1]):
        return ": the same command goes on"
    return ": if training had begun, --resume goes on" if {"train", "demo"} & set(arguments[:1]) else ""


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
    code = getattr(error, "exit_code", None)  # of training that cannot go on, or was asked to stop
    expected = known or isinstance(error, OSError) or code is not None
    prefix = "" if expected else f"unexpected {type(error).__name__}: "
    where = "" if expected else " (--debug shows where)"
    _say(f"{prefix}{_one_line(str(error))}{where}", everywhere=not known and code != STOPPED)
    return 2 if known else code or 1


def _say(message: str, *, everywhere: bool = False) -> None:
    """Of several processes wrong use is met by every one and said by the first; what goes wrong may be met by one."""
    rank = os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or "0"
    if everywhere or rank == "0":
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
            pairs = [(f"{a}-{b}", weight) for a, b, weight in inner["edges"]]
            pairs += [(f"{a}->{b}", weight) for a, b, weight in inner.get("one way", ())]
            shown = ", ".join(pair + (f" x{weight:g}" if weight != 1 else "") for pair, weight in pairs)
            rows.append((f"{above}{name}", shown))
        elif isinstance(inner, dict):
            rows.append((f"{above}{name}", inner.get("call", "")))
            rows.extend(_flat({k: v for k, v in inner.items() if k != "call"}, f"{above}{name}."))
        else:
            rows.append((f"{above}{name}", inner))
    return rows
