"""Which scopes of a key let a caller call which methods: all of the contracts, and nothing else."""

import pytest
from concord_governance.domain.access import (
    PERMISSIONS,
    SERVICE_PERMISSIONS,
    Scope,
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
    "erasure:admin": {Scope.ADMIN},
    "recall:admin": {Scope.ADMIN},
    "record:all": set(),
    "search:admin": {Scope.ADMIN},
    "search:read": {Scope.READ},
    "space:write": {Scope.WRITE},
    "spaces:list": {Scope.OPERATOR},
    "spaces:write": {Scope.OPERATOR},
}
OF_SERVICES = {
    "concord.graph.v1.ConflictService.EndFormerFindings",
    "concord.graph.v1.ConflictService.RecordConflicts",
    "concord.governance.v1.AccessService.CreateSession",
    "concord.governance.v1.AccessService.EndSession",
    "concord.governance.v1.AccessService.GetCaller",
    "concord.graph.v1.GovernedChangeService.ApplyGovernedChange",
    "concord.graph.v1.MemoryService.ConfirmErase",
    "concord.graph.v1.MemoryService.ListTriggers",
    "concord.graph.v1.RecallService.AddRecall",
    "concord.graph.v1.SessionService.ListCoReads",
    "concord.graph.v1.SessionService.ListRestated",
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


def test_what_no_key_may_call_is_the_feed_the_records_and_some_methods() -> None:
    """W7 Governance alone applies governed changes, gateways alone ask whom a key stands for and
    open sessions, dissonance alone records what judges found, and services alone read what all
    sessions did."""
    closed = {name for name, each in METHODS.items() if not GRANTED_BY[permission(each)]}

    whole = (".ChangeFeedService.", ".RecordService.")
    assert closed == OF_SERVICES | {
        name for name in METHODS if any(service in name for service in whole)
    }
