"""Programs of commands, retries, stale versions and restarts keep to a model that is written apart (T13)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.programs import Programs, World


def _run(world: World, **options: object) -> None:
    machine = type("ProgramsHere", (Programs,), {"world": world})
    run_state_machine_as_test(
        machine,
        settings=settings(
            deadline=None,
            database=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            **options,  # pyright: ignore[reportArgumentType] - options of this file's own
        ),
    )


@pytest.mark.reliability("T13", "T11", "T02")
@pytest.mark.timeout(900)
def test_programs_do_what_the_model_says(world: World) -> None:
    """After each step the API tells what the model holds; after each program its journal gives that graph."""
    _run(world, max_examples=7, stateful_step_count=18, derandomize=True)


@pytest.mark.soak
@pytest.mark.reliability("T13", "T11", "T02")
@pytest.mark.timeout(24 * 3600)
def test_5000_programs_do_what_the_model_says(world: World) -> None:
    """The full count, with other programs each time and services that are killed."""
    _run(replace(world, in_a_process=True), max_examples=5_000, stateful_step_count=30, print_blob=True)
