"""Exports that were tampered with: what is wrong with each, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from concord_graph.domain.digests import digest
from concord_graph.usecases.transfer.full_lines import FORMAT, decode
from transfers import file_of

Record = dict[str, Any]
Records = list[Record]
Forge = Callable[[Records], object]


def resealed(records: Records) -> list[str]:
    """Return records as lines whose counts and digest are right."""
    header, *body, end = records
    lines = [spelt(record) for record in body]
    counts = Counter(record["kind"] for record in body)
    seal = {"lines": len(body), "digest": sha256(file_of(lines)).hexdigest()}
    return [spelt(header | {"counts": counts}), *lines, spelt(end | seal)]


def spelt(record: Record) -> str:
    """Return a record in the spelling of an export."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def find(records: Records, kind: str, place: int = 0, /, **said: object) -> Record:
    """Return a record of a kind that says this."""
    return [r for r in records if r["kind"] == kind and said.items() <= r.items()][place]


def change_of(records: Records, item: Record) -> Record:
    """Return the change that made a revision."""
    return find(records, "change", seq=item["revision"]["seq"])


def told(records: Records, item: Record, **said: object) -> None:
    """Have a revision say something else, and its change know of that."""
    change = change_of(records, item)
    item |= said
    made = decode(spelt(item))
    change |= {"digest": digest(made), "item_id": item["id"]}  # type: ignore[arg-type] # a revision
    change["revision"] = item["revision"]["number"]


def edited(kind: str, place: int, said: Mapping[str, object], **revision: object) -> Forge:
    """Return the forgery that has a revision say something else."""

    def forge(records: Records) -> None:
        item = find(records, kind, place)
        told(records, item, **said, revision=item["revision"] | revision)

    return forge


def tea(records: Records, number: int) -> Record:
    """Return a revision of the memory that has two."""
    return find(records, "memory", number - 1, id="tea")


def second_tea(said: Mapping[str, object], **revision: object) -> Forge:
    """Return the forgery that has the second revision of a memory say something else."""

    def forge(records: Records) -> None:
        item = tea(records, 2)
        told(records, item, **said, revision=item["revision"] | revision)

    return forge


def swapped(kind: str) -> Forge:
    """Return the forgery that exchanges the first two records of a kind."""

    def forge(records: Records) -> None:
        first, second = [i for i, r in enumerate(records) if r["kind"] == kind][:2]
        records[first], records[second] = records[second], records[first]

    return forge


def with_nonces(*nonces: str) -> Forge:
    """Return the forgery that adds burnt nonces."""
    return lambda records: records.__setitem__(
        slice(-1, -1), [{"kind": "nonce", "nonce": nonce} for nonce in nonces]
    )


def nonce_before_reads(records: Records) -> None:
    """Put a burnt nonce where reads stand."""
    first = records.index(find(records, "access"))
    records.insert(first, {"kind": "nonce", "nonce": "a"})


def nonce_among_changes(records: Records) -> None:
    """Put a burnt nonce before a memory's second revision."""
    records.insert(records.index(tea(records, 2)), {"kind": "nonce", "nonce": "a"})


def changed_erased(kind: str, **said: object) -> Forge:
    """Return the forgery that has an erased revision say something."""

    def forge(records: Records) -> None:
        item = next(r for r in records if r["kind"] == kind and "erase_time" in r)
        item |= said

    return forge


def without(kind: str, **said: object) -> Forge:
    """Return the forgery that takes a record out."""
    return lambda records: records.remove(find(records, kind, **said))


def changed(kind: str, place: int, **said: object) -> Forge:
    """Return the forgery that has a record say something else, whatever others say."""
    return lambda records: find(records, kind, place).update(said)


def taken_id(records: Records) -> None:
    """Begin an item under the id of another."""
    told(records, find(records, "node", 2), id=find(records, "node", 0)["id"])


def _as_revocation(**said: object) -> Forge:
    """Return the forgery that has a change of no revision be a revocation."""
    return lambda records: find(records, "change", type="STANDING_CHANGED").update(
        type="REVOKED", **said
    )


COLD = {"id": "cold", "kind": 3, "etag": ""}
CONFLICT = {
    **{"conflict_class": 2, "judge": 2, "author": "a", "older_id": "", "type": 0, "severity": 0},
    **{"confidence": 1.0, "rule": "", "reviewed_by": "", "contradicts_id": "", "resolution": None},
    **{"reopens_at": 0, "consented": False},
}
FORGERIES: Sequence[tuple[str, Forge]] = (
    (f"has format {FORMAT + 1}", changed("export", 0, format=FORMAT + 1)),
    ("changes that no import made", lambda r: r[0].update(imports=[_plain(find(r, "change"))])),
    ("burns what no import burns", changed("export", 0, burnt=["abc"])),
    ("a revocation without its envelope", _as_revocation()),
    (
        "is a revocation without its envelope, or has one and is none",
        changed("change", 0, paper="{}"),
    ),
    ("takes back a consent where nobody consents", _as_revocation(paper="{}")),
    ("is a second first line", lambda records: records.insert(3, dict(records[0]))),
    ("a field that this program does not know", changed("node", 0, colour="red")),
    ("a value of another type", changed("node", 0, label=7)),
    ("should be a time and is none", changed("node", 0, create_time="today")),
    ("out of order", without("change", type="STANDING_CHANGED")),
    ("out of order", changed("change", 4, record_time="2001-01-01T00:00:00.000000Z")),
    ("has no revision", without("node")),
    ("the line before belongs to", lambda r: r.remove(change_of(r, find(r, "node")))),
    ("does not follow on the one before", second_tea({}, number=3)),
    ("whose id is taken", taken_id),
    (
        "is said to end",
        lambda r: tea(r, 1)["revision"].update(record_until="2031-01-01T00:00:00.000000Z"),
    ),
    (
        "revisions are missing",
        lambda r: tea(r, 2)["revision"].update(record_until="2031-01-01T00:00:00.000000Z"),
    ),
    (
        "the line before belongs to",
        edited("node", 0, {}, record_from="2001-01-01T00:00:00.000000Z"),
    ),
    ("of another principal", edited("node", 0, {}, principal="somebody")),
    ("a digest that is not the revision's", changed("node", 0, label="Robot")),
    ("a digest that is not the revision's", changed("change", 0, digest="0" * 64)),
    (
        "a digest that is not the revision's",
        lambda r: change_of(r, tea(r, 2)).update(before_digest="0" * 64),
    ),
    ("of another item than the one before", second_tea({}, salt="00")),
    (
        "of another item than the one before",
        second_tea({"create_time": "2001-01-01T00:00:00.000000Z"}),
    ),
    ("an end that is not there", edited("edge", 0, {"target": {"id": "x", "kind": "NODE"}})),
    (
        "an end that is not there",
        edited(
            "edge",
            0,
            {"source": {"id": "tea", "kind": "MEMORY"}, "target": {"id": "tea", "kind": "NODE"}},
        ),
    ),
    (
        "names what is not there",
        edited(
            "episode",
            0,
            {"body": {"query": "", "reflection": "", "reward": 1.0, "memory_ids": ["x"]}},
        ),
    ),
    (
        "names what is not there",
        edited(
            "episode", 0, {"body": {"query": "", "reflection": "", "reward": "1", "memory_ids": []}}
        ),
    ),
    ("names what is not there", edited("working_memory", 0, {"body": {}})),
    ("names what is not there", edited("conflict", 0, {"body": {}})),
    ("names what is not there", edited("conflict", 0, {"shelf": "LOST"})),
    *(
        ("names what is not there", edited("conflict", 0, {"body": {**CONFLICT, **sides}}))
        for sides in (
            {"first": {"id": "x", "kind": 2, "etag": ""}, "second": {**COLD, "kind": 2}},
            {"first": {"id": "a", "kind": 3, "etag": ""}, "second": {**COLD, "kind": 2}},
            {"first": {"id": "z", "kind": 3, "etag": ""}, "second": COLD},
        )
    ),
    ("another live item has this name", edited("node", 1, {"name": "Ada"})),
    (
        "is of an import",
        changed(
            "change", 0, author={"method": "ImportSpace", "principal": "agent-1", "request_id": "r"}
        ),
    ),
    ("another live item has this name", edited("relation", 1, {"name": "LIVES_IN"})),
    ("of another change", changed("support", 0, record_from="2001-01-01T00:00:00.000000Z")),
    ("not the facts of their memory", changed("support", 0, memory_id="nobody")),
    ("not the facts of their memory", lambda r: find(r, "support")["edges"].pop()),
    ("not the facts of their memory", lambda r: find(r, "support")["edges"].reverse()),
    ("not the facts of their memory", lambda r: find(r, "support").update(edges=["a", "b"])),
    ("the edges are missing", without("support")),
    ("not the receipt", without("erasure")),
    ("not the receipt", changed("erasure", 0, digest="0" * 64)),
    ("not the receipt", changed("erasure", 0, memory_id="tea")),
    ("an erased revision that says something", changed_erased("memory", content="Ssh.")),
    ("an erased revision that says something", changed_erased("edge", relation="ABOUT")),
    ("of an item that is not there", changed("access", 0, id="0")),
    ("is out of order", swapped("access")),
    ("changes or revisions are missing", nonce_among_changes),
    ("is out of order", with_nonces("b", "a")),
    ("is out of order, of an import", with_nonces("restore:a")),
    ("where such a line may stand", nonce_before_reads),
)
"""What is said of each forged export, and how it is forged."""

CONSENTED: Mapping[str, Forge] = {
    "an edge": edited("edge", 0, {"edge_type": "CONSTITUTIVE"}),
    "a memory": edited("memory", 0, {"edge_type": "CONSTITUTIVE"}),
    "lineage": lambda r: told(r, find(r, "edge", relation="SUPERSEDES"), governed=True),
    "a principal's node": edited("node", 0, {"name": "concord:space"}),
    "a principal's edge": edited("edge", 0, {"relation": "concord:principal"}),
}
"""What only both principals' consent can have made."""


def _plain(record: Record) -> Record:
    return {key: value for key, value in record.items() if key != "kind"}
