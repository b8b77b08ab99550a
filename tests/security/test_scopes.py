"""Which scopes of a key let a caller call which methods: all of the contracts, and nothing else."""

import json
import tarfile
from pathlib import Path

import pytest
from concord_governance.domain.access import (
    PERMISSIONS,
    SERVICE_PERMISSIONS,
    Scope,
    permissions_of,
)
from contract_descriptors import METHODS, permission, scopes

GRANTED_BY = {
    "access:read": {Scope.READ},
    "audit:read": {Scope.READ},
    "callers:resolve": set(),
    "confirm:write": set(),
    "conflict:admin": {Scope.ADMIN},
    "conflict:write": set(),
    "decisions:write": {Scope.GOVERN},
    "dissonance:read": {Scope.READ},
    "dissonance:write": {Scope.WRITE},
    "enrolment:write": {Scope.ADMIN},
    "feed:all": set(),
    "feedback:write": {Scope.WRITE},
    "governance:read": {Scope.READ},
    "governed:read": {Scope.READ},
    "governed:write": {Scope.GOVERN},
    "granted:write": set(),
    "graph:read": {Scope.READ},
    "graph:write": {Scope.WRITE},
    "keys:list": {Scope.ADMIN, Scope.OPERATOR},
    "keys:write": {Scope.ADMIN, Scope.OPERATOR},
    "memory:read": {Scope.READ},
    "memory:write": {Scope.WRITE},
    "proposals:write": {Scope.WRITE},
    "recall:admin": {Scope.ADMIN},
    "record:all": set(),
    "search:admin": {Scope.ADMIN},
    "search:read": {Scope.READ},
    "space:write": {Scope.WRITE},
    "spaces:list": {Scope.OPERATOR},
    "spaces:write": {Scope.OPERATOR},
}
OF_SERVICES = {
    "concord.graph.v1.ConflictService.RecordConflicts",
    "concord.governance.v1.AccessService.GetCaller",
    "concord.graph.v1.GovernedChangeService.ApplyGovernedChange",
    "concord.graph.v1.MemoryService.ConfirmErase",
}


@pytest.mark.parametrize("needed", sorted(scopes()))
def test_a_permission_is_granted_by_the_scopes_it_should_and_no_other(needed: str) -> None:
    """W7 One table maps a key's scopes to the contracts' permissions."""
    found = {scope for scope in Scope if needed in PERMISSIONS[scope]}

    assert found == GRANTED_BY[needed]
    assert (needed in SERVICE_PERMISSIONS) == (not found)
    assert (Scope.READ in found) == needed.endswith(":read")


def test_no_scope_grants_what_no_method_takes() -> None:
    """W7 The table and the contracts are one set."""
    assert frozenset().union(*PERMISSIONS.values(), SERVICE_PERMISSIONS) == scopes()


def test_what_no_key_may_call_is_the_feed_the_records_and_four_methods() -> None:
    """W7 Governance alone applies governed changes, gateways alone ask whom a key stands for, and
    dissonance alone records what judges found."""
    closed = {name for name, each in METHODS.items() if not GRANTED_BY[permission(each)]}

    whole = (".ChangeFeedService.", ".RecordService.")
    assert closed == OF_SERVICES | {
        name for name in METHODS if any(service in name for service in whole)
    }


def written_by_e65dbee() -> frozenset[str]:
    """The permissions of a key that `concord up` of e65dbee wrote, which knew no scopes."""
    archive = Path(__file__).parents[1] / "e2e" / "e65dbee" / "data.tar.xz"
    with tarfile.open(archive) as opened:
        file = opened.extractfile("data/keys/api_keys.json")
        assert file is not None
        keys = json.load(file)
    return frozenset(next(iter(keys.values()))["scopes"])


def test_a_key_of_before_there_were_scopes_has_what_they_grant_today() -> None:
    """G16 W7 All of a scope as it was then is the scope of now; less of it stays what it is."""
    before = written_by_e65dbee()
    today = permissions_of([each.word for each in (Scope.READ, Scope.WRITE, Scope.GOVERN)])
    assert permissions_of(before) == today | {"search:admin", "enrolment:write"}
    assert not permissions_of(before) & SERVICE_PERMISSIONS

    for scope in (Scope.READ, Scope.WRITE, Scope.GOVERN):
        for less in before & PERMISSIONS[scope]:
            narrow = permissions_of(before - {less})
            assert less not in narrow
            assert narrow <= permissions_of(before)
            assert not PERMISSIONS[scope] <= narrow
    narrow = permissions_of(["graph:read", "memory:read"])
    assert narrow == {"graph:read", "memory:read"}
