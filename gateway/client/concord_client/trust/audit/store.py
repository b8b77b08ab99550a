"""Compares the constitutive items of the log with those of the store (A2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from concord.graph.v1 import governed_pb2
from concord.graph.v1.governed_pb2_grpc import GovernedChangeServiceStub

CHANGED = "changed past governance"
MISSING = "in the log, but not in the store"
UNLOGGED = "in the store, but not in the log"


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """An item that differs between store and log. `what`: one of the texts above."""

    item_id: str
    what: str


def stored_digests(
    governed: GovernedChangeServiceStub,
) -> Iterator[governed_pb2.ConstitutiveItem]:
    """Yield the store's constitutive items, with digests computed from its present rows."""
    request = governed_pb2.GetConstitutiveDigestsRequest()
    while True:
        page = governed.GetConstitutiveDigests(request)
        yield from page.items
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def differences(
    logged: Mapping[str, str], stored: Iterable[governed_pb2.ConstitutiveItem]
) -> list[Difference]:
    """Return the differences, sorted by id. `logged`: `Findings.constitutive` of the whole log."""
    found: dict[str, str] = {}
    for item in stored:
        found |= {item.id: item.digest, **item.ends}
    judged = {
        item_id: MISSING if item_id not in found else UNLOGGED if item_id not in logged else CHANGED
        for item_id in logged.keys() | found.keys()
        if logged.get(item_id) != found.get(item_id)
    }
    return sorted(Difference(item_id, what) for item_id, what in judged.items())
