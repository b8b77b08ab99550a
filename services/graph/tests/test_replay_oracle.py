"""Every read of graph, at any instant of both time axes, equals a naive replay of the writes."""

from __future__ import annotations

import asyncio

import pytest
from graph_world import World
from random_space import play, running

__all__ = ["running"]  # the fixture


@pytest.mark.parametrize("examples", [8, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
def test_every_read_at_any_instant_equals_a_naive_replay(
    running: tuple[asyncio.Runner, World], examples: int
) -> None:
    """T3 T2 T4 T5 G9 G10 G12 G15 M4 Both axes, through every write, by every read."""
    play(running, examples, steps=15)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_long_histories_equal_a_naive_replay(running: tuple[asyncio.Runner, World]) -> None:
    """T3 The same for longer histories, and more of them."""
    play(running, examples=1_000, steps=60)
