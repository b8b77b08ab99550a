"""Facts as people write them, and those that a memory's text states."""

from typing import TYPE_CHECKING

from concord.type.v1.type_pb2 import Fact, Memory

if TYPE_CHECKING:
    from concord.dissonance.v1.dissonance_pb2 import ExtractFactsResponse, SaidText

_MOST = 10
"""Facts of a memory, as the contract says."""


def fact_of(stated: str) -> Fact:
    """The fact in `SUBJECT|RELATION|OBJECT`. Raises ValueError without three parts, none empty."""
    parts = [part.strip() for part in stated.split("|")]
    if len(parts) != 3 or not all(parts):
        raise ValueError(f'not "SUBJECT|RELATION|OBJECT": {stated[:60]!r}')
    subject, relation, target = parts
    return Fact(subject=subject, relation=relation, object=target)


def said_in(memory: Memory, content: str) -> "SaidText":
    """The text to extract facts from: a memory's `content`, said by its source when it begins."""
    from concord.dissonance.v1.dissonance_pb2 import SaidText

    speaker = memory.sources[0].speaker if memory.sources else ""
    time = memory.valid_from if memory.HasField("valid_from") else None
    return SaidText(text=content, speaker=speaker, time=time)


def take_facts(memory: Memory, found: "ExtractFactsResponse") -> int:
    """Let a memory state the sure facts of its text; return how many it left.

    Those with a time of their own are left, since a fact holds as long as its memory, and those for
    which there is no room.
    """
    stated = {(each.subject, each.relation, each.object) for each in memory.facts}
    sure = [each for each in found.candidates if each.sure]
    lasting = [e for e in sure if not (e.HasField("valid_from") or e.HasField("valid_until"))]
    new = {(e.fact.subject, e.fact.relation, e.fact.object): e.fact for e in lasting}
    taken = [fact for triple, fact in new.items() if triple not in stated]
    taken = taken[: _MOST - len(memory.facts)]
    memory.facts.extend(taken)
    return len(found.candidates) - len(taken)
