"""The fitted numbers of ranking and confidence, for three kinds of memories, shipped as data.

`python -m tests.fitting` writes them to `fitted.json`, with the questions that they were fitted on:
weights, see services/decisions/0045 and 0101, and coefficients and bounds of confidence, see 0070.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from concord_search.domain.confidence import Confidence, Logit
from concord_search.domain.memory import Talk
from concord_search.domain.signals import Weights


@dataclass(frozen=True, slots=True)
class Profile:
    """The signals' weights and the confidence's coefficients of one kind of memories."""

    weights: Weights
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profiles of plain memories, of turns among people, and of chats with an assistant."""

    plain: Profile
    people: Profile
    assistant: Profile

    def of(self, talk: Talk) -> Profile:
        """The profile of a memory with this `talk`."""
        if talk is Talk.NONE:
            return self.plain
        return self.people if talk is Talk.OF_PEOPLE else self.assistant

    def weighed(self, weights: Mapping[str, float]) -> "Profiles":
        """These profiles with some signals' weights replaced. Raises `SettingsInvalid`."""
        return Profiles(
            *(
                replace(each, weights=replace(each.weights, **weights))
                for each in (self.plain, self.people, self.assistant)
            )
        )


@cache
def shipped() -> Profiles:
    """The profiles that come with search."""
    found = json.loads(files("concord_search").joinpath("fitted.json").read_text("utf-8"))
    return Profiles(*(_profile(found[name]) for name in ("plain", "people", "assistant")))


def _profile(said: Mapping[str, Any]) -> Profile:
    bands = said["confidence"]
    logits = {name: Logit(**bands[name]) for name in ("answerable", "right")}
    confidence = Confidence(**logits, low=bands["low"], high=bands["high"])
    return Profile(Weights(**said["weights"]), confidence)
