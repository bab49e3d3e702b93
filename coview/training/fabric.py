"""Lightning Fabric for this machine, or for all processes that torchrun, SLURM or another launcher started."""

import atexit
import inspect
import logging
import os
from dataclasses import dataclass
from typing import Any

import torch

from coview import processes
from coview.contrast import backends_for
from coview.training.recipe import Recipe

BACKEND = "cpu:gloo,cuda:nccl"  # what lies on the host travels too: random states, and the wish to stop


@dataclass(frozen=True)
class Launch:
    """What started this process: so many processes a machine, on so many machines."""

    environment: Any = None  # Lightning's; None for a process alone
    local: int = 1
    machines: int = 1

    @property
    def processes(self) -> int:
        return self.local * self.machines


def make_fabric(recipe: Recipe) -> Any:
    """Fabric as the recipe and the launcher want it, with every process connected."""
    from lightning.fabric import Fabric  # takes seconds to import
    from lightning.fabric.strategies.ddp import DDPStrategy

    logging.getLogger("lightning.fabric").setLevel(logging.WARNING)  # it tells what the recipe says
    launch, cuda = launched(), torch.cuda.is_available()
    precision: Any = recipe.precision
    if precision == "auto":
        precision = "bf16-mixed" if cuda else "32-true"
    strategy: Any = "auto"
    devices = launch.local
    if launch.processes > 1:
        strategy = DDPStrategy(
            cluster_environment=launch.environment,
            process_group_backend=BACKEND if cuda else "gloo",
            find_unused_parameters=True,  # an encoder may have parameters that its embedding does not depend on
            **_no_buffers(),
        )
        if cuda and torch.cuda.device_count() == 1 < launch.local:  # the launcher gave each process its own
            strategy.parallel_devices = [torch.device("cuda", 0)] * launch.local
            devices = 1
    fabric = Fabric(
        accelerator="cuda" if cuda else "cpu",
        devices=devices,
        num_nodes=launch.machines,
        strategy=strategy,
        precision=precision,
    )
    fabric.launch()
    torch.backends.cudnn.benchmark = cuda
    if launch.processes > 1:
        atexit.register(_part)
        _agree_on_sweeps()
    return fabric


def launched() -> Launch:
    """What the variables of the environment say; torchrun inside of SLURM counts as torchrun."""
    from lightning.fabric.plugins.environments.slurm import SLURMEnvironment
    from lightning.fabric.plugins.environments.torchelastic import TorchElasticEnvironment

    said = os.environ
    if TorchElasticEnvironment.detect() or {"RANK", "WORLD_SIZE"} <= said.keys():
        world, local = int(said["WORLD_SIZE"]), int(said.setdefault("LOCAL_WORLD_SIZE", "1"))
        said.setdefault("LOCAL_RANK", "0")
        kind, machines = TorchElasticEnvironment, max(world // local, 1)
    elif "SLURM_NTASKS" in said and SLURMEnvironment.detect():
        world, machines = int(said["SLURM_NTASKS"]), int(said.get("SLURM_NNODES", "1"))
        local = int(said.setdefault("SLURM_NTASKS_PER_NODE", str(world // machines)))
        kind = SLURMEnvironment
    else:
        return Launch()
    if local * machines != world:
        raise ValueError(
            f"{world} processes on {machines} machines with {local} each do not add up: start equally many on each "
            "(srun --ntasks-per-node, torchrun --nproc-per-node)"
        )
    return Launch(kind(), local, machines) if world > 1 else Launch()


def _no_buffers() -> dict[str, Any]:
    """Send no buffers before a forward, since the step does it after the optimiser; since 2.15 it has another name."""
    known = inspect.signature(torch.nn.parallel.DistributedDataParallel).parameters
    return {"forward_sync_buffers" if "forward_sync_buffers" in known else "broadcast_buffers": False}


def _agree_on_sweeps() -> None:
    """Processes of one machine find the fastest sweep by turns: what the first measured, the others read."""
    keys = torch.empty(128, 8)
    if processes.rank() == 0:
        backends_for(keys)
    processes.wait()
    backends_for(keys)


def _part() -> None:
    """Let go of the other processes before Python ends: gloo's threads abort a process that ends with them."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
