"""A side as models see it: its text, its kind and, where they are known, who said it and when."""

from datetime import UTC, datetime

from concord_attestation.visible import FIELD_CHARACTERS, NAMED, cut, visible

from concord_dissonance.domain.sides import Kind, Micros, Side


def shown(side: Side) -> dict[str, str]:
    """Return a side by fields, for a model that is told what each one means."""
    times = {
        "recorded": side.written or None,
        "stated_from": side.valid_from,
        "stated_until": side.valid_until,
    }
    said = {"text": side.prose, "kind": side.kind.value}
    if side.speakers:
        said["speaker"] = _speakers(side)
    return said | {name: _at(time).isoformat() for name, time in times.items() if time is not None}


def as_sentence(side: Side) -> str:
    """Return a side as one text, for a model of pairs of sentences.

    Such as "Ada (plan, 2024-03-01): I move to Bremen."; of a fact of which neither a speaker nor a
    time is known, the text alone. The time of recording is left out: it is not when a text held.
    """
    kind = "" if side.kind is Kind.FACT else side.kind.value
    notes = ", ".join(filter(None, (kind, _when(side.valid_from, side.valid_until))))
    speaker = _speakers(side)
    head = f"{speaker} ({notes})" if speaker and notes else speaker or notes
    return visible(f"{head}: {side.prose.strip()}" if head else side.prose)


def _speakers(side: Side) -> str:
    """Return who said a side, each name and their number bounded."""
    return ", ".join(cut(each, FIELD_CHARACTERS) for each in sorted(side.speakers)[:NAMED])


def _when(start: Micros | None, end: Micros | None) -> str:
    until = f"until {_short(end)}" if end is not None else ""
    return " ".join(filter(None, ("" if start is None else _short(start), until)))


def _short(time: Micros) -> str:
    """Return a time to the minute, a midnight as its date."""
    return f"{_at(time):%Y-%m-%d %H:%M}".removesuffix(" 00:00")


def _at(time: Micros) -> datetime:
    return datetime.fromtimestamp(time / 1e6, UTC)
