"""Says in words why a memory surfaced (spec S4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from concord_search.domain.instants import PRESENT, AsOf, Micros, days_between
from concord_search.domain.memory import MemoryState, parent_domain
from concord_search.domain.ranking import Breakdown, SignalPart

IMPORTANCE_WORD = {0: "medium", 1: "low", 2: "medium", 3: "high"}


@dataclass(frozen=True, slots=True)
class Context:
    """The data of the reasons: the query, and the memory as it was scored.

    `access_count` and `last_access` (µs): the ones that the score used.
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
    """One signal's reason, in words for people."""
    return _REASONS[part.name](part, context)


def relevance_reason(breakdown: Breakdown, context: Context) -> str:
    """One sentence: the two signals that contributed most, their values, and as of when."""
    strongest = sorted(breakdown.parts, key=lambda part: -part.contribution)[:2]
    said = " and ".join(f"{_TITLES[p.name]} ({reason(p, context)})" for p in strongest)
    when = context.as_of.in_words()
    sentence = (
        f"{when}, it surfaced mostly by {said}." if when else f"it surfaced mostly by {said}."
    )
    return sentence[0].upper() + sentence[1:]


def ago(then: Micros, now: Micros) -> str:
    """The time since an instant in words, in the largest whole unit."""
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
    if context.access_count:
        return f"last read {ago(context.last_access, context.now)}"
    memory = context.memory
    verb = "recorded" if memory.valid_from == memory.created else "held from"
    return f"{verb} {ago(memory.valid_from, context.now)}"


def _lexical(part: SignalPart, _: Context) -> str:
    if part.score <= 0.0:
        return "shares no searched word"
    return f"holds {part.score:.0%} of the query's words, by weight"


def _coactivation(part: SignalPart, _: Context) -> str:
    if part.score <= 0.0:
        return "not read with what this session read"
    return f"read together with what this session read, {part.score:.2f} of 1"


def _fusion(part: SignalPart, _: Context) -> str:
    return f"stands out by words and meaning, {part.score:.2f} of 1"


def _window(part: SignalPart, _: Context) -> str:
    return f"with what is said beside it, holds {part.score:.0%} of the query's words, by weight"


def _neighbours(part: SignalPart, _: Context) -> str:
    if part.score <= 0.0:
        return "nothing beside it matches"
    return f"what is said beside it matches, {part.score:.2f} of 1"


def _session(part: SignalPart, context: Context) -> str:
    return f"the best of its session {context.memory.session_id} match, {part.score:.2f} of 1"


def _speaker(part: SignalPart, context: Context) -> str:
    speaker = context.memory.speaker or "who said it"
    return f"{speaker} is asked about" if part.score else "the query does not name who said it"


def _answer(part: SignalPart, _: Context) -> str:
    if part.score <= 0.0:
        return "no question that matches stands before it"
    return f"comes right after a question that matches, {part.score:.2f} of 1"


def _statement(part: SignalPart, _: Context) -> str:
    return "it states something" if part.score else "it is a question itself"


def _says_when(part: SignalPart, _: Context) -> str:
    return "it names a time, which is asked for" if part.score else "it names no time"


def _length(part: SignalPart, _: Context) -> str:
    return f"says much, {part.score:.2f} of 1"


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
    "coactivation": _coactivation,
    "fusion": _fusion,
    "context_window": _window,
    "context_neighbours": _neighbours,
    "context_session": _session,
    "context_speaker": _speaker,
    "context_answer": _answer,
    "statement": _statement,
    "says_when": _says_when,
    "length": _length,
    "head_of_chain": _head,
}
_TITLES = {
    "vector_similarity": "similar meaning",
    "concept_overlap": "concepts",
    "domain_match": "domain",
    "authority": "authority",
    "temporal": "recency",
    "lexical": "matching words",
    "coactivation": "being read together",
    "fusion": "standing out",
    "context_window": "words around it",
    "context_neighbours": "what stands beside it",
    "context_session": "its session",
    "context_speaker": "who said it",
    "context_answer": "answering a question",
    "statement": "being a statement",
    "says_when": "naming a time",
    "length": "length",
    "head_of_chain": "being current",
}
