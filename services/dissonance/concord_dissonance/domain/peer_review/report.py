"""The report of a review: its rounds, a summary, and warnings to read before believing it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from concord_dissonance.domain.peer_review.council import Verdict
from concord_dissonance.domain.peer_review.review import FailedReviewer, PeerReview


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """An answer, with the council's reviews and verdict."""

    answer: str
    reviews: tuple[PeerReview, ...]
    failed: tuple[FailedReviewer, ...]
    verdict: Verdict
    cached: frozenset[str] = frozenset()
    """Names of the reviewers whose reviews of the same answer were reused."""

    @property
    def expected(self) -> int:
        """How many reviewers were asked."""
        return len(self.reviews) + len(self.failed)


def summary(last: ReviewRound, language: str) -> str:
    """Return a round in one line."""
    said, verdict = _phrases()[language], last.verdict
    return said["summary"].format(
        succeeded=len(last.reviews),
        expected=last.expected,
        approval=said[verdict.approval.value],
        consensus=f"{verdict.consensus:.2f}",
        average=f"{verdict.average:.1f}",
        rate=f"{verdict.approval_rate:.0%}".rstrip("%"),
        conflicts=len(verdict.conflicts),
        confidence=f"{verdict.confidence:.2f}",
    )


def warnings(
    last: ReviewRound, language: str, *, critical: int, not_revised: str
) -> tuple[str, ...]:
    """Return warnings to read before believing a round, a sentence each.

    `critical`: unresolved critical contradictions. `not_revised`: why a revision that was asked
    for was not made; empty otherwise.
    """
    said = _phrases()[language]
    found = [
        said["contradicts"].format(
            reviewer=each.reviewer.name,
            recommendation=each.recommendation.name,
            points=f"{float(each.points):.1f}",
        )
        for each in last.reviews
        if each.contradicts_itself
    ]
    if last.failed:
        found.append(said["degraded"].format(failed=len(last.failed), expected=last.expected))
    if vendor := _one_vendor(last.reviews):
        found.append(said["one_vendor"].format(vendor=vendor))
    if critical:
        found.append(said["critical"].format(critical=critical))
    if not_revised:
        found.append(said["not_revised"].format(detail=not_revised))
    return tuple(found)


def _one_vendor(reviews: Sequence[PeerReview]) -> str:
    vendors = {each.reviewer.vendor for each in reviews}
    return vendors.pop() if len(vendors) == 1 else ""


@cache
def _phrases() -> dict[str, dict[str, str]]:
    text = resources.files(__package__).joinpath("phrases.toml").read_text("utf-8")
    return tomllib.loads(text)
