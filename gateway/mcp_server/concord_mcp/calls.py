"""The port through which tools call Concord's methods, with their caller's key."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from google.protobuf.message import Message

R = TypeVar("R", bound=Message)


class Refusal(Exception):
    """Concord refused a call, or a tool refused it before.

    `reason`: the name of a `concord.errors.v1.ErrorReason` value. `fields`: pairs of a field's
    path (or an argument's name if a tool refuses) and a description of its problem.
    `present_etag`: that of the item if it has changed, else "".
    """

    def __init__(
        self,
        reason: str,
        message: str,
        fields: Sequence[tuple[str, str]] = (),
        *,
        present_etag: str = "",
    ) -> None:
        super().__init__(message)
        self.reason, self.message, self.fields = reason, message, tuple(fields)
        self.present_etag = present_etag


class Calls(Protocol):
    """Calls with the key of one caller."""

    async def call(self, path: str, request: Message, reply: type[R]) -> R:
        """Call the method at `path` ("/package.Service/Method"). Raises `Refusal`."""
        ...

    async def last(self, path: str, request: Message, reply: type[R]) -> R:
        """Call a method that streams replies, and return the last one. Raises `Refusal`."""
        ...
