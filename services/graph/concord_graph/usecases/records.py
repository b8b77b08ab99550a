"""Small records that Concord's other services keep in graph, and the settings of checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

from concord_graph.domain.errors import EtagMismatch, SpaceDeleted
from concord_graph.ports import GraphStore, Reads, ServiceRecord, Writes


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a service: a JSON text by kind and key. No record: an empty body."""

    kind: str
    key: str
    body: str
    etag: str


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What a space lets checks record by themselves.

    `records_text_findings`: the checks that follow a write compare texts, too.
    """

    records_text_findings: bool = False


@dataclass(frozen=True, slots=True)
class ClaimSettings:
    """What claims in a space. `claims_among_equals`: also a principal of the same kind (W9)."""

    claims_among_equals: bool = False


class Records:
    """Reads and writes the records of other services."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    async def get(self, space: str, names: Sequence[tuple[str, str]]) -> Sequence[Record]:
        """Return the records of these kinds and keys."""

        async def work(tx: Reads) -> Sequence[Record]:
            return [await _record(tx, kind, key) for kind, key in names]

        return await self._store.read(space, work, brief=True)

    async def put(
        self, space: str, records: Sequence[Record], drop_before: tuple[str, str] | None
    ) -> Sequence[str]:
        """Store records that have the stored ones' etags; return their new etags.

        `drop_before`: the kind and the key before which records are deleted.

        Raises:
            EtagMismatch: a stored record has another etag.
        """

        async def work(tx: Writes) -> None:
            demand_space(tx)
            for each in records:
                if (await _record(tx, each.kind, each.key)).etag != each.etag:
                    raise EtagMismatch(each.kind)
            if drop_before:
                await tx.drop_service_records(*drop_before)
            for each in records:
                await tx.put_service_record(each.kind, each.body, each.key)

        await self._store.write(space, work)
        return [_etag(each.body) for each in records]

    async def check_settings(self, space: str) -> CheckSettings:
        """Return a space's settings of checks."""

        async def work(tx: Reads) -> CheckSettings:
            stored = await tx.service_record(ServiceRecord.CHECK_SETTINGS)
            return CheckSettings(**json.loads(stored or "{}"))

        return await self._store.read(space, work)

    async def set_check_settings(self, space: str, settings: CheckSettings) -> None:
        """Store a space's settings of checks."""

        async def work(tx: Writes) -> None:
            demand_space(tx)
            body = json.dumps(asdict(settings))
            await tx.put_service_record(ServiceRecord.CHECK_SETTINGS, body)

        await self._store.write(space, work)

    async def claim_settings(self, space: str) -> ClaimSettings:
        """Return a space's settings of claims."""

        async def work(tx: Reads) -> ClaimSettings:
            stored = await tx.service_record(ServiceRecord.CLAIM_SETTINGS)
            return ClaimSettings(**json.loads(stored or "{}"))

        return await self._store.read(space, work)

    async def set_claim_settings(self, space: str, settings: ClaimSettings) -> None:
        """Store a space's settings of claims."""

        async def work(tx: Writes) -> None:
            demand_space(tx)
            body = json.dumps(asdict(settings))
            await tx.put_service_record(ServiceRecord.CLAIM_SETTINGS, body)

        await self._store.write(space, work)


def demand_space(tx: Writes) -> None:
    """Refuse to write in a deleted space."""
    if tx.is_deleted:
        raise SpaceDeleted(tx.space)


async def _record(tx: Reads, kind: str, key: str) -> Record:
    body = await tx.service_record(kind, key)
    return Record(kind, key, body, _etag(body))


def _etag(body: str) -> str:
    return sha256(body.encode()).hexdigest() if body else ""
