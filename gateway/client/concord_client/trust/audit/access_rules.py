"""The rules of keys and spaces, replayed over a log (W7): what ended never began again."""

from __future__ import annotations

from typing import Any

from concord_client.trust.audit.state import ReplayState, of_type
from concord_client.trust.audit.write_rules import WriteRules


class AccessRules:
    """Judges the entries of commands on keys and spaces. They change nothing that is agreed to."""

    def __init__(self, state: ReplayState, writes: WriteRules) -> None:
        self._state = state
        self._writes = writes
        self._keys: dict[str, bool] = {}
        """Id of each key to whether it is revoked."""
        self._spaces: set[str] = set()
        """The spaces that were made or deleted: neither happens to one twice."""
        self._deleted: set[str] = set()

    def on_key(self, leaf: dict[str, Any]) -> None:
        """Judge that a key was made or revoked: made once, then revoked once."""
        if of_type(leaf["blocked"], bool):
            self._writes.on_refusal(leaf)
            return
        key = of_type(leaf["properties"]["key"], str)
        if leaf["action"] == "KEY_CREATE":
            self._state.demand("key", key not in self._keys)
        else:
            self._state.demand("key", self._keys.get(key) is False)
        self._keys[key] = leaf["action"] == "KEY_REVOKE"

    def on_space(self, leaf: dict[str, Any]) -> None:
        """Judge that a space was made or deleted: its name is used once."""
        if of_type(leaf["blocked"], bool):
            self._writes.on_refusal(leaf)
            return
        space = of_type(leaf["properties"]["space"], str)
        if leaf["action"] == "SPACE_CREATE":
            self._state.demand("space", space not in self._spaces | self._deleted)
            self._spaces.add(space)
        else:
            self._state.demand("space", space not in self._deleted)
            self._deleted.add(space)
