"""Says in words why a memory surfaced (spec S4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from concord_attestation.visible import named, quoted

from concord_search.domain.instants import DAY, PRESENT, AsOf, Micros
from concord_search.domain.memory import MemoryState, parent_domain
from concord_search.domain.ranking import Breakdown, SignalPart
from concord_search.domain.stated import Triple

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
    time_asked: str = ""
    stated: Triple | None = None
    """The fact of the memory that matched."""


Reason = Callable[[SignalPart, Context], str]


def reason(part: SignalPart, context: Context) -> str:
    """One signal's reason, in words for people."""
    _, said = _EXPLAINED[part.name]
    return said(part, context)


def relevance_reason(breakdown: Breakdown, context: Context) -> str:
    """One sentence: the two signals that contributed most, their values, and as of when."""
    strongest = sorted(breakdown.parts, key=lambda part: -part.contribution)[:2]
    said = " and ".join(f"{_EXPLAINED[p.name][0]} ({reason(p, context)})" for p in strongest)
    when = context.as_of.in_words()
    sentence = (
        f"{when}, it surfaced mostly by {said}." if when else f"it surfaced mostly by {said}."
    )
    return sentence[0].upper() + sentence[1:]


def ago(then: Micros, now: Micros) -> str:
    """The time since an instant in words, in the largest whole unit."""
    days = max(0, now - then) / DAY
    if days >= 1:
        return _counted(int(days), "day")
    if days * 24 >= 1:
        return _counted(int(days * 24), "hour")
    if days * 1440 >= 1:
        return _counted(int(days * 1440), "minute")
    return "just now"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"


def _overlap(_: SignalPart, context: Context) -> str:
    shared = context.memory.shared(context.query_concepts)
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


def _session(part: SignalPart, context: Context) -> str:
    return (
        f"the best of its session {named(context.memory.session_id)} match, {part.score:.2f} of 1"
    )


def _speaker(part: SignalPart, context: Context) -> str:
    speaker = quoted(context.memory.speaker) if context.memory.speaker else "who said it"
    return f"{speaker} is asked about" if part.score else "the query does not name who said it"


def _window(part: SignalPart, context: Context) -> str:
    if part.score >= 1.0:
        return f"it is of the time that is asked about: {context.time_asked}"
    return f"{part.score:.2f} of 1 near the time that is asked about: {context.time_asked}"


def _words(part: SignalPart, context: Context) -> str:
    if part.score <= 0.0:
        return "shares no searched word"
    said = f"holds {part.score:.0%} of the query's words, by weight"
    return f"{said}; it states {quoted(' '.join(context.stated))}" if context.stated else said


def _head(_: SignalPart, context: Context) -> str:
    count = context.memory.predecessors
    return f"current: it replaces {count} older {'memory' if count == 1 else 'memories'}"


def _scored(some: str, none: str = "") -> Reason:
    """The reason of a signal whose score says all: `some` with the score, `none` for a score of 0.

    Without `none`, a score of 0 is shown as any other.
    """
    return lambda part, _: some.format(part.score) if part.score > 0.0 or not none else none


_EXPLAINED: dict[str, tuple[str, Reason]] = {
    "vector_similarity": ("similar meaning", _scored("cosine {:.2f} with the query")),
    "concept_overlap": ("concepts", _overlap),
    "domain_match": ("domain", _domain),
    "authority": ("authority", _authority),
    "temporal": ("recency", _temporal),
    "lexical": ("matching words", _words),
    "coactivation": (
        "being read together",
        _scored(
            "read together with what this session read, {:.2f} of 1",
            "not read with what this session read",
        ),
    ),
    "fusion": ("standing out", _scored("stands out by words and meaning, {:.2f} of 1")),
    "fusion_apart": (
        "standing out",
        _scored("stands out by words and meaning beyond common ones, {:.2f} of 1"),
    ),
    "context_window": (
        "words around it",
        _scored("with what is said beside it, holds {:.0%} of the query's words, by weight"),
    ),
    "context_passage": (
        "the passage around it",
        _scored("with the turns around it, holds {:.0%} of the query's words, by weight"),
    ),
    "context_neighbours": (
        "what stands beside it",
        _scored("what is said beside it matches, {:.2f} of 1", "nothing beside it matches"),
    ),
    "context_session": ("its session", _session),
    "context_speaker": ("who said it", _speaker),
    "context_answer": (
        "answering a question",
        _scored(
            "comes right after a question that matches, {:.2f} of 1",
            "no question that matches stands before it",
        ),
    ),
    "statement": ("being a statement", _scored("it states something", "it is a question itself")),
    "says_when": (
        "naming a time",
        _scored("it names a time, which is asked for", "it names no time"),
    ),
    "window": ("the time", _window),
    "length": ("length", _scored("says much, {:.2f} of 1")),
    "head_of_chain": ("being current", _head),
}
"""By signal, its title in a sentence and its reason."""
