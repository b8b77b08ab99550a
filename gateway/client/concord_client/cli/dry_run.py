"""Shows what an import would do: what would come in, by kind, and what would not."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from concord.type.v1.type_pb2 import MEMORY_KIND_FACT, MemoryKind

from concord_client.cli.left_out import left_out_json, show_left_out, show_remarks
from concord_client.cli.render.page import plural, show, text, word
from concord_client.cli.session import Session, write_line

if TYPE_CHECKING:
    from concord_client.importers.outcome import Defect, Outcome


def show_dry_run(session: Session, outcomes: "Iterable[Outcome]") -> int:
    """Print the counts by kind, the errors and what is left out. Returns the exit status."""
    from concord_client.importers.outcome import Defect, Draft, LeftOut, Remark

    kinds: Counter[str] = Counter()
    errors: list[Defect] = []
    left: list[LeftOut] = []
    remarks: list[Remark] = []
    for outcome in outcomes:
        match outcome:
            case Draft():
                kinds[word(MemoryKind, outcome.memory.kind or MEMORY_KIND_FACT)] += 1
            case Defect():
                errors.append(outcome)
            case LeftOut():
                left.append(outcome)
            case Remark():
                remarks.append(outcome)
    if session.as_json:
        said = {
            "memories": dict(kinds),
            "errors": [{"place": e.place, "message": e.reason, "text": e.text} for e in errors],
            "leftOut": left_out_json(left),
            "remarks": [f"{each.file}: {each.text}" for each in remarks],
        }
        write_line(json.dumps(said, indent=2, ensure_ascii=False))
        return bool(errors)
    _show(kinds, errors)
    show_left_out(left)
    show_remarks(remarks)
    return bool(errors)


def _show(kinds: Counter[str], errors: "list[Defect]") -> None:
    named = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    total = plural(sum(kinds.values()), "memory", "memories")
    show(
        text(
            f"Would import {total}{f' ({named})' if named else ''}; {plural(len(errors), 'error')}"
        )
    )
    reasons: dict[str, list[Defect]] = {}
    for each in errors:
        reasons.setdefault(each.reason.partition(":")[0], []).append(each)
    for first, *others in reasons.values():
        again = f" ({len(others) + 1:,} of this kind)" if others else ""
        show(text(f"{first.place}: {first.reason}{again}"), on_error=True)
