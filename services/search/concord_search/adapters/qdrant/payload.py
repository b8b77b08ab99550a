"""The payload beside a point's vectors: numbers and keyed hashes, never a word.

One point per state of a memory. `f` holds every keyed hash that a filter may use, the concepts'
first. The fields of instants that hide a state exist only if there is such an instant, so that
filtering by them costs next to nothing:

    sup     from when a successor replaces it
    gone    from when no read at now shows it: its stated end, or 0 once a newer state closed it
    ended   the earlier of both: from when the standard search does not show it
    opens   from when it holds, where that lay in its future when it was recorded
    closed  from when this state was no longer known: a newer one, or forgetting, ended it
    since   from when it was known, unless it is its memory's first state, known since `created`
    stated  its stated end, which stays when `gone` says that it was closed
    named   from when the time is that its text names first, and `then` until when

Only an edge, which is indexed as a sentence, has `edge`: 1 if it is constitutive, else 2. `terms`
are the numbers of the words, `speaker` the first of the speaker's numbers. `speech` is ASKS if the
words ask, plus SAYS_WHEN if they name a time, plus UNREAD if the embedder cannot read them: their
vector is zero.

So a state was known at r if `created` and `since` are not after r and `closed` is.
"""

from collections.abc import Collection, Sequence
from typing import Any

from concord_reading.times import Window

from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.domain.filters import kind_of_edge
from concord_search.domain.instants import NEVER, Micros
from concord_search.domain.memory import MemoryState, domain_and_above, parent_domain
from concord_search.domain.speech import asks, says_when

Payload = dict[str, Any]  # the engine's own type: JSON

FACETS = "f"
RANGES = (
    *("sup", "gone", "ended", "opens", "created", "from", "until", "closed"),
    *("since", "stated", "edge"),
)
"""The fields that hold instants, and `edge`, and are indexed for ranges."""
WEIGHED = ("ac", "la")
"""The fields that a formula of the engine reads; it wants them indexed for ranges, too."""
TENANT = "tenant"
"""The field that says whose a point is: the number of a space's version."""
MARK = "mark"
"""The field that only watermarks have, which a start finds by it."""
WRITE = "w"
"""The field that says with which write of its space a point was last changed, where other processes
read the columns, too."""
LOOKUPS = (FACETS, MARK)
"""The fields of numbers that are looked up."""


ASKS, SAYS_WHEN, UNREAD = 1, 2, 4


def of_state(
    state: MemoryState,
    key: SpaceKey,
    terms: Collection[int],
    speaker: int = 0,
    named: Sequence[Window] = (),
    *,
    length: int,
    unread: bool = False,
) -> Payload:
    """The payload of an open state; `named`: the times that its text names.

    `length`: the number of its terms without parts of words.
    """

    def number(field: str, value: str) -> int:
        return key.number(field, value) if value else 0

    concepts = [number("concept", each) for each in state.concepts]
    payload: Payload = {
        "item": key.item(state.id),
        "seq": state.seq,
        "text": key.digest(state.indexed),
        FACETS: concepts + _facets(state, key),
        "nc": len(concepts),
        "d": number("domain", state.domain),
        "p": number("domain", parent_domain(state.domain)),
        "imp": state.importance,
        "trust": state.trust,
        "writer": number("principal", state.principal),
        "ac": state.access_count,
        "la": state.last_access,
        "created": state.created,
        "from": state.valid_from,
        "rf": state.record_from,
        "head": int(state.is_head),
        "session": number("session", state.session_id),
        "talk": int(state.talk),
        "speech": ASKS * asks(state.content) + SAYS_WHEN * says_when(named) + UNREAD * unread,
        "terms": sorted(terms),
        "length": length,
        "speaker": speaker,
    }
    whole = ((each.begin, each.end) for each in named)
    spans = [(begin, end) for begin, end in whole if begin is not None and end is not None]
    if spans:
        payload["named"], payload["then"] = spans[0]
    return payload | _sparse(state)


def _sparse(state: MemoryState) -> Payload:
    instants = {
        "until": state.held_until,
        "sup": state.superseded_from,
        "gone": state.stated_until,
        "stated": state.stated_until,
        "ended": min(state.stated_until, state.superseded_from),
    }
    found: Payload = {name: at for name, at in instants.items() if at != NEVER}
    if state.valid_from > state.record_from:
        found["opens"] = state.valid_from
    if state.record_from > state.created:
        found["since"] = state.record_from
    if kind := kind_of_edge(state):
        found["edge"] = int(kind)
    return found


def _facets(state: MemoryState, key: SpaceKey) -> list[int]:
    named = [
        ("kind", str(state.kind)),
        ("edge_type", str(state.edge_type)),
        ("importance", str(state.importance)),
        ("origin", str(state.origin or "")),
        ("words_origin", str(state.words_origin or "")),
        ("category", state.category),
        ("principal", state.principal),
        ("session", state.session_id),
        *(("tag", tag) for tag in state.tags),
        *(("property", each) for each in state.properties),
        *(("domain", domain) for domain in domain_and_above(state.domain)),
        *(("source", name) for origin in state.origins for name in (origin.speaker, origin.file)),
    ]
    named += [("trust", str(level)) for level in range(1, state.trust + 1)]
    return list(dict.fromkeys(key.number(field, value) for field, value in named if value))


def of_closing(record_time: Micros, seq: int) -> Payload:
    """The payload fields that a newer state, or forgetting, writes onto the state that it ends."""
    return {"closed": record_time, "gone": 0, "ended": 0, "till": seq}
