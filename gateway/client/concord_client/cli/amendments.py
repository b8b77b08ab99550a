"""Suggests older memories that new ones may amend."""

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from concord_client.cli.render.page import show, text

if TYPE_CHECKING:
    from concord_client.client import Client

AT_ONCE = 256
PATIENCE = 10.0
"""Seconds that a command waits for suggestions."""


def show_amendments(client: "Client", memory_ids: Sequence[str], token: str) -> None:
    """Show the suggestions, each with the command for it. A failure to suggest is ignored."""
    from concord.dissonance.v1.dissonance_pb2 import SuggestAmendmentsRequest

    from concord_client.refusal import Refused

    for start in range(0, len(memory_ids), AT_ONCE):
        request = SuggestAmendmentsRequest(memory_ids=memory_ids[start : start + AT_ONCE])
        request.consistency.at_least_as_fresh = token
        with contextlib.suppress(Refused):
            for each in client.dissonance.SuggestAmendments(request, timeout=PATIENCE).amendments:
                line = text("It may amend ").append(each.older_id, "bold")
                line.append(f" ({each.change}). To say so: ")
                line.append(f"concord link memory:{each.newer_id} AMENDS memory:{each.older_id}")
                show(line)
