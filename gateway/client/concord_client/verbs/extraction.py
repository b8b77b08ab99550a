"""The verb that takes the facts from texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from concord.dissonance.v1 import dissonance_pb2

from concord_client.verbs import read_reply, things
from concord_client.verbs.arguments import stamp
from concord_client.verbs.steps import Step


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or a turn of a dialogue: whom "I" means, and what "yesterday" is counted from."""

    text: str
    speaker: str = ""
    time: datetime | None = None


def extract(texts: Sequence[Text], *, rules_only: bool = False) -> Step[things.Extraction]:
    """The facts that 1 to 256 texts state. Nothing is stored: `add` those that you want.

    `rules_only`: no model is asked.
    """
    said = [
        dissonance_pb2.SaidText(text=each.text, speaker=each.speaker, time=stamp(each.time))
        for each in texts
    ]
    request = dissonance_pb2.ExtractFactsRequest(texts=said, rules_only=rules_only)
    return Step(request, read_reply.extraction)
