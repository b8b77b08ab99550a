"""What a finding proposes (D7): one action, by its class and its sides."""

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

    Of an evolution the older side gives way; of a contradiction with one constitutive side the
    descriptive one (AGM); any other contradiction is asserted, and nothing is superseded. A nuance
    would become a contradiction, which the agent reviews first. None for what no judge could
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
