"""What searches keep of somebody: texts of queries, reasons of votes, and recalls (M4, S7, W8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from concord_graph.domain.selection import By, Names, Selection
from concord_graph.domain.sessions import RecallFilter
from concord_graph.ports import Reads, ServiceRecord, Writes

_PAGE = 500
_TEXTS = {ServiceRecord.RANKED_QUERY: ("text",), ServiceRecord.FEEDBACK: ("text", "reason")}


@dataclass(frozen=True, slots=True)
class Asked:
    """Records to blank, as (kind, key), and the queries whose recalls go."""

    records: Sequence[tuple[ServiceRecord, str]] = ()
    recalled: Sequence[str] = ()

    @property
    def count(self) -> int:
        """How many records and recalls they are."""
        return len(self.records) + len(self.recalled)

    async def blank(self, tx: Writes) -> None:
        """Take the texts out of the records, and delete the recalls. The votes stay counted."""
        for kind, key in self.records:
            if body := await tx.service_record(kind, key):
                blank = json.loads(body) | dict.fromkeys(_TEXTS[kind], "")
                await tx.put_service_record(kind, json.dumps(blank), key)
        await tx.drop_recalls_of(self.recalled)


async def asked_by(tx: Reads, selection: Selection) -> Asked:
    """Return what a selection asked, or, of a subject or a speaker, what names them."""
    if selection.by in (By.SUBJECT, By.SPEAKER):
        names = Names(selection.folded)
        return Asked(
            [
                (kind, key)
                for kind, texts in _TEXTS.items()
                for key, body in (await tx.service_records(kind, "")).items()
                if body and names.are_in(*(str(json.loads(body).get(name, "")) for name in texts))
            ]
        )
    (name,) = selection.names
    by_principal = selection.by == By.PRINCIPAL
    recalled = await _recalled(
        tx, RecallFilter(principal=name) if by_principal else RecallFilter(session_id=name)
    )
    votes = await tx.service_records(ServiceRecord.FEEDBACK, "")
    queries = await tx.service_records(ServiceRecord.RANKED_QUERY, "")
    asked = [key for key in queries if key in recalled]
    voted = [
        key
        for key in votes
        if key.partition("/")[0] in recalled or (by_principal and key.partition("/")[2] == name)
    ]
    return Asked(
        [
            *((ServiceRecord.RANKED_QUERY, key) for key in asked),
            *((ServiceRecord.FEEDBACK, key) for key in voted),
        ],
        sorted(recalled),
    )


async def _recalled(tx: Reads, filter_: RecallFilter) -> frozenset[str]:
    found: set[str] = set()
    before = ""
    while page := await tx.recalls(filter_, before, _PAGE):
        found |= {each.query_id for each in page}
        before = page[-1].query_id
    return frozenset(found)
