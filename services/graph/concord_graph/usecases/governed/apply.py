"""Changes that protection lets through: a space's genesis, then granted changes (V5, V6)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from concord_attestation.agreed import Agreed, constitutive_digest
from concord_attestation.consent import (
    REQUIRED_SLOTS,
    ConsentError,
    ConsentInvalid,
    GenesisRecord,
    Grant,
    GrantInvalid,
    RestoreGrant,
    RestoreInvalid,
    of_slot,
)
from concord_attestation.key_changes import verify_key_change
from concord_attestation.parties import verify_genesis
from concord_attestation.restore import verify_restore
from concord_attestation.verify import verify_grant, verify_revocation

from concord_graph.domain.digests import digest, etag
from concord_graph.domain.errors import (
    ConstitutiveProtected,
    EnrolmentSecretInvalid,
    GenesisDamaged,
    GenesisExists,
    GenesisMissing,
    ItemErased,
    SpaceDeleted,
)
from concord_graph.domain.items import PRINCIPAL_RELATION, Edge, EdgeType, End, Item, ItemKind, Node
from concord_graph.ports import (
    Acknowledged,
    ChangeApplied,
    ItemEffect,
    Reads,
    Ref,
    Result,
    Writes,
    Written,
    shown,
)
from concord_graph.usecases.governed.change_digest import demand_expected_state
from concord_graph.usecases.governed.principal_keys import (
    SPACE_NODE,
    RetiredKey,
    key_text,
    keys_now,
    principal_edges,
    retired_keys,
    with_keys,
)
from concord_graph.usecases.read.attested import digests_of_ends
from concord_graph.usecases.read.items import item_by_id, record_by_id
from concord_graph.usecases.write.cascade import Scope, cascade
from concord_graph.usecases.write.commands import Command
from concord_graph.usecases.write.recorder import Effect
from concord_graph.usecases.write.writer import Writer, written

GOVERNANCE_NODE = "concord:governance"
GOVERNANCE_RELATION = "concord:governance_key"
MOST_ORPHANS = 1_000
_NOT_GOVERNANCES = frozenset({"envelope", "governance_signature"})
"""The checks that a grant fails if governance has not signed it."""
RESTORED = "restore:"
"""Prefix of the burnt nonces of restore grants; those of consents begin with their slot, those of
grants have no colon."""


@dataclass(frozen=True, slots=True)
class Restore:
    """The restore grant and the enrolment secret, which an import with a genesis needs."""

    grant: bytes = b""
    secret: str = ""


@dataclass(frozen=True, slots=True)
class GovernedChange:
    """A change that governance asks graph to apply.

    `grant`: the signed envelope; empty if the change needs no consent. `etags`: without a grant,
    the items' versions, by id, when the change was proposed. `newest`: sequence number and digest
    of the last change that governance has read from the feed. `changes_key`: the command is
    `GovernedChanges.change_key`.
    """

    command: Command[Result]
    action_digest: str
    scope: Scope
    newest: tuple[int, str]
    grant: bytes = b""
    etags: Mapping[str, str] = field(default_factory=dict)
    changes_key: bool = False


class GovernedChanges:
    """Applies changes that both principals consented to, and no others.

    `enrolment` maps a space to the hex SHA-256 of its one-time enrolment secret, for spaces without
    a registered one.
    """

    def __init__(
        self,
        enrolment: Mapping[str, str],
    ) -> None:
        self._enrolment = enrolment

    async def enrol(self, writer: Writer, secret: str, envelope: bytes) -> Acknowledged:
        """Write the genesis of a space that has none: principals and keys as constitutive edges."""
        if (await writer.tx.founding()).genesis:
            raise GenesisExists
        await self._demand_secret(writer.tx, secret)
        record = verify_genesis(envelope, writer.tx.space)
        await writer.tx.open_grant(record.digest)
        await writer.tx.open_principals()
        await writer.tx.put_genesis(record, envelope)
        await _write_principals(writer.with_grant(record), record)
        return Acknowledged()

    async def change(self, writer: Writer, change: GovernedChange) -> ChangeApplied:
        """Apply one change, under its grant if it needs consent.

        A grant is verified, and its nonces are burnt, in the transaction of the change. Without a
        grant the items must have the versions of `change.etags`.
        """
        tx = writer.tx
        if not change.grant:
            await demand_expected_state(tx, *change.newest)
            await demand_etags(tx, change.etags)
            return await _with_effects(writer, change.command, change.etags, change.scope)
        grant = await self._verified(writer, change)
        await demand_etags(tx, grant.etags)
        if not await tx.burn(grant.nonces):
            raise GrantInvalid("nonce")
        await tx.open_grant(grant.action_digest)
        granted = writer.with_grant(grant)
        applied = await _with_effects(granted, change.command, grant.etags, change.scope)
        if not any(effect.governed for effect in granted.effects):
            raise GrantInvalid("etags")  # the change was made already: nothing needed consent
        return applied

    async def recall(self, writer: Writer, newest: tuple[int, str]) -> ChangeApplied:
        """Refuse a change whose action was erased.

        It was never applied: otherwise its receipt would have answered before this command ran.

        `newest`: as in `GovernedChange`.
        """
        await demand_expected_state(writer.tx, *newest)
        raise ItemErased("")

    async def _verified(self, writer: Writer, change: GovernedChange) -> Grant:
        """Return the verified grant.

        A store that was restored from a backup may hold other keys than those that signed the
        consents. Then `RolledBack` is raised instead of their errors, if governance's signature
        holds.
        """
        try:
            keys = await keys_now(writer.tx)
            grant = verify_grant(
                change.grant,
                genesis=keys.changing_key() if change.changes_key else keys,
                space=writer.tx.space,
                action_digest=change.action_digest,
                now_us=writer.now,
            )
        except (ConsentError, GenesisMissing, GenesisDamaged) as error:
            if not (isinstance(error, GrantInvalid) and error.check in _NOT_GOVERNANCES):
                await demand_expected_state(writer.tx, *change.newest)
            raise
        await demand_expected_state(writer.tx, *change.newest)
        return grant

    async def revoke(self, writer: Writer, envelope: bytes) -> Acknowledged:
        """Burn a consent's nonce, on its principal's signature alone, and record the revocation."""
        answer = verify_revocation(envelope, await keys_now(writer.tx))
        if not await writer.tx.burn([of_slot(answer.slot, answer.nonce)]):
            raise ConsentInvalid(answer.slot, "nonce")
        await writer.record_revocation(envelope.decode())
        return Acknowledged()

    async def change_key(self, writer: Writer, proof: bytes) -> Written:
        """Add, replace or retire a principal's key; this always needs a grant."""
        tx = writer.tx
        retired = {each.old for each in await retired_keys(tx)}
        change = verify_key_change(proof, await keys_now(tx), retired)
        for edge in await principal_edges(tx):
            if edge.properties.get("slot") == change.slot:
                for key in change.successors:  # each alone: a receipt may have told of one before
                    await tx.burn([RetiredKey.of(change.slot, change.retired, key).nonce])
                await tx.open_principals()
                keyed = await writer.put_key(edge, with_keys(edge, change.holder.keys))
                return written(edge, keyed)
        raise GenesisDamaged

    async def restore(
        self, writer: Writer, envelope: bytes, export_digest: str, restore: Restore
    ) -> tuple[Writer, RestoreGrant]:
        """Return a writer that may import constitutive items, and the restore grant.

        Both principals of the imported genesis must have signed this export's digest and this
        space; the grant's nonce is burnt. The enrolment secret is demanded as for any genesis,
        since whoever invents principals can sign for them as well. `demand_as_signed` compares the
        import with the grant once all of it has been read.
        """
        tx = writer.tx
        if not restore.grant:
            raise ConstitutiveProtected("", "this would import what both principals agreed to")
        genesis = verify_genesis(envelope, tx.space)
        grant = verify_restore(
            restore.grant,
            genesis=genesis,
            space=tx.space,
            export_digest=export_digest,
            now_us=writer.now,
        )
        await self._demand_secret(tx, restore.secret)
        if not await tx.burn([RESTORED + grant.nonce]):
            raise RestoreInvalid("nonce")
        await tx.open_grant(export_digest)
        await tx.open_principals()
        await tx.put_genesis(genesis, envelope)
        return writer.with_grant(grant), grant

    async def _demand_secret(self, tx: Reads, secret: str) -> None:
        given = hashlib.sha256(secret.encode()).hexdigest()
        known = (await tx.founding()).enrolment or self._enrolment.get(tx.space, "")
        if not hmac.compare_digest(given, known):
            raise EnrolmentSecretInvalid


async def register(tx: Writes, enrolment_digest: str) -> bool:
    """Store the digest of a space's enrolment secret; return whether its genesis exists.

    If it exists, nothing changes; before that the newest digest counts.

    Raises:
        SpaceDeleted: the name of a deleted space is not used again.
    """
    if tx.is_deleted:
        raise SpaceDeleted(tx.space)
    founding = await tx.founding()
    if founding.genesis:
        return True
    if founding.enrolment != enrolment_digest:
        await tx.keep_enrolment(enrolment_digest)
    return False


async def demand_as_signed(tx: Reads, grant: RestoreGrant, agreed: Agreed) -> None:
    """Demand that an import, read to its end, holds exactly the items that both principals signed.

    `agreed`: the constitutive items that the import's changes name. Their digests were checked with
    each revision; this function checks their ends and that no item is missing or added.

    Raises:
        RestoreInvalid: the import has other keys or other constitutive items.
        GenesisDamaged: a slot has no key.
    """
    standing = await keys_now(tx)
    for slot in REQUIRED_SLOTS:
        here, said = standing.slot(slot), grant.genesis.slot(slot)
        if here.public_keys != said.public_keys or any(key.is_retired for key in here.keys):
            raise RestoreInvalid("keys")
    items = agreed.items()
    if constitutive_digest(items) != grant.constitutive_digest:
        raise RestoreInvalid("constitutive_digest")
    for signed in items:
        item = await tx.edge(signed["id"]) or await tx.memory(signed["id"])
        ends = await digests_of_ends(tx, item) if item is not None else None
        if item is None or ends != signed["ends"] or digest(item) != signed["digest"]:
            raise RestoreInvalid("constitutive_digest")


async def _with_effects(
    writer: Writer, command: Command[Result], etags: Mapping[str, str], scope: Scope
) -> ChangeApplied:
    """Run the command; return the item of its reply and every effect of the change."""
    item, *_ = shown(await command(writer))
    scope = scope.naming(item.id)
    named = [effect for effect in writer.effects if not scope.cascades_to(effect)]
    _demand_consented(etags, named)
    effects = [
        ItemEffect(Ref(each.kind, each.id, each.after), each.before, each.governed)
        for each in named
    ]
    listed, cascaded = cascade(writer.effects, scope)
    return ChangeApplied(item, (*effects, *listed), cascaded, await _orphans(writer))


async def _orphans(writer: Writer) -> tuple[str, ...]:
    """Return the ids of live lineage edges that lost an end by this change (V8)."""
    tx, gone = writer.tx, set()
    for effect in writer.effects:
        item: Item | None = await tx.memory(effect.id) or await tx.edge(effect.id)
        if item is not None and item.deleted:
            gone.add(effect.id)
    left = await tx.lineage_edges(gone) if gone else ()
    return tuple(edge.id for edge in left[:MOST_ORPHANS])


async def demand_etags(tx: Reads, etags: Mapping[str, str]) -> None:
    """Demand that every item has the etag that was consented to; "" = it must not exist."""
    for item_id, consented in etags.items():
        item = await record_by_id(tx, item_id) if consented else await item_by_id(tx, item_id)
        if (etag(item) if item else "") != consented:
            raise GrantInvalid("etags")


def _demand_consented(etags: Mapping[str, str], effects: Sequence[Effect]) -> None:
    """Demand that a change wrote only items that its proposal named.

    `effects`: those that are not cascaded. A new item gets another id at each attempt, so new items
    are only counted.
    """
    made = sum(not effect.before for effect in effects)
    if made > sum(not consented for consented in etags.values()):
        raise GrantInvalid("etags")
    if any(effect.before and effect.id not in etags for effect in effects):
        raise GrantInvalid("etags")


async def _write_principals(writer: Writer, record: GenesisRecord) -> None:
    space = await _reserved_node(writer, SPACE_NODE)
    governance = await _reserved_node(writer, GOVERNANCE_NODE)
    key = {"key": key_text(record.governance_key)}
    await _reserved_edge(writer, space, GOVERNANCE_RELATION, governance, key)
    for slot in REQUIRED_SLOTS:
        holder = record.slot(slot)
        node = await _reserved_node(writer, f"{PRINCIPAL_RELATION}:{holder.principal}")
        properties = {"slot": slot, "key": key_text(holder.keys[0].public_key)}
        await _reserved_edge(writer, space, PRINCIPAL_RELATION, node, properties)


async def _reserved_node(writer: Writer, name: str) -> Node:
    return await writer.put(None, replace(Node(id=writer.tx.new_id(), name=name), label="Concord"))


async def _reserved_edge(
    writer: Writer, source: Node, relation: str, target: Node, properties: dict[str, str]
) -> Edge:
    edge = Edge(
        id=writer.tx.new_id(),
        source=End(source.id, ItemKind.NODE),
        relation=relation,
        target=End(target.id, ItemKind.NODE),
        properties=properties,
        edge_type=EdgeType.CONSTITUTIVE,
    )
    return await writer.put(None, edge)
