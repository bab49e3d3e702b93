"""The cost model of many devices: by hand where that is easy, and as the code sends it where it is not."""

import pytest
from several_steps import told_of_steps
from warm import together

from coview.bench.scale import (
    Machine,
    Message,
    Plan,
    bank,
    fit_line,
    messages,
    reach,
    step,
    sweep,
    sweep_rates,
    talk,
    traffic,
)

MACHINE = Machine("x", sweep_rate=1e12, sweep_start=1e-4, link_rate=1e9, link_start=1e-5)


@pytest.mark.parametrize("processes", [2, 3])
def test_what_travels_is_what_the_code_sends(processes, tmp_path):
    told = together(told_of_steps, folder=tmp_path, processes=processes)
    for found in told:
        for sharded in (True, False):
            plan = Plan(samples=31, devices=processes, batch=5, dim=7, sharded=sharded)
            assert sorted(found[sharded]) == sorted((one.kind, one.size) for one in messages(plan))


def test_one_device_tells_nobody():
    assert messages(Plan(100)) == []
    assert talk(Plan(100), MACHINE) == 0


def test_a_ring():
    assert Message("gather", 400).sent(4) == Message("scatter", 400).sent(4) == 300
    assert Message("reduce", 400).sent(4) == 600
    assert Message("send", 400).sent(1) == 0


def test_memory_falls_with_devices_and_time_does_not():
    one, many = Plan(samples=10_000_000), Plan(samples=10_000_000, devices=64)
    assert bank(one, MACHINE) == 2 * 10_000_000 * 257
    assert bank(many, MACHINE) == bank(one, MACHINE) / 64
    assert bank(Plan(10_000_000, devices=64, sharded=False), MACHINE) == bank(one, MACHINE)
    assert sweep(many, MACHINE) == sweep(one, MACHINE) == 2 * (1e-4 + 4 * 256 * 1e7 * 128 / 1e12)


def test_traffic_does_not_depend_on_the_samples():
    assert traffic(Plan(10**6, devices=8)) == traffic(Plan(10**10, devices=8))
    assert traffic(Plan(10**6, devices=16)) > 1.9 * traffic(Plan(10**6, devices=8))


def test_what_is_drawn_bounds_the_sweep():
    assert sweep(Plan(10**10, drawn=1000), MACHINE) == sweep(Plan(1000), MACHINE)
    plan = Plan(10**10, encoders=0.5)
    drawn = reach(plan, MACHINE, 0.2)
    assert sweep(Plan(10**10, drawn=drawn), MACHINE) == pytest.approx(0.1, rel=1e-3)
    assert reach(Plan(10**10, encoders=1e-9), MACHINE, 0.2) == 0


def test_a_step_is_the_sum_of_its_parts():
    plan = Plan(1000, devices=4, encoders=0.25, parameters=1000, buffers=10)
    assert step(plan, MACHINE) == pytest.approx(0.25 + sweep(plan, MACHINE) + talk(plan, MACHINE))
    hops = len(messages(plan)) * 2 * 1e-5
    assert talk(plan, MACHINE) == pytest.approx(hops + traffic(plan) / 1e9)


def test_devices_that_share_cores_take_turns():
    shared = Machine("x", 1e12, 1e-4, 1e9, 1e-5, cores=2)
    assert sweep(Plan(10**6, devices=4), shared) == 2 * sweep(Plan(10**6, devices=4), MACHINE)


def test_a_line_through_points():
    start, slope = fit_line([(x, 0.3 + 2.5 * x) for x in (1.0, 10.0, 1000.0)])
    assert (start, slope) == (pytest.approx(0.3), pytest.approx(2.5))
    assert fit_line([(1.0, 1.0), (10.0, 20.0)])[0] == 0


def test_rates_of_a_sweep():
    def row(samples: int, way: str, **more):
        work = f"all {samples:,}"
        seconds = 2e-4 + 4 * 256 * 128 * samples / 5e14
        return {"work": work, "way": way, "ratio": None, "milliseconds": 1000 * seconds, **more}

    rows = [row(10**4, "a"), row(10**6, "a"), row(10**5, "b", milliseconds=7.0), row(10**7, "a", ratio=1.0)]
    start, rate = sweep_rates(rows, way="a")
    assert (start, rate) == (pytest.approx(2e-4), pytest.approx(5e14))
