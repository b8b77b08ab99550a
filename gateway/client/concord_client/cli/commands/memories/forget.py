"""`concord forget` and `concord restore`."""

from typing import TYPE_CHECKING

from concord_client.cli.errors import or_propose
from concord_client.cli.items import found_memory
from concord_client.cli.options import EtagOption, MemoryArgument
from concord_client.cli.render.claim_page import is_claimed, show_claims
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import ForgetMemoryResponse, RestoreMemoryResponse

    from concord_client.client import Client


def forget(session: Session, memory_id: MemoryArgument, *, etag: EtagOption = "") -> None:
    """Forget a memory: reads leave it out until `concord restore` brings it back."""
    from concord.graph.v1.memory_pb2 import ForgetMemoryRequest

    with session.client() as client:
        memory = found_memory(client, session, memory_id)
        request = ForgetMemoryRequest(id=memory.id, etag=etag or memory.etag)
        with or_propose(f"concord propose forget {memory.id}"):
            reply = client.memory.ForgetMemory(request)
        _show(client, session, reply, "Forgot")
    if not session.as_json and not is_claimed(reply):
        show(text(f"It comes back with: concord restore {memory.id}", "dim"))


def restore(session: Session, memory_id: MemoryArgument, *, etag: EtagOption = "") -> None:
    """Bring a forgotten memory back."""
    from concord.graph.v1.memory_pb2 import RestoreMemoryRequest

    with session.client() as client:
        memory = found_memory(client, session, memory_id)
        request = RestoreMemoryRequest(id=memory.id, etag=etag or memory.etag)
        with or_propose(f"concord propose restore {memory.id}"):
            reply = client.memory.RestoreMemory(request)
        _show(client, session, reply, "Restored")


def _show(
    client: "Client",
    session: Session,
    reply: "ForgetMemoryResponse | RestoreMemoryResponse",
    verb: str,
) -> None:
    """Wait until search has seen the write, and print the result."""
    from concord_client.freshness import settle

    settle(client, reply.token)
    if session.as_json:
        session.reply(reply)
    else:
        if not is_claimed(reply):
            show(text(f"{verb} ").append(reply.memory.id, "bold"))
        show_gave_way(reply.gave_way)
        show_claims(reply)
