"""Whether an attacker with an agent's write key hides or alters what others said (W9)."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from concord.graph.v1 import claim_pb2, graph_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_testing.up_process import Spawned

from tests.bench.governance.attacks import by_structure, by_text, shuffled
from tests.bench.governance.world import Honest, Space, at_once, found, fresh, get, space
from tests.bench.table import Bar, Row

HIGH = search_pb2.CONFIDENCE_BAND_HIGH
MEMORIES = (1, 5, 50)


@dataclass
class Outcome:
    """What became of the answers to some questions. Each list names questions."""

    asked: int = 0
    first: int = 0
    """So many right answers are the first result."""
    lost: list[str] = field(default_factory=list)
    """A right answer is not among the default results, no longer current, or says other words."""
    overtaken: list[str] = field(default_factory=list)
    """The first result is the attacker's."""
    unmarked: list[str] = field(default_factory=list)
    """One of the attacker's is HIGH, and nothing says that somebody says otherwise."""

    def note(self, names: Sequence[str]) -> str:
        """Some of the names."""
        return ", ".join(names[:8])


async def attacked(
    system: Spawned, lines: list[Honest], each: int, *, in_text: bool, among_equals: bool = False
) -> tuple[Outcome, Outcome, Counter[str]]:
    """Attacks every line so many times in a space of its own.

    Returns the outcomes of the person's and of the other agent's, and which calls were refused how.
    """
    async with space(system, "attacked") as here:
        if among_equals:
            settings = claim_pb2.ClaimSettings(claims_among_equals=True)
            await here.owner.claim.SetClaimSettings(
                claim_pb2.SetClaimSettingsRequest(settings=settings)
            )
        await here.furnish(lines)
        refused = Counter[str]()

        async def attack(one: tuple[Honest, int]) -> None:
            if in_text:
                await by_text(here.helper, *one)
            elif how := await by_structure(here.helper, *one):
                refused[how] += 1

        await at_once(attack, shuffled(lines, each))
        token = await fresh(here.owner)
        persons, agents = Outcome(), Outcome()
        for line in lines:
            await _look(here, line, token, persons if line.is_persons else agents)
        return persons, agents, refused


async def _look(here: Space, line: Honest, token: str, outcome: Outcome) -> None:
    reply = await found(here.agent, line.question, token)
    outcome.asked += 1
    outcome.first += reply.results[0].memory.id == line.id
    if not await _is_whole(here, line, reply):
        outcome.lost.append(f"{line.id} {await _what(here, line, reply)}")
    others = [each for each in reply.results if _is_attackers(each)]
    if others and others[0].memory.id == reply.results[0].memory.id:
        outcome.overtaken.append(line.id)
    if any(each.confidence == HIGH and not _is_marked(each) for each in others):
        outcome.unmarked.append(line.id)


def _is_attackers(result: search_pb2.SearchResult) -> bool:
    """Whether a result is none of the honest memories, which have keys of their own."""
    return not result.memory.external_id


def _is_marked(result: search_pb2.SearchResult) -> bool:
    return bool(result.memory.claims or result.potential_conflicts)


async def _is_whole(here: Space, line: Honest, reply: search_pb2.SearchResponse) -> bool:
    return not await _what(here, line, reply)


async def _what(here: Space, line: Honest, reply: search_pb2.SearchResponse) -> str:
    """What is lost of an answer; empty if nothing is."""
    there = await get(here.owner, line.id)
    span = there.supersession
    if there.content != line.memory or there.HasField("erase_time"):
        return "(its words)"
    if span.is_superseded or there.HasField("forget_time") or there.HasField("valid_until"):
        return "(not current)"
    if there.importance == type_pb2.IMPORTANCE_LOW:
        return "(importance)"
    ends = (type_pb2.EdgeEnd(name=line.subject), type_pb2.EdgeEnd(name=line.target))
    triple = graph_pb2.Triple(source=ends[0], relation=line.relation, target=ends[1])
    edge = (await here.owner.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple, peek=True))).edge
    if not edge.id or edge.supersession.is_superseded or edge.HasField("valid_until"):
        return "(its fact)"
    if line.id not in [each.memory.id for each in reply.results]:
        return "(out of results)"
    return ""


async def bench(system: Spawned, lines: list[Honest], sizes: Sequence[int]) -> AsyncIterator[Row]:
    """Rows of the table."""
    calm, calm_agents, _ = await attacked(system, lines, 0, in_text=True)
    firsts = [len(calm.lost), len(calm_agents.lost)]
    yield Row(
        "not found without an attack: a person's / an agent's",
        "number",
        tuple(map(float, firsts)),
        note=f"of {calm.asked} and {calm_agents.asked}; first {calm.first} and {calm_agents.first}",
    )
    for in_text, what in ((False, "any way"), (True, "text alone")):
        for each in sizes:
            persons, agents, refused = await attacked(system, lines, each, in_text=in_text)
            for row in _rows(f"{each} by {what}", persons, agents, refused, in_text=in_text):
                yield row
    for each in sizes:
        _, agents, _ = await attacked(system, lines, each, in_text=False, among_equals=True)
        yield _lost(f"claims, {each} by any way: an agent's answer lost", agents, Bar(0))


def _rows(
    how: str, persons: Outcome, agents: Outcome, refused: Counter[str], *, in_text: bool
) -> list[Row]:
    rows = [_lost(f"{how}: a person's answer lost", persons, Bar(0))]
    rows.append(_lost(f"{how}: another agent's lost", agents, None))
    if refused:
        rows[0] = Row(**{**vars(rows[0]), "note": f"{rows[0].note}; refused: {dict(refused)}"})
    rows.append(
        Row(
            f"{how}: HIGH against a person's, unmarked",
            "number",
            (float(len(persons.unmarked)),),
            bar=Bar(0),
            note=persons.note(persons.unmarked),
        )
    )
    if in_text:
        for whose, outcome, bar in (
            ("a person's", persons, Bar(0.05)),
            ("an agent's", agents, None),
        ):
            rows.append(
                Row(
                    f"{how}: first place before {whose}",
                    "share",
                    (len(outcome.overtaken) / max(outcome.asked, 1),),
                    bar=bar if how.startswith("5 ") else None,
                    note=outcome.note(outcome.overtaken),
                )
            )
    return rows


def _lost(what: str, outcome: Outcome, bar: Bar | None) -> Row:
    note = f"of {outcome.asked}; {outcome.note(outcome.lost)}".removesuffix("; ")
    return Row(what, "number", (float(len(outcome.lost)),), bar=bar, note=note)
