"""The one action that a finding proposes, by its class and its sides (D7)."""

from collections.abc import Sequence

from concord_dissonance.domain.reviews import Decision, Resolve, Review, Verb


def proposed(
    conflict_id: str,
    etag: str,
    conflict_class: str,
    *,
    older_id: str,
    ids: tuple[str, str],
    constitutive: Sequence[str],
) -> Decision | None:
    """Return the action that a conflict of a class, e.g. "EVOLUTION", proposes.

    In an evolution the older side gives way; in a contradiction with one constitutive side, the
    descriptive side does (AGM). Any other contradiction is confirmed, and nothing is superseded. A
    nuance is reclassified as a contradiction, after the agent's review. None: no judge could
    decide.
    """
    if conflict_class == "EVOLUTION" and older_id:
        return Resolve(conflict_id, etag, "EVOLUTION", superseded_id=older_id)
    if conflict_class == "CONTRADICTION" and len(constitutive) == 1:
        (descriptive,) = set(ids) - set(constitutive)
        return Resolve(conflict_id, etag, "CONTRADICTION", superseded_id=descriptive)
    if conflict_class == "CONTRADICTION":
        return Review(conflict_id, etag, Verb.CONFIRM)
    if conflict_class == "NUANCE":
        return Review(conflict_id, etag, Verb.RECLASSIFY, conflict_class="CONTRADICTION")
    return None
