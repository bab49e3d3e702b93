"""Processes for tests that start at once: forked from one that has imported torch, so they cost no seconds each."""

import multiprocessing
import os
import socket
import sys
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

TESTS = Path(__file__).parent
SERVER = multiprocessing.get_context("forkserver")


def start(
    function: Callable[..., Any],
    *arguments: Any,
    said: Path | None = None,
    environment: dict[str, str] | None = None,
) -> BaseProcess:
    """A process that calls a function of some module; what it prints goes into the file `said`."""
    places = (TESTS, TESTS / "contrast", TESTS / "bench", TESTS.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, places))
    SERVER.set_forkserver_preload(["preloaded"])
    process = SERVER.Process(target=_call, args=(function, arguments, said, environment or {}))
    process.start()
    return process


def launch(
    function: Callable[..., Any], *arguments: Any, folder: Path, processes: int = 2, environment=None
) -> list[BaseProcess]:
    """Several processes as torchrun starts them; what each prints goes into the folder, as `said-0` and so on."""
    common = {
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "TORCHELASTIC_RUN_ID": "test",
    }
    return [
        start(
            function,
            *arguments,
            said=folder / f"said-{rank}",
            environment={**common, "RANK": str(rank), "LOCAL_RANK": str(rank), **(environment or {})},
        )
        for rank in range(processes)
    ]


def ended(crew: Sequence[BaseProcess], folder: Path, *, seconds: float = 60.0) -> list[int | None]:
    """The exit codes of processes; what is still there after so many seconds is killed, and fails the test."""
    for process in crew:
        process.join(seconds)
    late = [process for process in crew if process.is_alive()]
    for process in late:
        process.kill()
        process.join()
    assert not late, f"still running after {seconds} s: {said(folder)}"
    return [process.exitcode for process in crew]


def said(folder: Path) -> str:
    """Everything that the processes printed."""
    return "\n".join(f"{path.name}: {path.read_text()}" for path in sorted(folder.glob("said-*")))


def together(function: Callable[..., Any], *arguments: Any, folder: Path, processes: int = 2) -> list[Any]:
    """What a function returns on each of several connected processes: tensors, and what holds them."""
    crew = launch(_connected, function, arguments, folder, folder=folder, processes=processes)
    assert ended(crew, folder) == [0] * processes, said(folder)
    return [torch.load(folder / f"found-{rank}.pt", weights_only=True) for rank in range(processes)]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _call(
    function: Callable[..., Any], arguments: Sequence[Any], said: Path | None, environment: dict
) -> None:
    os.environ.update(environment)
    if said is not None:
        file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
    function(*arguments)
    sys.stdout.flush()


def _connected(function: Callable[..., Any], arguments: Sequence[Any], folder: Path) -> None:
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(0)
    found = function(*arguments)
    torch.save(found, folder / f"found-{torch.distributed.get_rank()}.pt")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
