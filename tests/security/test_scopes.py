"""Which scopes of a key let a caller call which methods: all of the contracts, and nothing else."""

import pytest
from concord_governance.domain.access import (
    PERMISSIONS,
    SERVICE_PERMISSIONS,
    Scope,
)
from contract_descriptors import METHODS, lesser, lesser_scopes, permission, scopes

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
    "feedback:write": {Scope.WRITE, Scope.APPEND, Scope.OWN},
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
    "operations:undo": {Scope.WRITE},
    "proposals:write": {Scope.WRITE, Scope.APPEND, Scope.OWN},
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
    granted = frozenset().union(*PERMISSIONS.values(), SERVICE_PERMISSIONS)
    assert granted == scopes() | lesser_scopes()


@pytest.mark.parametrize(("scope", "form"), [(Scope.APPEND, "append"), (Scope.OWN, "own")])
def test_the_scopes_append_and_own_carry_lesser_forms_alone(scope: Scope, form: str) -> None:
    """W7 Whatever loses one of them on the way opens less, never more: none marks a whole one."""
    forms = {each for each in lesser_scopes() if each.endswith(f":{form}")}

    assert PERMISSIONS[scope] == forms | {"feedback:write", "proposals:write"}
    assert not any(each.endswith(":write") for each in forms)


def test_a_lesser_form_lets_in_where_graph_decides_alone() -> None:
    """W7 Forms are of what writes items; none of what services, admins or who governs may do."""
    let_in = {permission(each) for each in METHODS.values() if lesser(each)}

    assert let_in == {"dissonance:write", "graph:write", "memory:write"}


def test_what_no_key_may_call_is_the_feed_the_records_and_some_methods() -> None:
    """W7 Governance alone applies governed changes, gateways alone ask whom a key stands for and
    open sessions, dissonance alone records what judges found, and services alone read what all
    sessions did."""
    closed = {name for name, each in METHODS.items() if not GRANTED_BY[permission(each)]}

    whole = (".ChangeFeedService.", ".RecordService.")
    assert closed == OF_SERVICES | {
        name for name in METHODS if any(service in name for service in whole)
    }
