"""The rules of keys and spaces, replayed over a log (W7): an ended one is never made again."""

from __future__ import annotations

from typing import Any

from concord_client.trust.audit.state import ReplayState, of_type
from concord_client.trust.audit.write_rules import WriteRules


class AccessRules:
    """Judges the entries of commands on keys and spaces, which change no constitutive item."""

    def __init__(self, state: ReplayState, writes: WriteRules) -> None:
        self._state = state
        self._writes = writes
        self._keys: dict[str, bool] = {}
        """Whether each key is revoked, by id."""
        self._spaces: set[str] = set()
        """The spaces that were created: each may be created once."""
        self._deleted: set[str] = set()

    def on_key(self, leaf: dict[str, Any]) -> None:
        """Judge the creation or revocation of a key: it is created once, then revoked once."""
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
        """Judge the creation or deletion of a space: its name is used once."""
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
