"""Says in words why a memory surfaced (spec S4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from concord_search.domain.instants import PRESENT, AsOf, Micros, days_between
from concord_search.domain.memory import MemoryState, parent_domain
from concord_search.domain.ranking import Breakdown, SignalPart

IMPORTANCE_WORD = {0: "medium", 1: "low", 2: "medium", 3: "high"}


@dataclass(frozen=True, slots=True)
class Context:
    """What reasons are made of: the query's side and the memory as it was scored.

    `access_count` and `last_access` are those that the score used.
    """

    memory: MemoryState
    query_concepts: Sequence[str]
    query_domain: str
    access_count: int
    last_access: Micros
    now: Micros
    as_of: AsOf = PRESENT

    @property
    def shared(self) -> list[str]:
        """The concepts that query and memory share, in the memory's order."""
        wanted = set(self.query_concepts)
        return [concept for concept in self.memory.concepts if concept in wanted]


def reason(part: SignalPart, context: Context) -> str:
    """One signal's reason, for people."""
    return _REASONS[part.name](part, context)


def relevance_reason(breakdown: Breakdown, context: Context) -> str:
    """One sentence: the two signals that contributed most, and what they saw, as of when."""
    strongest = sorted(breakdown.parts, key=lambda part: -part.contribution)[:2]
    said = " and ".join(f"{_TITLES[p.name]} ({reason(p, context)})" for p in strongest)
    when = context.as_of.in_words()
    sentence = (
        f"{when}, it surfaced mostly by {said}." if when else f"it surfaced mostly by {said}."
    )
    return sentence[0].upper() + sentence[1:]


def ago(then: Micros, now: Micros) -> str:
    """How long ago, in the largest whole unit."""
    days = days_between(then, now)
    if days >= 1:
        return _counted(int(days), "day")
    if days * 24 >= 1:
        return _counted(int(days * 24), "hour")
    if days * 1440 >= 1:
        return _counted(int(days * 1440), "minute")
    return "just now"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"


def _similarity(part: SignalPart, _: Context) -> str:
    return f"cosine {part.score:.2f} with the query"


def _overlap(_: SignalPart, context: Context) -> str:
    shared = context.shared
    return f"shares {', '.join(shared)}" if shared else "shares no concept with the query"


def _domain(part: SignalPart, context: Context) -> str:
    domain = context.memory.domain
    if part.score >= 1.0:
        return f"same domain {domain}"
    if part.score > 0.0:
        return f"{domain} stands beside {context.query_domain} under {parent_domain(domain)}"
    return f"its domain is {domain}" if domain else "it has no domain"


def _authority(_: SignalPart, context: Context) -> str:
    count = context.access_count
    reads = {0: "never read", 1: "read once"}.get(count, f"read {count} times")
    return f"{IMPORTANCE_WORD[context.memory.importance]} importance, {reads}"


def _temporal(_: SignalPart, context: Context) -> str:
    verb = "last read" if context.access_count else "recorded"
    return f"{verb} {ago(context.last_access, context.now)}"


def _lexical(part: SignalPart, _: Context) -> str:
    if part.score <= 0.0:
        return "shares no searched word"
    return f"word match {part.score:.0%} of the best candidate's"


def _head(_: SignalPart, context: Context) -> str:
    count = context.memory.predecessors
    return f"current: it replaces {count} older {'memory' if count == 1 else 'memories'}"


_REASONS: dict[str, Callable[[SignalPart, Context], str]] = {
    "vector_similarity": _similarity,
    "concept_overlap": _overlap,
    "domain_match": _domain,
    "authority": _authority,
    "temporal": _temporal,
    "lexical": _lexical,
    "head_of_chain": _head,
}
_TITLES = {
    "vector_similarity": "similar meaning",
    "concept_overlap": "concepts",
    "domain_match": "domain",
    "authority": "authority",
    "temporal": "recency",
    "lexical": "matching words",
    "head_of_chain": "being current",
}
