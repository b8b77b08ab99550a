"""Whose signatures count in a space: the principals' keys now, and those that were replaced (V5).

A retired key stays among the burnt nonces, by digests, with each key that counted in its place. So
a backup's receipts name it, and the restore of a backup from before the change knows that the key
which is current there is retired.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from concord_attestation.bounds import MAX_KEYS
from concord_attestation.consent import REQUIRED_SLOTS, GenesisRecord, PrincipalKey, SlotKeys
from concord_attestation.keys import key_id
from concord_attestation.parties import verify_genesis
from concord_attestation.restore import restored_governance_key

from concord_graph.domain.errors import GenesisDamaged, GenesisMissing
from concord_graph.domain.items import PRINCIPAL_RELATION, Edge
from concord_graph.ports import GraphStore, Reads

SPACE_NODE = "concord:space"
RETIRED = "retired:"
"""Prefix of the burnt nonces that stand for replaced keys: "retired:SLOT:OLD:NEW", both as hex
SHA-256. Those of consents begin with their slot, those of grants have no colon."""
_NONCE = re.compile(rf"{RETIRED}([A-Z]+):([0-9a-f]{{64}}):([0-9a-f]{{64}})")
_KEY_BYTES = 32
_PAGE = 500


@dataclass(frozen=True, slots=True)
class RetiredKey:
    """A slot's key that another one made void, by its place or by staying; hex SHA-256 of both."""

    slot: str
    old: str
    new: str

    @classmethod
    def of(cls, slot: str, old: bytes, new: bytes) -> RetiredKey:
        """Return the replacement of one raw public key by another."""
        return cls(slot, key_id(old), key_id(new))

    @property
    def nonce(self) -> str:
        """The nonce that is burnt for it."""
        return f"{RETIRED}{self.slot}:{self.old}:{self.new}"


async def retired_keys(tx: Reads) -> Sequence[RetiredKey]:
    """Return the space's replaced keys, those among them that only receipts told of."""
    found: list[RetiredKey] = []
    after = RETIRED
    while page := await tx.nonces(after, _PAGE):
        for after in page:
            named = _NONCE.fullmatch(after)
            if named is None:
                return found
            found.append(RetiredKey(*named.groups()))
    return found


async def keys_now(tx: Reads) -> GenesisRecord:
    """Return the genesis with the keys that count now: both slots' and this system's governance's.

    A key that was retired since the backup of a restored store names its successors; a slot is
    closed when all of its keys are.

    Raises:
        GenesisMissing: the space has none.
        GenesisDamaged: a slot has no key, or one that is none.
    """
    founding = await tx.founding()
    if not founding.genesis:
        raise GenesisMissing
    genesis = verify_genesis(founding.genesis, tx.space)
    keys = {str(edge.properties.get("slot", "")): _keys(edge) for edge in await principal_edges(tx)}
    if keys.keys() != set(REQUIRED_SLOTS) or not all(map(_are_sound, keys.values())):
        raise GenesisDamaged
    imported = founding.imported
    governance_key = restored_governance_key(imported.restore) if imported else b""
    retired = await retired_keys(tx)

    def holder(slot: str) -> SlotKeys:
        counted = [
            replace(key, successors=_successors(slot, key.public_key, retired))
            for key in keys[slot]
        ]
        return SlotKeys(genesis.slot(slot).principal, tuple(counted))

    return replace(
        genesis,
        governance_key=governance_key or genesis.governance_key,
        agent=holder("AGENT"),
        human=holder("HUMAN"),
    )


async def closed_slots(store: GraphStore, space: str) -> tuple[str, ...]:
    """Return the slots of a space without a key that counts. Raises as `keys_now`."""

    async def work(tx: Reads) -> tuple[str, ...]:
        return (await keys_now(tx)).closed_slots if (await tx.founding()).genesis else ()

    return await store.read(space, work)


async def principal_edges(tx: Reads) -> Sequence[Edge]:
    """Return the edges that name the principals and their keys."""
    space = await tx.live_node_named(SPACE_NODE)
    edges = await tx.edges_at(space.id, live=True) if space else ()
    return [edge for edge in edges if edge.relation == PRINCIPAL_RELATION]


def with_keys(edge: Edge, keys: Sequence[PrincipalKey]) -> Edge:
    """Return a principal's edge with these keys: at least one, the first of them under "key"."""
    first, *further = ({"key": key_text(key.public_key), "label": key.label} for key in keys)
    properties = {"slot": edge.properties["slot"], **first, "further_keys": further}
    return replace(edge, properties={name: value for name, value in properties.items() if value})


def key_text(key: bytes) -> str:
    """Return a raw public key as an edge of a principal names it."""
    return urlsafe_b64encode(key).rstrip(b"=").decode()


def _successors(slot: str, key: bytes, retired: Sequence[RetiredKey]) -> tuple[str, ...]:
    """Return the last keys that replaced a key, over any number of changes; none if none did."""
    replaced = {each.old for each in retired if each.slot == slot}
    if key_id(key) not in replaced:
        return ()
    followed = {key_id(key)}
    for _ in retired:
        followed |= {each.new for each in retired if each.slot == slot and each.old in followed}
    # Receipts that lead in a circle leave none: then each is named, and `change_key` takes none.
    return tuple(sorted(followed - replaced or followed))


def _keys(edge: Edge) -> tuple[PrincipalKey, ...]:
    """Return the keys that a principal's edge names; one that is no text has no bytes."""
    further = edge.properties.get("further_keys", [])
    named = [edge.properties, *(further if isinstance(further, list) else [None])]
    return tuple(
        PrincipalKey(_key(str(each.get("key", ""))), str(each.get("label", "")))
        if isinstance(each, Mapping)
        else PrincipalKey(b"")
        for each in named
    )


def _are_sound(keys: Sequence[PrincipalKey]) -> bool:
    return len(keys) <= MAX_KEYS and all(len(key.public_key) == _KEY_BYTES for key in keys)


def _key(text: str) -> bytes:
    """Return the key of this text; empty if it is no base64url."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""


async def genesis_digest(tx: Reads, _now: int) -> str:
    """Return the digest of the space's genesis; empty without one."""
    envelope = (await tx.founding()).genesis
    return verify_genesis(envelope, tx.space).digest if envelope else ""


async def genesis(tx: Reads, _now: int) -> tuple[GenesisRecord, bytes, int] | None:
    """Return the genesis with the keys that count now, its envelope, and the import's change.

    The last is the number of the change that imported it, 0 if it was not imported.
    """
    founding = await tx.founding()
    if not founding.genesis:
        return None
    seq = founding.imported.seq if founding.imported else 0
    return await keys_now(tx), founding.genesis, seq
