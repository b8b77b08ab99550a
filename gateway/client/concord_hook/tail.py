"""What is kept of a session at its end: the last turns of its dialogue, and facts to be offered.

Turns are read from the client's own file: lines of JSON of Claude Code and Codex, or the one
object of Gemini. What tools said, what a client put there itself, and subagents are left out. A
turn has an external id, so that a session that ends twice is stored once.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence

from concord_hook.door import Door, items
from concord_hook.event import Event, clean
from concord_hook.page import one_line
from concord_hook.state import State

MOST_TURNS = 40
MOST_BYTES = 2 << 20
"""Of the file's end; of Gemini's file, which is one object, all."""
MOST_CHARACTERS = 20_000
MOST_SENT = 400 << 10
"""Bytes of all turns: a door takes a megabyte, and JSON writes some characters as two."""
MOST_OFFERED = 5
MOST_READ = 4_000
"""Characters of a turn from which facts are taken: what is longer was pasted."""
_NOBODYS = ("isMeta", "isSidechain", "isCompactSummary")
"""Claude Code's marks of what it put there itself, and of what a subagent said."""
_APPEND = "concord.graph.v1.DialogueService/AppendDialogue"
_EXTRACT = "concord.dissonance.v1.DissonanceService/ExtractFacts"

Line = Mapping[str, object]


class Turn:
    """A turn of a dialogue."""

    def __init__(self, by_user: bool, content: str, time: object, key: object) -> None:
        """`key`: the client's id of it, if it has one."""
        self.by_user, self.content = by_user, content[:MOST_CHARACTERS]
        self.speaker = "user" if by_user else "assistant"
        self.time = time if isinstance(time, str) and time.endswith("Z") else ""
        self.key = key if isinstance(key, str) and key else f"{self.time} {self.content}"


def keep(door: Door, state: State, event: Event) -> None:
    """Store the dialogue's tail and keep the facts that its user states for the next start."""
    turns = read(event.transcript)
    if not event.session or not any(each.by_user for each in turns):
        return
    sent = [_sent(each, event.session) for each in turns]
    identity = _digest("".join(str(each["externalId"]) for each in sent))
    request = {"requestId": identity, "sessionId": event.session, "turns": sent}
    ids = [str(each.get("id")) for each in items(door.call(_APPEND, request), "turns")]
    said = {key: each for key, each in zip(ids, turns, strict=True) if each.by_user}
    # What was offered at an earlier end of the session is not offered again.
    fresh = state.claim(f"{event.session} offered", [*said])
    if not fresh:
        return
    texts = [_said(said[each]) for each in fresh]
    reply = door.call(_EXTRACT, {"texts": texts, "rulesOnly": True})
    if offers := [*_offers(items(reply, "candidates"), fresh)]:
        state.offer(offers[:MOST_OFFERED])


def read(path: str) -> list[Turn]:
    """The last turns of a client's file; none where it is of no form that is known."""
    length = os.stat(path).st_size
    with open(path, "rb") as file:
        begin = file.read(1)
        file.seek(max(length - MOST_BYTES, 0))
        raw = file.read(MOST_BYTES)
    lines = [*_lines(raw)] if begin == b"{" else []
    if len(lines) <= 1 and length <= MOST_BYTES:
        lines = [*_messages(raw)] or lines
    found = [turn for line in lines if (turn := _turn(line)) and turn.content]
    kept: list[Turn] = []
    size = 0
    for turn in reversed(found[-MOST_TURNS:]):
        size += len(turn.content.encode())
        if size > MOST_SENT:
            break
        kept.append(turn)
    return kept[::-1]


def _lines(raw: bytes) -> Iterator[Line]:
    for line in raw.splitlines():
        try:
            found = json.loads(line)
        except ValueError:  # the first one is cut, and a client may still write the last
            continue
        if isinstance(found, dict):
            yield found


def _messages(raw: bytes) -> Iterator[Line]:
    try:
        found = json.loads(raw)
    except ValueError:
        return
    listed = found.get("messages") if isinstance(found, dict) else None
    yield from (each for each in listed or () if isinstance(each, dict))


def _turn(line: Line) -> Turn | None:
    """A line's turn, if somebody said it: of Claude Code, Codex or Gemini."""
    kind, payload = line.get("type"), line.get("payload")
    if any(line.get(name) for name in _NOBODYS):
        return None
    if kind == "event_msg" and isinstance(payload, dict):
        if payload.get("type") not in ("user_message", "agent_message"):
            return None
        words = _words(payload.get("message"))
        return Turn(payload["type"] == "user_message", words, line.get("timestamp"), None)
    if kind not in ("user", "assistant", "gemini"):
        return None
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else line.get("content")
    key = line.get("uuid") or line.get("id")
    return Turn(kind == "user", _words(content), line.get("timestamp"), key)


def _words(content: object) -> str:
    """The text of a content; "" for what a client put there itself, which is one tag."""
    if isinstance(content, list):
        parts = (each for each in content if isinstance(each, dict))
        texts = [each["text"] for each in parts if isinstance(each.get("text"), str)]
        content = "\n".join(each for each in texts if _words(each))
    if not isinstance(content, str):
        return ""
    words = clean(content).strip()
    return "" if words.startswith("<") and words.endswith(">") else words


def _sent(turn: Turn, session: str) -> dict[str, object]:
    role = "TURN_ROLE_USER" if turn.by_user else "TURN_ROLE_ASSISTANT"
    key = f"hook:{_digest(f'{session} {turn.speaker} {turn.key}')}"
    said = {"speaker": turn.speaker, "content": turn.content, "role": role, "externalId": key}
    return said | _timed(turn)


def _said(turn: Turn) -> dict[str, object]:
    return {"text": turn.content[:MOST_READ], "speaker": turn.speaker} | _timed(turn)


def _timed(turn: Turn) -> dict[str, object]:
    return {"time": turn.time} if turn.time else {}


def _offers(candidates: Sequence[Line], ids: Sequence[str]) -> Iterator[str]:
    """A line for each fact that is sure, with the words and the turn that state it."""
    for each in candidates:
        fact, text = each.get("fact"), each.get("text", 0)
        if each.get("sure") and isinstance(fact, dict) and isinstance(text, int):
            words = " ".join(one_line(fact.get(n))[:80] for n in ("subject", "relation", "object"))
            quote = one_line(each.get("quote"))[:160]
            yield f'{words}: "{quote}" [memory:{one_line(ids[text])}]'


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:40]
