"""The page of all RPCs, `services/RPCS.md`, says what the contracts and graph's guard say."""

from pathlib import Path

import rpcs_page
from concord.rules.v1 import rules_pb2
from concord_graph.servicer.calls import CLAIMABLE
from contract_descriptors import METHODS, lesser, permission

PAGE = Path(__file__).parents[2] / "services" / "RPCS.md"
OF_GRAPH = {name: each for name, each in METHODS.items() if ".graph." in name and lesser(each)}


def test_the_page_is_what_the_contracts_say() -> None:
    """W7 If not: python tests/contract/cases/rpcs_page.py > services/RPCS.md."""
    made = rpcs_page.page()

    assert made == PAGE.read_text("utf-8")
    rows = [line for line in made.splitlines() if line.startswith("| ")]
    assert len(rows) == len(METHODS) + made.count("## ")


def test_what_a_lesser_form_changes_becomes_a_claim() -> None:
    """W7 W9 The contract's word and the guard's list are one: no CHANGES without a claim."""
    by: dict[int, set[str]] = {}
    for each in OF_GRAPH.values():
        by.setdefault(each.GetOptions().Extensions[rules_pb2.method].lesser, set()).add(each.name)

    changes, adds = by[rules_pb2.LESSER_CHANGES], by[rules_pb2.LESSER_ADDS]
    assert changes <= CLAIMABLE <= changes | adds
    assert not CLAIMABLE & by[rules_pb2.LESSER_OWN]
    assert {name for name in adds if name not in CLAIMABLE | rpcs_page.ALONE} == {
        *("AddLineage", "AddMemory", "BatchAddMemories", "PutWorkingMemory")
    }


def test_what_graph_lets_nobody_in_with_less_is_few() -> None:
    """W7 Of graph's writes for keys: a whole import, and what dismisses many at once."""
    whole = {"graph:write", "memory:write", "space:write"}
    refused = {each.name for each in METHODS.values() if permission(each) in whole} - {
        each.name for each in OF_GRAPH.values()
    }

    assert refused == {"DismissConflicts", "ImportSpace"}
