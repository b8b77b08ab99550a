"""What makes an export a log at all: form, order, one spelling, and what a reader pinned (A2)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import rfc8785
from concord_attestation.checkpoint import Checkpoint, sign_checkpoint
from concord_client.trust.audit.log import LogInvalid, Pinned, read_log
from forger import Forger, Forgery, demand_refused


def _time_back(it: Forger) -> None:
    it.leaves[-1]["time"] = it.time(-1)


def _no_time(it: Forger) -> None:
    it.leaves[-1]["time"] = "yesterday"


def _more_said(it: Forger) -> None:
    it.leaves[-1]["note"] = "more"


def _another_space(it: Forger) -> None:
    it.leaves[-1]["space"] = "two"


def _flag_for_a_number(it: Forger) -> None:
    it.write("added")["properties"]["revision"] = True


def _flag_for_a_place(it: Forger) -> None:
    """Call the entry at place 1 the one at place "true"."""
    it.lines_as = {1: {"index": True}}


def _number_for_a_flag(it: Forger) -> None:
    it.leaves[-1]["blocked"] = 1


def _flag_for_an_effect(it: Forger) -> None:
    it.of("alone", "SMF_EXECUTE")["properties"]["effects"][0]["after"] = True


LOG_FORGERIES: dict[str, tuple[Forgery, str]] = {
    "time goes back": (_time_back, "time"),
    "no time": (_no_time, "time"),
    "a field too many": (_more_said, "form"),
    "true for revision 1": (_flag_for_a_number, "form"),
    "true for place 1": (_flag_for_a_place, "form"),
    "1 for true": (_number_for_a_flag, "form"),
    "true for an effect's revision": (_flag_for_an_effect, "form"),
    "another space": (_another_space, "sequence"),
}


async def test_every_rule_of_the_log_itself_refuses_its_forgery(forger: Forger) -> None:
    """A2 Form, order, time and space of entries, whatever their hashes say."""
    demand_refused(forger, LOG_FORGERIES)


def _spaced(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'":', b'": ', 1), *lines[2:]]


def _unterminated(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1].removesuffix(b"\n")]


def _header_unterminated(lines: list[bytes]) -> list[bytes]:
    return [lines[0].removesuffix(b"\n"), *lines[1:]]


def _header_with(lines: list[bytes], **told: object) -> list[bytes]:
    return [rfc8785.dumps(json.loads(lines[0]) | told) + b"\n", *lines[1:]]


def _last_rewritten(lines: list[bytes]) -> list[bytes]:
    leaf = json.loads(lines[-1]) | {"reason": "rewritten"}
    return [*lines[:-1], rfc8785.dumps(leaf) + b"\n"]


def _doubled_key(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'{"action"', b'{"action":"X","action"', 1), *lines[2:]]


def _entry_of_version_1(lines: list[bytes]) -> list[bytes]:
    leaf = json.loads(lines[-1]) | {"version": 1}
    return [*lines[:-1], rfc8785.dumps(leaf) + b"\n"]


def _respelled_key(lines: list[bytes]) -> list[bytes]:
    """Spell the log's key otherwise: 43 letters hold two bits more than it has."""
    key = json.loads(lines[0])["log_key"].encode()
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = letters[letters.index(key[-2]) + 1 :][:1]
    return [lines[0].replace(key, key[:-2] + other + b"="), *lines[1:]]


LINE_FORGERIES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "another spelling of the same JSON": (_spaced, "canonical"),
    "another spelling of the log's key": (_respelled_key, "form"),
    "a key twice": (_doubled_key, "canonical"),
    "no line break at the end": (_unterminated, "truncated"),
    "no line break after the header": (_header_unterminated, "form"),
    "a header that says more": (lambda lines: _header_with(lines, note="more"), "form"),
    "a header of version true": (lambda lines: _header_with(lines, version=True), "form"),
    "a header of another version": (lambda lines: _header_with(lines, version=2), "form"),
    "an entry of version 1": (_entry_of_version_1, "version"),
    "no JSON": (lambda lines: [lines[0], b"{\n"], "form"),
    "too long a line": (lambda lines: [lines[0], b'"' + b"x" * (1 << 20) + b'"\n'], "form"),
    "nothing at all": (lambda _: [], "form"),
    "an entry left out": (lambda lines: [lines[0], *lines[2:]], "sequence"),
    "the last entry rewritten": (_last_rewritten, "root"),
    "the end left out": (lambda lines: lines[:-1], "root"),
}


async def test_every_rule_of_the_lines_refuses_its_forgery(forger: Forger) -> None:
    """A2 One spelling of every byte, and no line too many or too few."""
    lines = forger.lines()
    for name, (forge, check) in LINE_FORGERIES.items():
        with pytest.raises(LogInvalid) as caught:
            read_log(forge(lines), Pinned())

        assert (name, caught.value.check) == (name, check)
        assert f"failed the check {check!r}" in str(caught.value)
        assert ("commit 85b147cc" in str(caught.value)) == (check == "version")


async def test_what_a_reader_pinned_is_compared(forger: Forger) -> None:
    """A2 Another key, a shorter log and another history are refused against what was kept."""
    whole = forger.lines()
    kept = json.loads(whole[0])["checkpoint"]
    last = forger.leaves.pop()
    shorter = forger.lines()
    forger.leaves.append(last | {"reason": "rewritten"})
    rewritten = forger.lines()
    empty = Checkpoint(forger.header["log_origin"], 0, bytes(32))
    begun_otherwise = sign_checkpoint(empty, forger.keys.log)

    for lines, pinned, check in (
        (whole, Pinned(log_key=bytes(32)), "log_key"),
        (shorter, Pinned(checkpoint=kept), "shorter_than_witnessed"),
        (rewritten, Pinned(checkpoint=kept), "not_an_extension"),
        (whole, Pinned(checkpoint=begun_otherwise), "not_an_extension"),
        (whole, Pinned(checkpoint=kept.replace("one", "two")), "witnessed_checkpoint"),
    ):
        with pytest.raises(LogInvalid) as caught:
            read_log(lines, pinned)
        assert check == caught.value.check
