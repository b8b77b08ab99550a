"""A check's statements, its findings, and its coverage."""

from collections import Counter
from dataclasses import dataclass, field

from concord_dissonance.domain.sides import Side, TypedFact
from concord_dissonance.domain.verdicts import Judge, Verdict

OVERLAP = "concept-overlap"
"""The rule of a finding that no judge could decide."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An edge or a memory: its side for the judges, and fields that they need not know."""

    side: Side
    etag: str
    """The version that is judged."""
    changed: int = 0
    """When it was last changed, in microseconds."""
    read: int = 0
    """When it was last read."""
    session_id: str = ""
    stated_by: frozenset[str] = frozenset()
    """Of an edge: the ids of the memories that state it."""
    is_superseded: bool = False
    facts: tuple[TypedFact, ...] = ()
    """Of a memory: the triples that it states."""
    is_amended: bool = False
    """Whether a live memory amends it."""
    is_extracted: bool = False
    """Of an edge: whether nobody stated it; a program took it from texts."""
    names: tuple[str, ...] = ()
    """Of a memory: its importer's key, and the files that it was read from."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.side.id


Versions = frozenset[tuple[str, str]]
"""A pair of statements, each by its id and judged version."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Two statements that disagree, the one with the smaller id first.

    Without a verdict no judge could decide; then the `overlap` of concepts, in [0, 1], flags them.
    """

    first: Statement
    second: Statement
    verdict: Verdict | None
    overlap: float = 0.0
    group_id: str = ""
    """The findings of text that it belongs to: of a template at once, else once it is recorded."""

    @property
    def is_of_text(self) -> bool:
        """Whether it goes by words; typed facts are exact."""
        return self.verdict is None or self.verdict.judge is not Judge.STRUCTURAL

    @property
    def rule(self) -> str:
        """The name of the rule that made it, as contracts have it."""
        return OVERLAP if self.verdict is None else self.verdict.reason.rule

    @property
    def versions(self) -> Versions:
        """The pair as it was judged."""
        return frozenset((each.id, each.etag) for each in (self.first, self.second))

    @property
    def confidence(self) -> float:
        """How sure it is, in [0, 1]."""
        return self.overlap if self.verdict is None else self.verdict.confidence


@dataclass(slots=True)
class Coverage:
    """A check's coverage; every pair is judged, abstained from, or skipped for a reason."""

    statements: int = 0
    candidates: int = 0
    judged: int = 0
    abstained: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    judged_by: Counter[str] = field(default_factory=Counter)
    recorded: int = 0
    unrecorded: int = 0
    """New findings of text that were too many to be recorded unasked."""
    model_calls: int = 0
    model_tokens: int = 0
    model_micros: int = 0
    """Money, in millionths of the unit that the price is stated in."""
    is_degraded: bool = False
    """Whether a service or model that the check needs did not answer."""
