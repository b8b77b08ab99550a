"""STAC (simple terms and concise): lines about the best result, and the next action (spec S5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from concord_search.domain.confidence import Band
from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.ranking import Breakdown

MAX_LINES = 3


class NextAction(Enum):
    """What to do with the results, by the contract's names."""

    ACCEPT = "accept"
    ASK = "ask"
    REFINE = "refine"
    CAVEAT = "caveat"
    STATE = "state"
    SUMMARISE = "summarise"
    PREFER = "prefer"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The scores from which each rule applies, in [0, 1]. Defaults are spec S5's."""

    accept_vector: float = 0.85
    accept_authority: float = 0.80
    accept_temporal: float = 0.90
    ask_vector: float = 0.80
    ask_domain: float = 0.50
    strong_overlap: float = 0.50
    prefer_temporal: float = 0.90
    prefer_authority: float = 0.20

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise SettingsInvalid(f"the threshold {name} is {value}; it must lie in [0, 1]")


@dataclass(frozen=True, slots=True)
class StacOptions:
    """Which lines the caller wants, and how many at most."""

    max_lines: int = MAX_LINES
    show_why: bool = True
    show_next: bool = True


@dataclass(frozen=True, slots=True)
class Preference:
    """Of two results in an open conflict, the ids of the one to prefer and of the other."""

    preferred_id: str
    other_id: str


LOOKED_AT = 3


@dataclass(frozen=True, slots=True)
class Case:
    """The facts that decide about next action and lines, beside the results' scores.

    Of the top result: `band`; `current`: it holds, and nothing has replaced it; `asks`: it is a
    question itself; `lacks_rarest`: it lacks the query's rarest terms. `lag`: the number of changes
    that the index lacks. `words`: words of near results to add to the query. `of_past`: the query
    is about the past, and replaced memories were left out. `disputed_by`: the id of a memory that
    is no result, but in an open conflict with the top one. `replaced`: the number of results that
    no longer hold, beside those that do. `superseded`: the id of a superseded memory that is left
    out and alone holds searched words, with those of them that are concepts. `times`: what was made
    of the times that it names.
    """

    band: Band = Band.UNKNOWN
    current: bool = True
    preference: Preference | None = None
    asks: bool = False
    lacks_rarest: bool = False
    lag: int = 0
    words: tuple[str, ...] = ()
    of_past: bool = False
    disputed_by: str = ""
    replaced: int = 0
    superseded: tuple[str, ...] | None = None
    times: str = ""


def is_second_preferred(first: Breakdown, second: Breakdown, limits: Thresholds) -> bool:
    """Whether to prefer the lower ranked of two results in conflict.

    The one with clearly more authority is preferred, else the only recent one, else the first.
    """
    authority = round(second.score("authority") - first.score("authority"), _DIGITS)
    if abs(authority) >= limits.prefer_authority:
        return authority > 0
    return second.score("temporal") >= limits.prefer_temporal > first.score("temporal")


def next_action(results: Sequence[Breakdown], limits: Thresholds, case: Case) -> NextAction:
    """What to do with results, best first.

    The first rule that applies decides: two in an open conflict: prefer one; nothing found: wait
    for an index that lags, else refine; a near match that shares neither concept nor domain: ask; a
    near match with authority or recency: accept; none of the first three shares a concept: refine;
    else the action of the top result's confidence band. Instead of being used or stated, a result
    that no longer holds or is LOW is only summarised; a question, a disputed result, or one without
    the query's rarest terms only comes with a caveat.
    """
    if case.preference is not None:
        return NextAction.PREFER
    if not results:
        return NextAction.WAIT if case.lag else NextAction.REFINE
    action = _by_rules(results, limits, case.band)
    if not case.current and action not in _OF_ANYTHING:
        return NextAction.SUMMARISE
    if action in _ASSERTING and case.band is Band.LOW:
        return NextAction.SUMMARISE
    if action in _ASSERTING and (case.asks or case.disputed_by or case.lacks_rarest):
        return NextAction.CAVEAT
    return action


def _by_rules(results: Sequence[Breakdown], limits: Thresholds, band: Band) -> NextAction:
    top = results[0]
    vector = top.score("vector_similarity")
    unrelated = top.score("concept_overlap") == 0 and top.score("domain_match") <= limits.ask_domain
    if unrelated and vector >= limits.ask_vector:
        return NextAction.ASK
    backed = (
        top.score("authority") >= limits.accept_authority
        or top.score("temporal") >= limits.accept_temporal
    )
    if vector >= limits.accept_vector and backed:
        return NextAction.ACCEPT
    if all(result.score("concept_overlap") == 0 for result in results[:LOOKED_AT]):
        return NextAction.REFINE
    return _BY_BAND[band]


def lines(  # noqa: PLR0917 - one argument per part of the lines
    results: Sequence[Breakdown],
    domain: str,
    why: str,
    options: StacOptions,
    limits: Thresholds,
    case: Case,
) -> list[str]:
    """The lines for the best result: why it surfaced, how relevant it is, what to do next.

    `domain`: the top result's; `why`: its reason, one sentence.
    """
    written = []
    if results and options.show_why:
        written.append(_why_surfaced(results[0], domain, len(results) + case.replaced, limits))
    if results:
        written.append(f"Relevance: {results[0].composite:.2f}, {why[:1].lower()}{why[1:]}")
    if options.show_next:
        written.append(f"Next: {_next(next_action(results, limits, case), case)}")
    return written[: options.max_lines]


def _next(action: NextAction, case: Case) -> str:
    said = _NEXT[action]
    if case.preference is not None:
        kept, other = case.preference.preferred_id, case.preference.other_id
        said = f"prefer {kept}, and say that {other} conflicts with it."
    elif action is NextAction.WAIT:
        said = f"ask again: the index lacks the last {case.lag} changes, or demand freshness."
    elif action is NextAction.REFINE and case.words:
        said = f"refine the query: broaden or rename it, or add words: {', '.join(case.words)}."
    elif action is NextAction.CAVEAT and case.asks:
        said = "ask once, or go on from it: the best match is itself a question."
    elif action is NextAction.CAVEAT and case.disputed_by:
        said = f"say it with a caveat, or ask once: {case.disputed_by} conflicts with it."
    elif action is NextAction.CAVEAT and case.lacks_rarest:
        said = "say it with a caveat, or ask once: it lacks the query's rarest words."
    elif action is NextAction.SUMMARISE and not case.current:
        said = "say until when it held: it no longer does, so do not assert it."
    if case.superseded is not None:
        name, *words = case.superseded
        what = f"says {', '.join(words)}" if words else "holds a searched word"
        said += f" Superseded memory {name} alone {what}: include superseded ones (--all)."
    elif case.of_past:
        said += " For what was replaced since, search in history mode."
    return f"{said} {case.times}" if case.times else said


def _why_surfaced(top: Breakdown, domain: str, count: int, limits: Thresholds) -> str:
    said = {part.name: part.score for part in top.parts}
    named = {"vector_similarity": "vector", "authority": "authority", "temporal": "temporal"}
    shown = ", ".join(
        f"{word} {said[name]:.2f}" if name in said else f"{word} UNKNOWN"
        for name, word in named.items()
    )
    overlap = said.get("concept_overlap", 0.0)
    word = "none" if overlap == 0 else "strong" if overlap >= limits.strong_overlap else "some"
    if "concept_overlap" not in said:
        word = "UNKNOWN"
    return f"Why: {shown}; concept overlap: {word}; domain: {domain or 'none'}. Found {count}."


_DIGITS = 9
"""Decimals to which a difference of scores is rounded, against errors of binary fractions."""

_NEXT = {
    NextAction.ACCEPT: "use the top result.",
    NextAction.ASK: "ask one focused question: it is near in meaning and shares no concept.",
    NextAction.REFINE: "refine the query: broaden or rename it, or add the domain's words.",
    NextAction.CAVEAT: "say it with a caveat, or ask once.",
    NextAction.STATE: "state it, and say where it comes from.",
    NextAction.SUMMARISE: "do not assert it: summarise, and propose next steps.",
    NextAction.PREFER: "",
    NextAction.WAIT: "",
}

_ASSERTING = frozenset({NextAction.ACCEPT, NextAction.STATE})
_OF_ANYTHING = frozenset({NextAction.ASK, NextAction.REFINE})
"""The actions that stay allowed if the top result no longer holds."""

_BY_BAND = {
    Band.HIGH: NextAction.STATE,
    Band.MEDIUM: NextAction.CAVEAT,
    Band.LOW: NextAction.SUMMARISE,
}
