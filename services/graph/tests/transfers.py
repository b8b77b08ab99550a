"""Moving spaces in tests: full exports, imports of them, and what both principals sign for one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from concord.graph.v1 import conflict_pb2, episode_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_client.transfer import agreed_in
from concord_client.trust import signing
from conflict_world import (
    CONFIRM,
    CONTRADICTION,
    EVOLUTION,
    EXCEPT,
    NUANCE,
    recorded,
    reopen,
    resolve,
    review,
)
from graph_world import AMENDS, DAY, SECRET, START, Calls, Clock, Parties, by_id, fact, stamp

PIECE = 1_000


async def export_of(
    calls: Calls, form: space_pb2.ExportForm.ValueType = space_pb2.EXPORT_FORM_FULL
) -> list[str]:
    """Return the lines of an export, the full one unless another form is named."""
    return await calls.export(form=form)


def file_of(lines: Iterable[str]) -> bytes:
    """Return lines as a file."""
    return "".join(f"{line}\n" for line in lines).encode()


async def import_into(
    calls: Calls,
    lines: Sequence[str] | bytes,
    *,
    grant: bytes = b"",
    secret: str = "",
    request_id: str = "",
) -> space_pb2.ImportSpaceResponse:
    """Import lines, or the bytes of a file, into the caller's space."""
    data = lines if isinstance(lines, bytes) else file_of(lines)
    header = space_pb2.ImportHeader(
        request_id=request_id or calls.request_id(), restore_grant=grant, enrolment_secret=secret
    )
    messages = [space_pb2.ImportSpaceRequest(header=header)]
    messages += [
        space_pb2.ImportSpaceRequest(piece=data[start : start + PIECE])
        for start in range(0, len(data), PIECE)
    ]
    return await calls.space_service.ImportSpace(iter(messages))


def restore_grant(
    parties: Parties, lines: Sequence[str], *, space: str = "", **other: Any
) -> bytes:
    """Return what both principals sign so that these lines are imported; all of it can be bent."""
    genesis = next(json.loads(line)["envelope"] for line in lines if '"kind":"genesis"' in line)
    agreed, standing = agreed_in(line.encode() for line in lines)
    said: dict[str, Any] = {
        "space": space or parties.space,
        "genesis_digest": signing.genesis_digest(genesis.encode()),
        "export_digest": hashlib.sha256(file_of(lines)).hexdigest(),
        "constitutive_digest": agreed,
        "keys": other.pop("standing", standing),
        "governance_key": signing.public_bytes(parties.governance),
        "expire_time": parties.expiry(),
    }
    keys = other.pop("keys", [parties.agent.key, parties.human.key])
    kind = other.pop("kind", signing.RESTORE_TYPE)
    return signing.sign_envelope(kind, signing.restore_payload(**said | other), keys)


async def restored(calls: Calls, lines: Sequence[str], parties: Parties) -> None:
    """Import lines with a genesis, as both principals have signed."""
    await import_into(calls, lines, grant=restore_grant(parties, lines), secret=SECRET)


async def furnish(calls: Calls, clock: Clock) -> None:
    """Do a little of everything that needs no consent."""
    await calls.put_node("Ada", label="Person")
    when = clock() - 9 * DAY
    edge = await calls.put_edge(
        "Ada", "WORKS_AT", "Acme", valid_from=when, properties={"n": 1, "x": [1.5, {}]}
    )
    await calls.put_edge("Ada", "WORKS_AT", "Acme", valid_from=clock() - DAY, weight=0.5)
    later = await calls.put_edge("Ada", "LIKES", "Tea")
    later.weight = 0.25
    await calls.delete_edge(await calls.update_edge(later, "weight"))
    moved = await calls.put_edge("Ada", "AT", "Zeta")
    await calls.relate(AMENDS, moved.id, edge.id, "moved")
    clock.pass_(1_000_003)
    first = await calls.add('Tea "quoted" \\ \u00fcn\u00ef\u2028code', id="tea", tags=["t"])
    await calls.add("Coffee. Supersedes: [[memory:tea]], [[memory:nobody/yet]]", id="coffee")
    await calls.forget(await calls.add("gone", external_id="x-1", valid_until=stamp(clock() + DAY)))
    await calls.restore(await calls.forget(await calls.add("back")))
    first.tags.append("u")
    first.properties.update({"n": 1, "x": [1.5, {}], "long": None})
    first.sources.add(file="notes.md", memory_ids=["coffee", "nobody/yet"])
    await calls.update(first, "tags", "properties", "sources")
    await calls.put_edge(by_id(first.id), "ABOUT", "Tea")
    await calls.declare("LIVES_IN")
    await calls.put_edge("Ada", "LIVES_IN", "Hamburg", valid_from=when)
    await calls.put_edge("Ada", "LIVES_IN", "Bremen")
    await calls.declare("SAYS", functional=False)
    await state_facts(calls)
    await with_layers(calls)
    await with_conflicts(calls)
    await erase_one(calls, when)
    await calls.get("tea", peek=False)
    await calls.get("coffee", peek=False)
    await calls.get_edge(edge.id, peek=False)


async def erase_one(calls: Calls, when: int) -> None:
    """Erase a memory with versions, with edges that lose what tells them apart, and a ghost."""
    secret = await calls.add("Ssh. Supersedes: [[memory:a-word-of-it]], [[memory:tea]]", id="s")
    for relation in ("ABOUT", "NAMES"):
        await calls.put_edge(by_id(secret.id), relation, "Tea", valid_from=when)
    secret.content = "Hush. Supersedes: [[memory:tea]]"
    secret = await calls.update(secret, "content")
    await calls.erase(secret, reason="asked to")


async def state_facts(calls: Calls) -> None:
    """State facts, alone and together, otherwise than before, no longer, forgotten and erased."""
    await calls.declare("BASED_IN")
    first = await calls.add(
        "Acme is based in Ulm, and pays well.",
        facts=[fact("Acme", "BASED_IN", "Ulm"), fact("Acme", "PAYS", "well", weight=0.5)],
        valid_from=stamp(START - 5 * DAY),
    )
    await calls.add(
        "Acme moved to Bonn.",
        facts=[fact("Acme", "BASED_IN", "Bonn", properties={"why": "rent"})],
        valid_from=stamp(START - 2 * DAY),
    )
    said = await calls.add("It pays.", facts=[fact("Acme", "PAYS", "well", properties={"a": 1})])
    del first.facts[1]
    first = await calls.update(first, "facts")
    first.facts.add(subject="Acme", relation="PAYS", object="badly")
    await calls.update(first, "facts")
    await calls.forget(said)
    doomed = await calls.add("Ssh.", facts=[fact("Acme", "HIDES", "gold"), *first.facts])
    hidden = await calls.get_triple("Acme", "HIDES", "gold")
    shown = await calls.put_edge("Acme", "SHOWS", "gold")
    await calls.relate(AMENDS, shown.id, hidden.id, "why")
    await calls.erase(doomed)


async def with_conflicts(calls: Calls) -> None:
    """Find, review, resolve and reopen conflicts, and erase a side of one that has words."""
    one, other = await calls.add("Tea is hot", id="hot"), await calls.add("Tea is cold", id="cold")
    spans = [conflict_pb2.Span(start=7, end=10)]
    kept = await recorded(calls, one, other, first_spans=spans, severity=2)
    kept = (await review(calls, kept, CONFIRM, "Not at once")).conflict
    kept = (await resolve(calls, kept, CONTRADICTION, one.id, "It cooled")).conflict
    await reopen(calls, kept)
    doomed = await calls.add("Tea is lukewarm")
    excepted = await recorded(calls, doomed, other, conflict_class=NUANCE, second_spans=spans)
    await review(calls, excepted, EXCEPT, "In the Alps")
    await calls.erase(doomed)
    edge, beside = [await calls.put_edge("Tea", "COSTS", price) for price in ("1", "2")]
    resolved = await recorded(calls, edge, beside, conflict_class=EVOLUTION, older_id=edge.id)
    await resolve(calls, resolved, EVOLUTION)
    await calls.add("So. Contradicts: [[memory:hot]], [[memory:nobody/yet]]")


async def with_layers(calls: Calls) -> None:
    """Add a dialogue, an episode and texts held in mind, of which some become stale."""
    await calls.append("talk", ("Ada", "Tea?"), ("Bob", "Coffee."))
    for number in range(12):
        await calls.hold(f"cup {number}", type_pb2.IMPORTANCE_LOW, "talk")
    episode = episode_pb2.AddEpisodeRequest(
        request_id=calls.request_id(), query="Offer tea", reward=1, memory_ids=["tea"]
    )
    await calls.episode.AddEpisode(episode)
