"""STAC, simple terms and concise: how sure a result is and what to do with it (spec S5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.ranking import Breakdown

MAX_LINES = 3


class Band(Enum):
    """How sure a result is."""

    UNKNOWN = "unknown"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class NextAction(Enum):
    """What to do with the results."""

    ACCEPT = "accept"
    ASK = "ask"
    REFINE = "refine"
    CAVEAT = "caveat"
    STATE = "state"
    SUMMARISE = "summarise"
    PREFER = "prefer"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the bands and rules begin; each in [0, 1]. Defaults are spec S5's."""

    band_high: float = 0.60
    band_medium: float = 0.45
    support_authority: float = 0.85
    support_temporal: float = 0.90
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
        if self.band_medium > self.band_high:
            raise SettingsInvalid("band_medium is above band_high")


@dataclass(frozen=True, slots=True)
class StacOptions:
    """Which lines the caller asks for, and how many."""

    max_lines: int = MAX_LINES
    show_why: bool = True
    show_next: bool = True


@dataclass(frozen=True, slots=True)
class Preference:
    """Of two results in an open conflict, the ids of the one to prefer and of the other."""

    preferred_id: str
    other_id: str


STRONG_SUPPORTS = 2
LOOKED_AT = 3


def band(result: Breakdown, limits: Thresholds) -> Band:
    """How sure one result is."""
    supports = (
        (result.score("authority") >= limits.support_authority)
        + (result.score("temporal") >= limits.support_temporal)
        + (result.score("concept_overlap") > 0)
    )
    if result.composite >= limits.band_high and supports >= STRONG_SUPPORTS:
        return Band.HIGH
    return Band.MEDIUM if result.composite >= limits.band_medium else Band.LOW


def is_second_preferred(first: Breakdown, second: Breakdown, limits: Thresholds) -> bool:
    """Whether to prefer the second of two results in conflict, of which the first ranks better.

    The one of clearly more authority, else the one that is recent, else the first.
    """
    authority = round(second.score("authority") - first.score("authority"), _DIGITS)
    if abs(authority) >= limits.prefer_authority:
        return authority > 0
    return second.score("temporal") >= limits.prefer_temporal > first.score("temporal")


def next_action(
    results: Sequence[Breakdown],
    limits: Thresholds,
    *,
    current: bool = True,
    preference: Preference | None = None,
) -> NextAction:
    """What to do with results, best first; `current`: they hold, and nothing has replaced them.

    The rules are asked in this order: two in an open conflict: prefer one; nothing found: refine;
    a near match that shares neither concept nor domain: ask; a near match with authority or
    recency: accept; none of the first three shares a concept: refine; else what the top result's
    confidence band says. What no longer holds is never used or stated.
    """
    if preference is not None:
        return NextAction.PREFER
    action = _by_rules(results, limits)
    return action if current or action in _OF_ANYTHING else NextAction.SUMMARISE


def _by_rules(results: Sequence[Breakdown], limits: Thresholds) -> NextAction:
    if not results:
        return NextAction.REFINE
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
    return _BY_BAND[band(top, limits)]


def lines(  # one argument per part of the lines
    results: Sequence[Breakdown],
    domain: str,
    why: str,
    options: StacOptions,
    limits: Thresholds,
    *,
    current: bool = True,
    preference: Preference | None = None,
) -> list[str]:
    """The lines for the best result: why it surfaced, how relevant it is, what to do next.

    `domain` is the top result's, `why` its one-sentence reason; `current` and `preference` as for
    `next_action`.
    """
    written = []
    if results and options.show_why:
        written.append(_why_surfaced(results[0], domain, limits))
    if results:
        written.append(f"Relevance: {results[0].composite:.2f}, {why[:1].lower()}{why[1:]}")
    if options.show_next:
        action = next_action(results, limits, current=current, preference=preference)
        written.append(f"Next: {_prefer(preference) if preference else _NEXT[action]}")
    return written[: options.max_lines]


def _why_surfaced(top: Breakdown, domain: str, limits: Thresholds) -> str:
    overlap = top.score("concept_overlap")
    word = "none" if overlap == 0 else "strong" if overlap >= limits.strong_overlap else "some"
    return (
        f"Why: vector {top.score('vector_similarity'):.2f}, authority {top.score('authority'):.2f},"
        f" temporal {top.score('temporal'):.2f}; concept overlap: {word};"
        f" domain: {domain or 'none'}"
    )


def _prefer(preference: Preference) -> str:
    return (
        f"prefer {preference.preferred_id}, and say that {preference.other_id} conflicts with it."
    )


_DIGITS = 9
"""A difference of scores is compared without what binary fractions add to it."""

_NEXT = {
    NextAction.ACCEPT: "use the top result.",
    NextAction.ASK: "ask one focused question: it is near in meaning and shares no concept.",
    NextAction.REFINE: "refine the query: broaden or rename it, or add the domain's words.",
    NextAction.CAVEAT: "say it with a caveat, or ask once.",
    NextAction.STATE: "state it, and say where it comes from.",
    NextAction.SUMMARISE: "do not assert it: summarise, and propose next steps.",
}

_OF_ANYTHING = frozenset({NextAction.ASK, NextAction.REFINE})
"""What may be done about a result that no longer holds."""

_BY_BAND = {
    Band.HIGH: NextAction.STATE,
    Band.MEDIUM: NextAction.CAVEAT,
    Band.LOW: NextAction.SUMMARISE,
}
