"""What a user writes with the client: type-checked by its tests, and run."""

from datetime import UTC, datetime

import concord_client
from concord_client import Concord, Fact, Memory


def remember(concord: Concord) -> str:
    """Where Ada lives, and where she lived before."""
    first = concord.add(
        "Ada lives in Bremen.",
        kind="FACT",
        importance="HIGH",
        facts=[Fact("Ada", "LIVES_IN", "Bremen")],
        valid_from=datetime(2019, 1, 1, tzinfo=UTC),
        tags=["home"],
        speaker="Ada",
    )
    second = concord.add("Ada lives in Hamburg.", kind="FACT", supersedes=[first.id], tags=["home"])
    return second.memory.id


def recall(concord: Concord) -> list[str]:
    """What is remembered of it now."""
    answer = concord.search("Where does Ada live?", limit=5, tags=["home"], kinds=["FACT"])
    return [result.memory.id for result in answer.results if result.score > 0.1]


def correct(concord: Concord, item: str) -> Memory | None:
    """Reword it, and read it again."""
    memory = concord.get(item)
    if memory is None:
        return None
    try:
        concord.update(memory, content="Ada lives in Hamburg now.", tags=["home", "north"])
        concord.update(memory, content="Too late.")
    except concord_client.EtagMismatch:
        return concord.get(item)
    return None


def look_around(concord: Concord) -> tuple[set[str], int]:
    """Who is connected with Ada, and whether anything about her disagrees."""
    concord.link("Ada", "KNOWS", "Ethr", weight=0.5)
    near = concord.neighbors("Ada", relations=["KNOWS"], depth=1)
    return {each.name for each in near}, len(concord.check("Ada").conflicts)


def versions(concord: Concord, item: str) -> list[str]:
    """What a memory said, the newest first."""
    return [version.memory.content for version in concord.history(item)]


def main(concord: Concord) -> None:
    """The whole program."""
    item = remember(concord)
    assert recall(concord) == [item]
    corrected = correct(concord, item)
    assert corrected is not None
    assert corrected.tags == ("home", "north")
    assert look_around(concord)[0] == {"Ethr"}
    assert len(versions(concord, item)) == 2
    assert concord.forget(corrected).id == item
