"""Shows what an import left out: by kind, with counts and places; whole as JSON."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from concord_client.cli.render.page import show, text

if TYPE_CHECKING:
    from concord_client.importers.outcome import LeftOut, Remark

MOST_PLACES = 3
"""The most places that are named for one kind."""
_LONGEST = 60
"""Characters of the first part of a kind that are shown."""


def show_left_out(left: Sequence["LeftOut"]) -> None:
    """A line for each kind: how many parts, where the first ones stand, and what the first says."""
    for kind, parts in _by_kind(left).items():
        places = list(dict.fromkeys(each.place for each in parts))
        named = ", ".join(places[:MOST_PLACES]) + (", …" if len(places) > MOST_PLACES else "")
        said = " ".join(parts[0].text.split())
        said = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
        show(text(f"Left out: {len(parts):,} × {kind} ({named})" + (f": {said}" if said else "")))


def show_remarks(remarks: Sequence["Remark"]) -> None:
    """How files were read, where people should know."""
    for each in remarks:
        show(text(f"{each.file}: {each.text}"))


def left_out_json(left: Sequence["LeftOut"]) -> list[Mapping[str, str]]:
    """Each part with its kind, place and whole text."""
    return [{"kind": each.kind, "place": each.place, "text": each.text} for each in left]


def _by_kind(left: Sequence["LeftOut"]) -> Mapping[str, list["LeftOut"]]:
    kinds: dict[str, list[LeftOut]] = {}
    for each in left:
        kinds.setdefault(each.kind, []).append(each)
    return kinds
