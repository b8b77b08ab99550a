"""Running a write request: who asks, under which request id, and what is compared on a replay."""

from __future__ import annotations

from concord_chassis.identity import caller
from google.protobuf.message import Message

from concord_graph.servicer import incoming
from concord_graph.usecases.write.commands import Commands, Done, Work


async def execute(commands: Commands, request: Message, work: Work, *, shown: int = 1) -> Done:
    """Run the work of a unary write request."""
    method = request.DESCRIPTOR.name.removesuffix("Request")
    compared = request.SerializeToString(deterministic=True)
    return await execute_as(commands, method, request, compared, work, shown=shown)


async def execute_as(
    commands: Commands, method: str, header: Message, compared: bytes, work: Work, *, shown: int
) -> Done:
    """Run a method's work whose request id stands in `header` and whose request is `compared`."""
    who = caller()
    author = incoming.author(who, header, method)
    return await commands.run(who.space, author, compared, work, shown=shown)
