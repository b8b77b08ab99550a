"""How memories are ranked and how sure results are, by what they are: fitted, shipped as data.

`fitted.json` holds what `python -m tests.fitting` fitted and on what; see services/decisions/0045.
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
    """One kind of memories: the weights of signals, and what makes its results sure."""

    weights: Weights
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profiles of plain memories, of people's turns, and of turns to and by an assistant."""

    plain: Profile
    people: Profile
    assistant: Profile

    def of(self, talk: Talk) -> Profile:
        """The profile of a memory."""
        if talk is Talk.NONE:
            return self.plain
        return self.people if talk is Talk.OF_PEOPLE else self.assistant

    def weighed(self, weights: Mapping[str, float]) -> "Profiles":
        """With some weights replaced, by signal, in every profile. Raises `SettingsInvalid`."""
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
