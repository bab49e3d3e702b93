"""Measurements: this library's path beside what the paper's released code does, on the same inputs."""

from coview.bench.contrast import bench_contrast
from coview.bench.data import bench_data
from coview.bench.flow import bench_flow
from coview.bench.machine import describe_machine
from coview.bench.measure import Row, table
from coview.bench.probes import bench_probes
from coview.bench.step import bench_step

__all__ = [
    "Row",
    "bench_contrast",
    "bench_data",
    "bench_flow",
    "bench_probes",
    "bench_step",
    "describe_machine",
    "table",
]
