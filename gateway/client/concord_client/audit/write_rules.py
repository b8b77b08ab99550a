"""The rules of writes: by a genesis or a bilateral decision, and as told before (V2, V5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from concord_client.audit.course import FAILED, Course
from concord_client.audit.log import LogInvalid

GENESIS_EDGES = 3
"""What a genesis writes: an edge for each slot's key and one for governance's."""


class WriteRules:
    """What may be written, and what was refused."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._written: list[tuple[int, str, str]] = []
        self._standing: dict[str, list[str]] = {}
        """What is constitutive, with the ids of its ends."""
        self._digests: dict[str, str] = {}
        self._written_last: dict[str, str] = {}
        """Item to the digest that its newest entry gave it."""
        self._enrolled: set[str] = set()
        self._enrolments: set[str] = set()
        self.refused = 0

    def constitutive(self) -> Mapping[str, str]:
        """Return everything both parties agreed to as it stands, to its last digest."""
        return {
            item_id: self._digests[item_id]
            for standing, ends in self._standing.items()
            for item_id in (standing, *ends)
        }

    def on_genesis(self, leaf: dict[str, Any]) -> None:
        """Take the edges that one enrolment wrote: no later write passes for a genesis."""
        self._course.keys()
        self._enrolled.add(leaf["item"]["id"])
        self._enrolments.add(leaf["properties"]["request_id"])
        again = leaf["item"]["id"] in self._written_last
        if again or len(self._enrolments) > 1 or len(self._enrolled) > GENESIS_EDGES:
            raise self._course.breach("genesis")
        self._note_item(leaf)

    def on_write(self, leaf: dict[str, Any]) -> None:
        """Note a governed write; its decision may be told later."""
        if leaf["blocked"]:
            raise self._course.breach("blocked")
        item_id, told = leaf["item"]["id"], leaf["properties"]
        if told["before_digest"] != self._written_last.get(item_id, told["before_digest"]):
            raise self._course.breach("before_digest")
        self._written.append((self._course.index, told["request_id"], item_id))
        self._note_item(leaf)

    def on_refusal(self, leaf: dict[str, Any]) -> None:
        """Count a refusal; it says that it blocked."""
        if not leaf["blocked"]:
            raise self._course.breach("blocked")
        self.refused += 1

    def demand_written_as_decided(self) -> None:
        """Demand a bilateral decision behind every governed write: it may be told later."""
        for index, request_id, item_id in self._written:
            told = self._course.decisions.get(request_id)
            if told is None or told.level != "BILATERAL":
                raise LogInvalid("undecided_write", index)
            if told.state == FAILED or (told.effects and item_id not in told.effects):
                raise LogInvalid("undecided_write", index)

    def _note_item(self, leaf: dict[str, Any]) -> None:
        item_id, told = leaf["item"]["id"], leaf["properties"]
        removed = leaf["action"] == "DELETE_SUCCESS"
        self._written_last[item_id] = "" if removed else told["digest"]
        self._digests |= {item_id: told["digest"], **told.get("ends", {})}
        self._standing.pop(item_id, None)
        if "ends" in told:
            self._standing[item_id] = list(told["ends"])
