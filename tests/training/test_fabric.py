"""What started this process, as the environment says; trainings as SLURM and several machines start them."""

import pytest
import torch
from training.processes import simple
from warm import ended, free_port, said, start

from coview.training.fabric import launched

SLURM = {"SLURM_JOB_NAME": "train", "SLURM_JOB_ID": "1234", "SLURM_NODELIST": "127.0.0.1"}
RANK = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Nothing but what a test says."""
    for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("SLURM_NTASKS_PER_NODE", "")
    monkeypatch.delenv("SLURM_NTASKS_PER_NODE")


TORCHRUN = {"TORCHELASTIC_RUN_ID": "x", "RANK": "9", "LOCAL_RANK": "1"}


@pytest.mark.parametrize(
    ("environment", "local", "machines", "kind"),
    [
        ({}, 1, 1, None),
        ({**TORCHRUN, "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}, 8, 2, "TorchElasticEnvironment"),
        ({"RANK": "3", "WORLD_SIZE": "5"}, 1, 5, "TorchElasticEnvironment"),
        (
            {**SLURM, "SLURM_NTASKS": "12", "SLURM_NNODES": "3", "SLURM_NTASKS_PER_NODE": "4"},
            4,
            3,
            "SLURMEnvironment",
        ),
        ({**SLURM, "SLURM_NTASKS": "6", "SLURM_NNODES": "2"}, 3, 2, "SLURMEnvironment"),
        ({**SLURM, "SLURM_NTASKS": "1"}, 1, 1, None),
        ({**SLURM, "SLURM_NTASKS": "6", "SLURM_NNODES": "2", "SLURM_JOB_NAME": "bash"}, 1, 1, None),
        (
            {
                **SLURM,
                "SLURM_NTASKS": "2",
                "SLURM_NNODES": "2",
                **TORCHRUN,
                "WORLD_SIZE": "16",
                "LOCAL_WORLD_SIZE": "8",
            },
            8,
            2,
            "TorchElasticEnvironment",
        ),
    ],
)
def test_launchers(environment, local, machines, kind, monkeypatch):
    for name, value in {**RANK, **environment}.items():
        monkeypatch.setenv(name, value)
    found = launched()
    assert (found.local, found.machines, found.processes) == (local, machines, local * machines)
    assert (type(found.environment).__name__ if found.environment else None) == kind


def test_machines_with_unequal_numbers_of_processes(monkeypatch):
    for name, value in {**SLURM, **RANK, "SLURM_NTASKS": "7", "SLURM_NNODES": "2"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        ValueError, match="7 processes on 2 machines with 3 each do not add up: start equally many"
    ):
        launched()


def slurm(rank: int) -> dict[str, str]:
    """As srun --ntasks=2 starts them on one machine."""
    where = {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank), "SLURM_NODEID": "0"}
    return {**SLURM, **where, "SLURM_NTASKS": "2", "SLURM_NNODES": "1"}


def machines(rank: int) -> dict[str, str]:
    """As torchrun --nnodes 2 --nproc-per-node 1 starts them."""
    elastic = {"TORCHELASTIC_RUN_ID": "x", "GROUP_RANK": str(rank), "MASTER_ADDR": "127.0.0.1"}
    return {**elastic, "RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}


@pytest.mark.parametrize("environment", [slurm, machines])
def test_two_processes_without_a_word_in_the_recipe(environment, tmp_path):
    port = {"MASTER_PORT": str(free_port())}
    crew = [
        start(simple, tmp_path, said=tmp_path / f"said-{rank}", environment={**environment(rank), **port})
        for rank in (0, 1)
    ]
    assert ended(crew, tmp_path) == [0, 0], said(tmp_path)
    first, second = (torch.load(tmp_path / f"simple-{rank}.pt", weights_only=True) for rank in (0, 1))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
