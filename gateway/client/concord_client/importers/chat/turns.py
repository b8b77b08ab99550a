"""A turn of a transcript, and the memory that it becomes."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from unicodedata import normalize

from concord.type.v1 import type_pb2

from concord_client.importers.outcome import ItemUnreadable, LeftOut, check_content
from concord_client.importers.properties import add_fitting_properties

MAX_SESSION = 128
MAX_SPEAKER = 256
DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
MARKS = re.compile(f"[{DIRECTIONS}]")
"""The invisible marks of direction that messengers write around names and times."""

_ROLES = {
    "user": type_pb2.TURN_ROLE_USER,
    "human": type_pb2.TURN_ROLE_USER,
    "assistant": type_pb2.TURN_ROLE_ASSISTANT,
    "ai": type_pb2.TURN_ROLE_ASSISTANT,
    "model": type_pb2.TURN_ROLE_ASSISTANT,
}
"""The roles of an assistant's chat, by the words of several tools."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a speaker."""

    session: str
    speaker: str
    text: str
    time: datetime | None = None
    """The time of the utterance, if the transcript has one."""
    role: type_pb2.TurnRole.ValueType = type_pb2.TURN_ROLE_UNSPECIFIED
    beside: Mapping[str, object] = field(default_factory=dict)
    """The other fields of its record, which become properties."""


class Sessions:
    """Makes memories of turns, in the order of the transcript.

    A turn's external id is made of its text, speaker, time and session, not of its file or
    position: so a transcript that grew, moved or gained a turn can be imported again. Equal turns
    of a session are numbered.
    """

    def __init__(self) -> None:
        self._equal: Counter[str] = Counter()

    def memory(self, turn: Turn, left: list[LeftOut]) -> type_pb2.Memory:
        """The memory that `turn` becomes; fields that no property can hold go to `left`.

        Raises `ItemUnreadable`.
        """
        text = _checked(turn)
        key = f"{turn.session}/{_digest(turn, text)}"
        self._equal[key] += 1
        again = f"/{self._equal[key]}" if self._equal[key] > 1 else ""
        memory = type_pb2.Memory(
            content=text,
            kind=type_pb2.MEMORY_KIND_TURN,
            session_id=turn.session,
            sources=[type_pb2.Source(speaker=turn.speaker)],
            external_id=f"chat/{key}{again}",
            role=turn.role,
        )
        if turn.time:
            memory.valid_from.FromDatetime(turn.time.astimezone(UTC))
        add_fitting_properties(memory.properties, turn.beside, left)
        return memory


def is_role(name: object) -> bool:
    """Whether a value is a transcript's word for a role."""
    return isinstance(name, str) and name.casefold() in _ROLES


def role_of(name: str) -> type_pb2.TurnRole.ValueType:
    """The role that a transcript's word for a speaker names; that of a person if it names none."""
    return _ROLES.get(name.casefold(), type_pb2.TURN_ROLE_PERSON)


def _checked(turn: Turn) -> str:
    """The turn's text. Raises `ItemUnreadable` if a field is one that no memory may have."""
    for name, value, most in (
        ("session", turn.session, MAX_SESSION),
        ("speaker", turn.speaker, MAX_SPEAKER),
    ):
        if not value.strip():
            raise ItemUnreadable(f"no {name}")
        if len(value) > most:
            raise ItemUnreadable(f"the {name} has {len(value)} characters, at most {most}")
        if _CONTROLS.search(value):
            raise ItemUnreadable(f"the {name} has control characters")
    if _SURROGATES.search(turn.session + turn.speaker + turn.text):
        raise ItemUnreadable("half of a character (a lone surrogate)")
    text = turn.text.replace("\r\n", "\n").strip()
    check_content(text)
    if "\0" in text:
        raise ItemUnreadable("the text has NUL characters")
    return text


def _digest(turn: Turn, text: str) -> str:
    time = turn.time.astimezone(UTC).isoformat() if turn.time else ""
    said = "\0".join(normalize("NFC", each) for each in (turn.speaker, time, text))
    return sha256(said.encode()).hexdigest()[:32]
