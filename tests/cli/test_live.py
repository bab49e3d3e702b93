"""Training as it goes: rows of steps and of looks, in a terminal and in a pipe."""

from io import StringIO

from rich.console import Console

from coview.cli.live import LiveTraining

STEP = {
    "step": 6,
    "steps": 18,
    "rate": 1234.0,
    "loss": 7.5,
    "terms": {"L->ab": 3.25, "ab->L": 4.25},
    "bounds": {"L->ab": 1.5, "ab->L": 0.5},
}
LOOK = {"step": 6, "steps": 18, "epoch": 2.0, "probes": {"knn": 41.26, "linear": 52.0}}


def shown(*rows, terminal: bool) -> str:
    out = StringIO()
    console = Console(file=out, width=120, force_terminal=terminal, color_system=None, legacy_windows=False)
    with LiveTraining(console, "Training", quiet_seconds=0) as live:
        for row in rows:
            live.observe(row)
    return out.getvalue()


def test_a_pipe_gets_a_line_for_each_look():
    lines = shown({**LOOK, "epoch": 0.0}, STEP, LOOK, terminal=False).splitlines()
    assert lines == [
        "Training: after epoch 0, % of held-out training samples:  knn 41.3  linear 52.0",
        "Training: step 6/18  loss 7.500  information 1.00 nats a pair  1,234 images/s",
        "Training: after epoch 2, % of held-out training samples:  knn 41.3  linear 52.0",
    ]


def test_a_terminal_shows_the_last_look_below_the_last_step():
    for rows in ((LOOK, STEP), (STEP, LOOK)):
        last = shown(*rows, terminal=True).split("6/18 steps")[-1]
        assert "3.25 (1.50)" in last
        assert "after epoch 2, % of held-out training samples:  knn 41.3  linear 52.0" in last


def test_a_look_before_the_first_step_is_shown_alone():
    assert "knn 41.3" in shown(LOOK, terminal=True)
