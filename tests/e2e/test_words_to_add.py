"""The words that a refinement offers, through gRPC, over the real graph, index and model."""

from concord.search.v1 import search_pb2
from concord.type.v1.type_pb2 import Memory
from search_over_graph import TwoServers


async def test_words_to_add_come_from_near_results_alone(running: TwoServers) -> None:
    """S5 A refinement offers nothing of a far second result, and nothing if every result is far."""
    gate = Memory(
        id="gate",
        content="The gate of the old harbour is opened by the guard at nine each morning.",
        concepts=["opening hours"],
        domain="town.port",
    )
    pay = Memory(
        id="pay",
        content="Salaries are paid on the last day of the month.",
        concepts=["payroll"],
        domain="work.hr",
    )
    token = await running.add(gate, pay)

    near = await _searched(running, "when is the harbour open?", token)
    far = await _searched(running, "quantum chromodynamics", token)

    for reply in (near, far):
        assert {each.memory.id for each in reply.results} == {"gate", "pay"}
        assert reply.next_action == search_pb2.NEXT_ACTION_REFINE
    assert near.stac_lines[-1].endswith("or add words: opening hour.")
    assert "add words" not in far.stac_lines[-1]


async def _searched(running: TwoServers, query: str, token: str) -> search_pb2.SearchResponse:
    request = search_pb2.SearchRequest(query=query, domain="town.port")
    request.consistency.at_least_as_fresh = token
    return await running.searching().Search(request)
