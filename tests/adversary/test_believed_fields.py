"""The fields of an entry that the offline verifier believes: decision 0009 lists them (A2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from access_world import OPERATING, AccessClient
from concord.type.v1 import type_pb2
from forger import Forger, Leaf, refusal, told_by
from governed_world import DAY, Keys, Party, edge_action, world
from settling import REJECT, plain, settle

PAGE = Path(__file__).parents[2] / "services" / "decisions" / "0009-who-can-do-what.md"
ROW = re.compile(r"^\| ([A-Z_, ]+) \| (.+) \|$", re.MULTILINE)
TRIES = 4
"""So many entries of an action have each of their fields changed, one at a time."""
FRAME = frozenset({"version", "space", "index", "item", "proposal", "properties"})


async def test_the_page_lists_every_field_that_can_be_told_otherwise(tmp_path: Path) -> None:
    """A2 0009 Any other field that an owner of the log's key changes refuses the log."""
    keys = Keys()
    async with world(tmp_path, keys=keys) as live:
        party = live.party()
        await settle(party, await plain(party))
        await settle(party, await plain(party), REJECT, reason="It is coffee.")
        await party.enrol()
        await _revised_withdrawn_and_expired(party)
        ops = AccessClient(live, OPERATING)
        await ops.space(party.space)
        await ops.revoke((await ops.key(party.space)).key)
        forger = await told_by(party, keys)
    assert refusal(forger) == ""

    believed: dict[str, set[str]] = {leaf["action"]: set() for leaf in forger.leaves}
    for place, action, path in _fields(forger):
        if _is_believed(forger, place, path):
            believed[action].add(".".join(path).removeprefix("properties."))

    assert believed == _on_the_page()


async def _revised_withdrawn_and_expired(party: Party) -> None:
    waiting = await party.propose(edge_action(target="rum"))
    descriptive = edge_action(target="rye", edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE)
    await party.withdraw(await party.revise(waiting, descriptive))
    await party.propose(edge_action(target="port"))
    party.clock.pass_(3 * DAY)


def _fields(forger: Forger) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the place, action and path of each field to change."""
    tried: dict[tuple[str, tuple[str, ...]], int] = {}
    for place, leaf in enumerate(forger.leaves):
        nested = ("item", "proposal", "properties")
        paths: list[tuple[str, ...]] = [(name,) for name in leaf if name not in FRAME]
        paths += [(part, name) for part in nested for name in leaf[part]]
        for path in paths:
            count = tried[leaf["action"], path] = tried.get((leaf["action"], path), 0) + 1
            if count <= TRIES:
                yield place, leaf["action"], path


def _is_believed(forger: Forger, place: int, path: tuple[str, ...]) -> bool:
    for value in _others(_within(forger.leaves[place], path)[path[-1]]):
        forged = forger.copy()
        _within(forged.leaves[place], path)[path[-1]] = value
        if refusal(forged) == "":
            return True
    return False


def _within(leaf: Leaf, path: tuple[str, ...]) -> Leaf:
    for name in path[:-1]:
        leaf = leaf[name]
    return leaf


def _others(value: Any) -> list[Any]:
    """Return other values of the same form."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1]
        case str() if value.startswith("ERROR_REASON_"):
            return ["ERROR_REASON_OTHER"]
        case str():
            return [f"{value}x"]
        case list():
            return [[*value, "x"], value[:-1]]
        case _:
            return [{**value, "x": 1}]


def _on_the_page() -> dict[str, set[str]]:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    return {
        action: set(re.findall("`([^`]+)`", fields))
        for actions, fields in rows
        for action in actions.split(", ")
    }
