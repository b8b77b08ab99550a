"""A hand that writes at random, and remembers what it was told."""

import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from concord.type.v1.type_pb2 import Edge, Fact, Memory
from concord_client.client import Client
from concord_client.refusal import Refused

Sending = Callable[[Client, str], Any]
WORDS = [
    "tea",
    "coffee",
    "harbour",
    "office",
    "letter",
    "winter",
    "bicycle",
    "engine",
    "garden",
    "music",
]


@dataclass(frozen=True)
class Deed:
    """One write: how it is sent, always under the same request id, and how its reply is noted.

    `note` returns the ids of items that have a new revision by it.
    """

    request_id: str
    send: Sending
    note: Callable[[Any], list[str]]


@dataclass
class Hand:
    """Writes items that nobody else writes, so it knows what must be seen of them."""

    name: str
    draw: random.Random
    live: dict[str, Memory] = field(default_factory=dict)
    forgotten: dict[str, Memory] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    ghosts: list[str] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)
    node_ids: dict[str, str] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    episodes: list[str] = field(default_factory=list)
    held: str = ""
    relations: dict[str, bool] = field(default_factory=dict)
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    """Request ids, with the items that were acknowledged under them."""
    token: str = ""
    under_way: Deed | None = None
    numbers: int = 0

    def write(
        self,
        client: Client,
        deeds: Sequence[Callable[["Hand"], "Deed | None"]],
        is_dead: Callable[[], bool],
    ) -> None:
        """Write until the server is dead. Raises `Refused` for a refusal of a living one."""
        try:
            while not is_dead():
                self.resume(client)
                self.under_way = self.draw.choice(deeds)(self)
        except Refused:
            if not is_dead():
                raise

    def resume(self, client: Client) -> None:
        """Do, or do again under its former request id, what was not acknowledged."""
        if self.under_way is None:
            return
        deed = self.under_way
        reply = deed.send(client, deed.request_id)
        self.acknowledged[deed.request_id] = deed.note(reply)
        self.token, self.under_way = reply.token, None

    def number(self) -> int:
        """A number not used before."""
        self.numbers += 1
        return self.numbers

    def text(self) -> str:
        """A text that nobody said before."""
        words = " ".join(self.draw.choices(WORDS, k=6))
        return f"{self.name} noted {self.number()} about {words}."

    def facts(self) -> list[Fact]:
        """Up to two facts: some are stated by many memories, some take over from others."""
        draw = self.draw
        return [
            Fact(
                subject=f"{self.name} person {draw.randrange(5)}",
                relation=relation,
                object=f"{self.name} place {draw.randrange(4)}",
            )
            for relation in draw.sample([f"LIVES_IN_{self.name}", "HAS_SEEN"], draw.randrange(3))
        ]

    def one(self) -> Memory:
        """A live memory."""
        return self.live[self.draw.choice(list(self.live))]


def under(request: Any, request_id: str) -> Any:
    """The request under this id."""
    request.request_id = request_id
    return request


def deed(send: Sending, note: Callable[[Any], list[str]]) -> Deed:
    """A deed under a request id of its own."""
    return Deed(str(uuid.uuid4()), send, note)
