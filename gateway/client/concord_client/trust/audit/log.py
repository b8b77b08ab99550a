"""Reads an exported log and checks that its checkpoint covers every byte of it (A2).

Nothing in the export is believed: the reader gives the log's key, the genesis digest and an older
checkpoint, as far as pinned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785
from concord_attestation.bounds import MAX_ENTRY_BYTES
from concord_attestation.checkpoint import Checkpoint, read_checkpoint
from concord_attestation.instants import parse_time
from concord_attestation.note import NoteInvalid, from_base64
from concord_attestation.tree import Frontier, leaf_hash

ENTRY_VERSION = 2
_HEADER_KEYS = {"version", "space", "log_origin", "log_key", "checkpoint", "genesis"}


_LEAF_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("version", "index"), int),
    **dict.fromkeys(("space", "time", "action", "actor", "principal", "reason"), str),
    **dict.fromkeys(("item", "proposal", "properties"), dict),
    "blocked": bool,
}
_PARTS: Mapping[str, Mapping[str, type]] = {
    "item": {"id": str, "kind": int},
    "proposal": {"id": str, "revision": int},
}


OF_VERSION_1 = "what Concord wrote before its first release, commit 85b147cc still reads"


class LogInvalid(Exception):
    """The export fails a check. `index`: the entry at fault, or -1 for the header."""

    def __init__(self, check: str, index: int = -1, hint: str = "") -> None:
        where = "the header" if index < 0 else f"entry {index}"
        super().__init__(f"{where} failed the check {check!r}" + (f" ({hint})" if hint else ""))
        self.check = check
        self.index = index


@dataclass(frozen=True, slots=True)
class Pinned:
    """The values that the reader pinned; None is not compared."""

    log_key: bytes | None = None
    genesis_digest: str | None = None
    checkpoint: str | None = None
    """A checkpoint's note that the reader kept: the log must extend it."""


@dataclass(frozen=True, slots=True)
class Log:
    """A log whose signed checkpoint covers every leaf."""

    space: str
    checkpoint: Checkpoint
    genesis: dict[str, Any] | None
    leaves: list[dict[str, Any]]


def read_log(lines: Iterable[bytes], pinned: Pinned) -> Log:
    """Read an export and check that it is complete and unchanged.

    Raises:
        LogInvalid: names the check that failed and the entry.
    """
    parts = iter(lines)
    header = _header(next(parts, b""))
    key = _log_key(header, pinned)
    checkpoint = _checkpoint(str(header["checkpoint"]), header, key, "checkpoint")
    witnessed = (
        _checkpoint(pinned.checkpoint, header, key, "witnessed_checkpoint")
        if pinned.checkpoint is not None
        else None
    )
    leaves = list(_leaves(parts, str(header["space"]), checkpoint, witnessed))
    return Log(str(header["space"]), checkpoint, header["genesis"], leaves)


def _leaves(
    lines: Iterator[bytes], space: str, checkpoint: Checkpoint, witnessed: Checkpoint | None
) -> Iterator[dict[str, Any]]:
    frontier = Frontier()
    latest = ""
    _compare(frontier, witnessed)
    for line in lines:
        index = frontier.size
        data = line.removesuffix(b"\n")
        if data == line:
            raise LogInvalid("truncated", index)
        leaf = _leaf(data, index)
        if leaf["space"] != space or leaf["index"] != index:
            raise LogInvalid("sequence", index)
        if leaf["time"] < latest:
            raise LogInvalid("time", index)
        latest = leaf["time"]
        frontier.append(leaf_hash(data))
        _compare(frontier, witnessed)
        yield leaf
    if frontier.size != checkpoint.size or frontier.root() != checkpoint.root:
        raise LogInvalid("root", frontier.size)
    if witnessed is not None and witnessed.size > frontier.size:
        raise LogInvalid("shorter_than_witnessed", frontier.size)


def _compare(frontier: Frontier, witnessed: Checkpoint | None) -> None:
    if (
        witnessed is not None
        and witnessed.size == frontier.size
        and frontier.root() != witnessed.root
    ):
        raise LogInvalid("not_an_extension", frontier.size)


def _header(line: bytes) -> dict[str, Any]:
    header = _canonical(line.removesuffix(b"\n"), -1)
    version = header.get("version")
    known = set(header) == _HEADER_KEYS and type(version) is int and version == 1
    if not line.endswith(b"\n") or not known:
        raise LogInvalid("form")
    return header


def _leaf(data: bytes, index: int) -> dict[str, Any]:
    leaf = _canonical(data, index)
    parts = ((leaf.get(name), types) for name, types in _PARTS.items())
    shaped = _is_of(leaf, _LEAF_TYPES) and all(_is_of(part, types) for part, types in parts)
    if not shaped:
        raise LogInvalid("form", index)
    if leaf["version"] != ENTRY_VERSION:
        raise LogInvalid("version", index, OF_VERSION_1 if leaf["version"] == 1 else "")
    try:
        parse_time(leaf["time"])
    except (ValueError, TypeError):
        raise LogInvalid("time", index) from None
    return leaf


def _is_of(value: object, types: Mapping[str, type]) -> bool:
    """Return whether a dict has exactly these fields, each of exactly its type: true is no 1."""
    return (
        isinstance(value, dict)
        and value.keys() == types.keys()
        and all(type(value[name]) is kind for name, kind in types.items())
    )


def _canonical(data: bytes, index: int) -> dict[str, Any]:
    """Read JSON; refuse it unless its bytes are its RFC 8785 form."""
    if len(data) > MAX_ENTRY_BYTES:
        raise LogInvalid("form", index)
    try:
        value = json.loads(data)
        canonical = rfc8785.dumps(value)
    except (ValueError, RecursionError):
        raise LogInvalid("form", index) from None
    if canonical != data or not isinstance(value, dict):
        raise LogInvalid("canonical", index)
    return value


def _log_key(header: dict[str, Any], pinned: Pinned) -> bytes:
    try:
        key = from_base64(str(header["log_key"]))
    except NoteInvalid:
        raise LogInvalid("form") from None
    if pinned.log_key is not None and key != pinned.log_key:
        raise LogInvalid("log_key")
    return key


def _checkpoint(note: str, header: dict[str, Any], key: bytes, check: str) -> Checkpoint:
    try:
        return read_checkpoint(note, str(header["log_origin"]), key)
    except NoteInvalid:
        raise LogInvalid(check) from None
