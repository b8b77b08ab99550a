"""Which bands the results of a search have, through gRPC, over the real graph, index and model."""

import pytest
from concord.search.v1 import search_pb2 as pb
from concord.type.v1.type_pb2 import Memory
from search_over_graph import TwoServers

TEAM = [
    Memory(id="lead", content="Ines leads the search team in Porto."),
    Memory(id="office", content="The search team in Porto moved to a larger office in May."),
    Memory(id="lunch", content="The search team in Porto has lunch at noon."),
    Memory(id="cat", content="Ines has a cat called Mira."),
    Memory(id="dog", content="Jonas walks his dog at six."),
    Memory(id="car", content="Tarek sold the old car."),
    Memory(id="roof", content="The roof was repaired last year."),
]
OFFICE = "Where is the office of the search team?"


async def ask(running: TwoServers, query: str, **said: object) -> pb.SearchResponse:
    """Searches without counting as a read."""
    request = pb.SearchRequest(query=query, peek=True, **said)  # type: ignore[arg-type] # by name
    request.consistency.at_least_as_fresh = await running.add(*TEAM)
    return await running.searching().Search(request)


@pytest.mark.parametrize("query", [OFFICE, "Does the search team like Porto?"])
async def test_medium_is_said_of_the_best_result_alone(running: TwoServers, query: str) -> None:
    """S5 One below it is seldom right; on the next page there is no best one."""
    reply = await ask(running, query)
    first = await ask(running, query, page_size=1)
    second = await ask(running, query, page_size=2, page_token=first.next_page_token)

    bands = [result.confidence for result in reply.results]
    assert bands[0] == reply.confidence == first.confidence == pb.CONFIDENCE_BAND_MEDIUM
    assert {*bands[1:]} == {pb.CONFIDENCE_BAND_LOW}
    assert [each.confidence for each in second.results] == bands[1:3]
    assert second.confidence == pb.CONFIDENCE_BAND_LOW


async def test_below_what_was_replaced_the_best_one_in_force_has_it(running: TwoServers) -> None:
    """S5 T4 What comes before it and holds no more is LOW."""
    await running.add(
        *TEAM,
        Memory(
            id="moved",
            content="The search team works from home.\nSupersedes: [[memory:office]]",
        ),
    )
    mode = pb.SUPERSEDED_MODE_INCLUDE
    reply = await ask(running, OFFICE, superseded=mode)

    bands = {result.memory.id: result.confidence for result in reply.results}
    medium = [name for name, band in bands.items() if band == pb.CONFIDENCE_BAND_MEDIUM]
    assert bands["office"] == pb.CONFIDENCE_BAND_LOW
    assert medium == [next(name for name in bands if name != "office")]
