"""What an agent claims of a person's fact, as dissonance sees it (W9)."""

from concord.type.v1 import type_pb2
from dissonance_over_graph import dissonant
from governed_world import DAY, World


async def test_a_claimed_value_stands_as_one_typed_conflict(live: World) -> None:
    """W9 T2 D2 An agent's later value of a person's row counts in no row until it is accepted."""
    async with dissonant(live, with_search=False, follow=False) as works:
        person, agent = works.space(principal="ada", kind="HUMAN"), works.space()
        await person.declare("LIVES_IN")
        await person.add("I live in Berlin.", facts=[_home("Berlin")])
        live.clock.pass_(DAY)
        await agent.add("She moved.", facts=[_home("Paris")])
        await agent.add("To Paris, she said.", facts=[_home("Paris")])

        for _ in range(2):
            await agent.detect()
        listed = (await person.listed()).conflicts

        assert await person.current("Ada") == {"Berlin", "Paris"}
        assert [each.is_text_finding for each in listed] == [False]
        sides = {listed[0].first.statement, listed[0].second.statement}
        assert sides == {"Ada LIVES_IN Berlin", "Ada LIVES_IN Paris"}


def _home(city: str) -> type_pb2.Fact:
    return type_pb2.Fact(subject="Ada", relation="LIVES_IN", object=city)
