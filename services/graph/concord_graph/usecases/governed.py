"""The one door through protection: a space's genesis, then granted changes (V5, V6)."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace

from concord_attestation.consent import (
    REQUIRED_SLOTS,
    GenesisRecord,
    Grant,
    GrantInvalid,
    RestoreInvalid,
)

from concord_graph.domain.exceptions import (
    ConstitutiveProtected,
    EnrolmentSecretInvalid,
    GenesisExists,
    GenesisMissing,
)
from concord_graph.domain.items import Edge, EdgeType, End, Item, ItemKind, Node, etag
from concord_graph.ports import GenesisVerifier, GrantVerifier, Reads, Ref, RestoreVerifier
from concord_graph.usecases.commands import Work
from concord_graph.usecases.writer import Writer, ref

SPACE_NODE = "concord:space"
GOVERNANCE_NODE = "concord:governance"
PRINCIPAL_RELATION = "concord:principal"
GOVERNANCE_RELATION = "concord:governance_key"
RESTORED = "restore:"
"""Begins a burnt nonce that let an import in; no other nonce has a colon."""


@dataclass(frozen=True, slots=True)
class Restore:
    """What an importer shows for an export with a genesis: the grant, and the space's secret."""

    grant: bytes = b""
    secret: str = ""


class GovernedChanges:
    """Applies what both parties consented to, and nothing else.

    `enrolment` maps a space to the hex SHA-256 of its one-time enrolment secret.
    """

    def __init__(
        self,
        verify_genesis: GenesisVerifier,
        verify_grant: GrantVerifier,
        enrolment: Mapping[str, str],
        verify_restore: RestoreVerifier,
    ) -> None:
        self._verify_genesis = verify_genesis
        self._verify_grant = verify_grant
        self._enrolment = enrolment
        self._verify_restore = verify_restore

    async def enrol(self, writer: Writer, secret: str, envelope: bytes) -> tuple[Ref, ...]:
        """Write the genesis of a space that has none: principals and keys as constitutive edges."""
        if await writer.tx.genesis() is not None:
            raise GenesisExists
        self._demand_secret(writer.tx.space, secret)
        record = self._verify_genesis(envelope, writer.tx.space)
        await writer.tx.open_grant(record)
        await writer.tx.put_genesis(record, envelope)
        return await _write_principals(writer.with_grant(record), record)

    async def apply(
        self, writer: Writer, action_digest: str, envelope: bytes, work: Work
    ) -> tuple[Ref, ...]:
        """Do one change under a grant: verified, its nonces burnt, in this very transaction."""
        tx = writer.tx
        genesis = await tx.genesis()
        if genesis is None:
            raise GenesisMissing
        grant = self._verify_grant(
            envelope,
            genesis=genesis,
            space=tx.space,
            action_digest=action_digest,
            now_us=writer.now,
        )
        await _demand_etags(tx, grant)
        if not await tx.burn(grant.nonces):
            raise GrantInvalid("nonce")
        await tx.open_grant(grant)
        return await work(writer.with_grant(grant))

    async def restore(
        self, writer: Writer, envelope: bytes, export_digest: str, restore: Restore
    ) -> Writer:
        """Return a writer that may bring in what the parties of an imported genesis agreed to.

        Both of them have signed for this very export and space; the nonce is burnt. The enrolment
        secret is demanded as of any genesis: whoever makes up parties can sign for them as well.
        """
        tx = writer.tx
        if not restore.grant:
            raise ConstitutiveProtected("", "this would bring in what both parties agreed to")
        genesis = self._verify_genesis(envelope, tx.space)
        grant = self._verify_restore(
            restore.grant,
            genesis=genesis,
            space=tx.space,
            export_digest=export_digest,
            now_us=writer.now,
        )
        self._demand_secret(tx.space, restore.secret)
        if not await tx.burn([RESTORED + grant.nonce]):
            raise RestoreInvalid("nonce")
        await tx.open_grant(grant)
        await tx.put_genesis(genesis, envelope)
        return writer.with_grant(grant)

    def _demand_secret(self, space: str, secret: str) -> None:
        given = hashlib.sha256(secret.encode()).hexdigest()
        if not hmac.compare_digest(given, self._enrolment.get(space, "")):
            raise EnrolmentSecretInvalid


async def _demand_etags(tx: Reads, grant: Grant) -> None:
    """Demand that every item is as it was when both parties consented; "" = there is none."""
    for item_id, consented in grant.etags.items():
        item: Item | None = (
            await tx.memory(item_id) or await tx.edge(item_id) or await tx.node(item_id)
        )
        if (etag(item) if item else "") != consented:
            raise GrantInvalid("etags")


async def _write_principals(writer: Writer, record: GenesisRecord) -> tuple[Ref, ...]:
    space = await _reserved_node(writer, SPACE_NODE)
    governance = await _reserved_node(writer, GOVERNANCE_NODE)
    edges = [
        await _reserved_edge(
            writer, space, GOVERNANCE_RELATION, governance, {"key": _text(record.governance_key)}
        )
    ]
    for slot in REQUIRED_SLOTS:
        holder = record.slot(slot)
        node = await _reserved_node(writer, f"{PRINCIPAL_RELATION}:{holder.principal}")
        properties = {"slot": slot, "key": _text(holder.public_key)}
        edges.append(await _reserved_edge(writer, space, PRINCIPAL_RELATION, node, properties))
    return tuple(ref(edge) for edge in edges)


async def _reserved_node(writer: Writer, name: str) -> Node:
    return await writer.put(None, replace(Node(id=writer.new_id(), name=name), label="Concord"))


async def _reserved_edge(
    writer: Writer, source: Node, relation: str, target: Node, properties: dict[str, str]
) -> Edge:
    edge = Edge(
        id=writer.new_id(),
        source=End(source.id, ItemKind.NODE),
        relation=relation,
        target=End(target.id, ItemKind.NODE),
        properties=properties,
        edge_type=EdgeType.CONSTITUTIVE,
    )
    return await writer.put(None, edge)


def _text(key: bytes) -> str:
    return urlsafe_b64encode(key).rstrip(b"=").decode()
