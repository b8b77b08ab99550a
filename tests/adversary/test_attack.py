"""An attacker who controls one principal, the network and every server's keys (V2, V5, V6, A2)."""

import asyncio
import os
import random
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from attack import CREED_STANDS, STEPS, Attack, Step, completes
from attack_turns import TURNS
from attack_writes import WRITES
from concord_gateway.contracts import services
from governed_world import Keys, World, world
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

SEQUENCES = int(os.environ.get("CONCORD_ATTACKS", "5"))
CHAOS_SEQUENCES = int(os.environ.get("CONCORD_ATTACKS_CHAOS", "10000"))
SHARDS, FEW_SHARDS = 100, 1
"""Parts of the ten thousand, which run on every core and each with a seed of its own."""
SEED = int(os.environ.get("CONCORD_ATTACK_SEED", random.randrange(1 << 30)))
PER_WORLD = 100
SEEDS = st.integers(0, 2**32 - 1)
OFTEN = (
    *("goes_well", "goes_well", "goes_well", "goes_well", "goes_well", "human_looks", "delivers"),
    *("agrees_on_a_creed", "agrees_on_a_creed"),
)


class Stage:
    """Runs worlds, each for a number of sequences, in a loop of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._used = PER_WORLD
        self._stack = AsyncExitStack()
        self.keys = Keys()
        self.world: World
        self.sequences = self.steps = self.executed = 0

    def run(self, work: Any) -> Any:
        """Run a coroutine to its end."""
        return self.loop.run_until_complete(work)

    async def attack(self) -> Attack:
        """Return two fresh spaces with the same principals and keys."""
        if self._used >= PER_WORLD:
            await self._stack.aclose()
            folder = self._stack.enter_context(tempfile.TemporaryDirectory())
            names = [f"{side}{n}" for side in "ab" for n in range(PER_WORLD)]
            running = world(Path(folder), keys=self.keys, spaces=names)
            self.world = await self._stack.enter_async_context(running)
            self._used = 0
        party, other = (self.world.party(f"{side}{self._used}") for side in "ab")
        other.agent, other.human = party.agent, party.human
        self._used += 1
        genesis = await party.enrol()
        await other.enrol()
        return Attack(self.world, self.keys, party, other, random.Random(0), genesis=genesis)

    def close(self) -> None:
        """Stop the last world."""
        self.run(self._stack.aclose())
        self.loop.close()


STAGE: list[Stage] = []


class Machine(RuleBasedStateMachine):
    """One attack: steps in any order, then the verdict."""

    @initialize()
    def begin(self) -> None:
        """Enrol the principals."""
        self.attack: Attack = STAGE[0].run(STAGE[0].attack())

    def play(self, step: Step, seed: int) -> None:
        """Take one step."""
        self.attack.chance = random.Random(seed)
        STAGE[0].steps += 1
        STAGE[0].run(step(self.attack))

    def teardown(self) -> None:
        """Judge what is visible, and verify the log offline."""
        if not hasattr(self, "attack"):
            return
        STAGE[0].run(self.verdict())

    async def verdict(self) -> None:
        """Let everything come to its end, then judge."""
        await completes(self.attack)
        await self.attack.judge()
        await self.attack.judge_log()
        STAGE[0].sequences += 1
        STAGE[0].executed += len(self.attack.settled)


def _rule_for(step: Step) -> Callable[..., None]:
    def taken(self: Machine, seed: int) -> None:
        self.play(step, seed)

    taken.__name__ = step.__name__
    return taken


EVERY = STEPS | WRITES | TURNS
for _place, _name in enumerate([*EVERY, *OFTEN]):
    _made = _rule_for(EVERY[_name])
    _made.__name__ = f"{_name}_{_place}"
    setattr(Machine, _made.__name__, rule(seed=SEEDS)(_made))


def attack(sequences: int, shard: int = 0) -> Stage:
    """Play this many sequences; print how many there were, and the seed to play them again."""
    stage = Stage()
    STAGE[:] = [stage]
    machine = hypothesis.seed(SEED + shard)(Machine)
    chosen = settings(
        max_examples=sequences,
        stateful_step_count=25,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(machine, settings=chosen)
    finally:
        stage.close()
        print(
            f"{stage.sequences} sequences, {stage.steps} steps,"
            f" {stage.executed} changes carried out with both signatures;"
            f" CONCORD_ATTACK_SEED={SEED} shard {shard}"
        )
    return stage


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("shard", range(SHARDS, SHARDS + FEW_SHARDS))  # not those of chaos
def test_an_attacker_changes_nothing_that_the_human_did_not_sign(shard: int) -> None:
    """V2 V5 V6 A2 With the agent's keys, the network and every server's keys: only what the human
    signed for is visible, and the log verifies."""
    stage = attack(SEQUENCES // FEW_SHARDS, shard)

    assert stage.executed > 0


@pytest.mark.chaos
@pytest.mark.timeout(0)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_an_attacker_changes_nothing_in_ten_thousand_sequences(shard: int) -> None:
    """V2 V5 V6 A2 The same, ten thousand times."""
    attack(CHAOS_SEQUENCES // SHARDS, shard)


def graph_writes() -> set[str]:
    """The request of every write RPC of graph: what has a request id, also in its header."""
    found = set()
    graph = [each for each in services() if each.file.package == "concord.graph.v1"]
    for method in (method for service in graph for method in service.methods):
        fields = method.input_type.fields_by_name
        header = fields["header"].message_type if "header" in fields else None
        if "request_id" in fields or (header and "request_id" in header.fields_by_name):
            found.add(method.input_type.full_name)
    return found


async def _try_every_write(it: Attack) -> None:
    while CREED_STANDS not in await it.visible(it.party):
        await EVERY["agrees_on_a_creed"](it)
    for name in ("goes_well", "proposes_something_descriptive"):
        for seed in range(8):
            it.chance = random.Random(seed)
            await EVERY[name](it)
    straight = ("writes_ungoverned", "remembers_constitutive", "enrols_again", "applies_directly")
    for name in (*WRITES, *straight):
        for seed in range(16):
            it.chance = random.Random(seed)
            await EVERY[name](it)
    await it.judge()
    assert CREED_STANDS in await it.visible(it.party)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_attacker_tries_every_write_of_graph() -> None:
    """G4 V2 Each write RPC is a step of the attacker's, on a space in which it could do harm."""
    stage = Stage()
    try:
        it = stage.run(stage.attack())
        stage.run(_try_every_write(it))
    finally:
        stage.close()

    assert graph_writes() - it.asked == set()
    assert len(graph_writes()) > 20
