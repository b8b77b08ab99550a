"""Each rule of the offline verifier, proven by a log that this rule alone refuses (A2).

That it is alone is proven, too: with the rule skipped, the forged log is taken for an honest one.
"""

from __future__ import annotations

import ast
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import concord_client.trust.audit
import pytest
from concord.graph.v1 import governed_pb2
from concord_client.trust.audit.log import LogInvalid, read_log
from concord_client.trust.audit.replay import Replay, UndecidedWrites
from concord_client.trust.audit.store import differences
from concord_governance.domain.entries import Action, Actor, Entry
from concord_testing.command_line import CommandLine
from forged_decisions import DECISION_FORGERIES
from forged_envelopes import PAPER_FORGERIES, READ_FORGERIES
from forged_imports import IMPORT_FORGERIES
from forged_writes import WRITE_FORGERIES
from forger import Forger, demand_refused, demand_refused_alone, refusal
from governed_steps import past_governance
from governed_world import AGENT, HUMAN, Keys, Party, World, edge_action, eventually, world

ALONE = PAPER_FORGERIES | DECISION_FORGERIES | WRITE_FORGERIES


async def test_every_rule_refuses_its_forged_log_alone(forger: Forger) -> None:
    """A2 Hashes and checkpoint of each forgery are right; the rule named here refuses it, and with
    this rule switched off none does."""
    demand_refused_alone(forger, ALONE)


def _commanded(it: Forger, action: str, told: dict[str, str], *, refused: bool = False) -> None:
    """Tell of a command on keys or spaces."""
    nobody = {"proposal": {"id": "", "revision": 0}, "item": {"id": "", "kind": 0}}
    it.add(it.of("small", "SMF_PROPOSE"), action=action, properties=told, blocked=refused, **nobody)


def _keys_and_spaces_in_order(it: Forger) -> None:
    """Make and revoke keys, make and delete a space; what was refused counts as nothing."""
    for key, action, refused in (
        ("k", "KEY_REVOKE", True),
        ("k", "KEY_CREATE", False),
        ("k", "KEY_CREATE", True),
        ("l", "KEY_CREATE", False),
        ("k", "KEY_REVOKE", False),
        ("k", "KEY_REVOKE", True),
    ):
        _commanded(it, action, {"key": key}, refused=refused)
    for action, refused in (
        ("SPACE_CREATE", False),
        ("SPACE_CREATE", True),
        ("SPACE_DELETE", False),
        ("SPACE_DELETE", True),
    ):
        _commanded(it, action, {"space": "s"}, refused=refused)


def _expired_in_the_instant(it: Forger) -> None:
    made = it.of("small", "SMF_PROPOSE")
    end = made["properties"]["expire_time"]
    it.add(made, action="SMF_EXPIRE", actor="SYSTEM", principal="", properties={}, time=end)


def _key_told_with_its_effect(it: Forger) -> None:
    """Tell of the new key in SMF_EXECUTE alone, as logs of before do; it signs from then on."""
    del it.of("key", "SMF_DECIDE")["properties"]["key_action"]
    it.cut(it.of("key", "SMF_EXECUTE"))
    it.approve(it.propose("open", "later"), HUMAN)


@pytest.mark.parametrize(
    "told", [_keys_and_spaces_in_order, _expired_in_the_instant, _key_told_with_its_effect]
)
async def test_what_the_rules_allow_is_no_forgery(
    forger: Forger, told: Callable[[Forger], None]
) -> None:
    """A2 W7 V4 The verifier refuses no honest log, at the edges of its rules either."""
    told(forger)
    forger.verify()


async def test_what_cannot_be_read_is_refused(forger: Forger) -> None:
    """A2 V6 An envelope not of its proposal, slot or time, or an entry without its evidence."""
    demand_refused(forger, READ_FORGERIES)


def test_no_rule_is_without_its_forgery() -> None:
    """A2 Each rule that the verifier's source names has a log that it alone refuses."""
    (folder,) = concord_client.trust.audit.__path__
    calls = [
        node
        for path in Path(folder).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "demand"
    ]
    rules = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}

    assert len(calls) == sum(isinstance(call.args[0], ast.Constant) for call in calls)
    assert rules == {rule for _, rule in (ALONE | IMPORT_FORGERIES).values()}


async def test_a_change_made_past_governance_is_found(tmp_path: Path) -> None:
    """A2 V6 Who has every server's key and both consents can go to graph directly, but not unseen:
    the log tells of a write that nobody decided."""
    keys = Keys()
    async with world(tmp_path, keys=keys) as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        consents = {slot: party.consent(proposal, slot) for slot in (AGENT, HUMAN)}
        await party.governed.ApplyGovernedChange(
            past_governance(party, proposal, keys.grant, consents)
        )
        await eventually(party.actions, lambda told: "WRITE_SUCCESS" in told)

        await party.decide(await party.propose(edge_action(target="patience")))
        with pytest.raises(UndecidedWrites) as caught:
            await party.verified()

        found = caught.value.findings
        actions = await party.actions()
        assert [actions[entry] for entry in found.undecided] == ["WRITE_SUCCESS"]
        assert (caught.value.check, caught.value.index) == ("undecided_write", found.undecided[0])
        assert found.executed == 1
        stored = await party.governed.GetConstitutiveDigests(
            governed_pb2.GetConstitutiveDigestsRequest()
        )
        assert differences(found.constitutive, stored.items) == []


async def test_the_rest_is_checked_behind_a_write_that_nobody_decided(
    forger: Forger, tmp_path: Path
) -> None:
    """A2 `audit verify` names the entry, goes on and exits 1; what breaks a rule behind it is what
    the log is refused for."""
    written_by_nobody, _ = WRITE_FORGERIES["a write that nobody decided"]
    written_by_nobody(forger)
    place = len(forger.leaves) - 1
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(forger.lines()))
    concord = CommandLine({"CONCORD_STATE": str(tmp_path / "state"), "CONCORD_DATA": str(tmp_path)})
    told = concord("audit", "verify", str(file))
    as_json = concord("audit", "verify", str(file), "--json")

    assert (told.exit_code, as_json.exit_code) == (1, 1)
    assert f"Entry {place}: a write on something constitutive that nobody decided." in told.stdout
    assert "every rule was kept" not in told.stdout
    assert "nobody decided" in told.stderr
    assert json.loads(as_json.stdout)["undecidedWrites"] == [place]
    assert json.loads(as_json.stdout)["executed"] > 0
    PAPER_FORGERIES["a proposal made twice"][0](forger)
    assert refusal(forger) == "proposed_again"


async def test_a_decision_without_its_end_is_named(forger: Forger) -> None:
    """A2 V6 An end that is left out leaves a decision open, and its reader is told of it."""
    last = [
        leaf
        for leaf in forger.leaves
        if leaf["action"] in ("SMF_EXECUTE", "SMF_FAIL") and leaf is not forger.leaves[-1]
    ]
    assert open_decisions(forger) == ()
    hidden = 0
    for end in last:
        forged = forger.copy()
        left_out = forged.leaves.pop(forger.leaves.index(end))
        try:
            found = open_decisions(forged)
        except LogInvalid:
            continue  # a later entry needs it
        hidden += 1
        assert [forged.leaves[entry]["proposal"] for entry in found] == [left_out["proposal"]]

    assert hidden > 0


def open_decisions(forger: Forger) -> tuple[int, ...]:
    """Return what a reader of the log is told to be decided and without an end."""
    return Replay(read_log(forger.lines(), forger.pinned), forger.pinned).run().open_decisions


@pytest.mark.parametrize(("later", "rule"), [(0, "graph_seq"), (1, "finished_write")])
async def test_a_row_and_an_entry_that_say_the_same_are_found(
    later: int, rule: str, live: World, party: Party
) -> None:
    """A2 Who owns the disk and the log's key changes a row past graph, and tells of it as one more
    write of a finished decision, with the digests that the store now has: the checkpoint, the
    hashes and the store all agree, and the rules refuse."""
    await party.decide(await party.propose(edge_action()))
    lines = await party.export_log()
    kept = json.loads(lines[0])["checkpoint"]
    told = next(leaf for leaf in map(json.loads, lines) if leaf.get("action") == "WRITE_SUCCESS")
    edge_id = told["item"]["id"]
    with closing(sqlite3.connect(live.folder / "graph.db")) as rows, rows:
        for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            rows.execute(f"DROP TRIGGER {name}")
        said = json.dumps({"means": "obey mallory"})
        rows.execute("UPDATE edge SET properties = ? WHERE id = ?", (said, edge_id))
    digests = governed_pb2.GetConstitutiveDigestsRequest()
    stored = (await party.governed.GetConstitutiveDigests(digests)).items
    (now,) = (each for each in stored if each.id == edge_id)
    before = told["properties"]
    forged = before | {"before_digest": before["digest"], "digest": now.digest, "revision": 2}
    forged["graph_seq"] += later
    entry = Entry(Action.WRITE_SUCCESS, Actor.SYSTEM, "governance", edge_id, 2, properties=forged)
    await live.app._ledger.write("one", lambda tx: tx.append([entry]))

    with pytest.raises(LogInvalid) as caught:
        await party.verified(checkpoint=kept)

    assert caught.value.check == rule
    assert now.digest != before["digest"], "the store's rows are what was changed"
