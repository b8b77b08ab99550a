"""What is near to each of many memories, by the stored vectors (spec D3)."""

from concord_search.domain.memory import Ending
from concord_search.ports.index import Batch, NearQuery
from concord_testing.embedders import WordEmbedder
from search_lab import SCOPE, SPACE, START, Lab, plain_state


async def test_each_memory_gets_what_near_says_of_its_vector_without_itself(lab: Lab) -> None:
    """D3 candidates by meaning: many at once are the same as one by one."""
    texts = [f"fox number {number} sleeps in the {'red' if number % 2 else 'old'} den"
             for number in range(40)]  # fmt: skip
    await lab.write(*(plain_state(f"m{n:02}", n + 1, text) for n, text in enumerate(texts)))
    ids = [f"m{number:02}" for number in range(40)]

    found = await lab.index.near_each(SPACE, ids, NearQuery(SCOPE, 5))

    for memory_id, text, near in zip(ids, texts, found, strict=True):
        vector = lab.embedder.vector(text)
        alone = await lab.index.near(SPACE, vector, WordEmbedder.model, NearQuery(SCOPE, 40))
        others = [each for each in alone if each.id != memory_id]
        assert near is not None
        assert len(near) == 5
        assert [round(n.similarity, 2) for n in near] == [
            round(n.similarity, 2) for n in others[:5]
        ]


async def test_what_the_index_does_not_have_is_none(lab: Lab) -> None:
    """D3, G13: an unknown memory, a forgotten one and one of another space are not there."""
    await lab.index.begin("other", "epoch-1")
    await lab.write(plain_state("here", 1, "a fox"), plain_state("gone", 2, "a fox too"))
    await lab.write(plain_state("there", 1, "a fox elsewhere"), space="other")
    await lab.index.apply(SPACE, Batch(3, START, endings=[Ending("gone", 3, START)]))

    found = await lab.index.near_each(SPACE, ["here", "gone", "there", "no"], NearQuery(SCOPE, 5))

    assert [list(near) if near is not None else None for near in found] == [[], None, None, None]
    assert await lab.index.near_each("nowhere", ["here"], NearQuery(SCOPE, 5)) == [None]
