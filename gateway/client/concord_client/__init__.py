"""Concord's Python client.

    import concord_client

    with concord_client.Concord.connect() as concord:  # or concord_client.embedded("folder")
        concord.add("Tea is at four.", facts=[concord_client.Fact("Tea", "STARTS_AT", "four")])
        for result in concord.search("When is tea?").results:
            print(result.score, result.memory.content)

`AsyncConcord` has the same methods, awaited. Below them, `connect` gives the contracts' services:
`client.memory` is `concord.graph.v1.MemoryService`. Every failure is a `Refused` or a subclass,
with its machine-readable reason. Modules are loaded when they are first used, so that the command
line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concord_client.client import AsyncClient, Client, connect, connect_async
    from concord_client.credentials import CredentialsError
    from concord_client.refusal import (
        ConsentNeeded,
        EtagMismatch,
        FieldInvalid,
        NotFound,
        NotPermitted,
        Overloaded,
        Refused,
        Unreachable,
        Violation,
    )
    from concord_client.trust.audit.log import LogInvalid
    from concord_client.trust.keyfiles import read_signer
    from concord_client.trust.review import ReviewError
    from concord_client.trust.signing import Signer
    from concord_client.verbs.clients import AsyncConcord, Concord
    from concord_client.verbs.dialectic_things import (
        AgentResult,
        AnswerReview,
        Event,
        Synthesis,
        ThesisInput,
    )
    from concord_client.verbs.in_process import embedded, embedded_async
    from concord_client.verbs.things import Fact, Memory, Proposal, Result

__all__ = [
    "AgentResult",
    "AnswerReview",
    "AsyncClient",
    "AsyncConcord",
    "Client",
    "Concord",
    "ConsentNeeded",
    "CredentialsError",
    "EtagMismatch",
    "Event",
    "Fact",
    "FieldInvalid",
    "LogInvalid",
    "Memory",
    "NotFound",
    "NotPermitted",
    "Overloaded",
    "Proposal",
    "Refused",
    "Result",
    "ReviewError",
    "Signer",
    "Synthesis",
    "ThesisInput",
    "Unreachable",
    "Violation",
    "connect",
    "connect_async",
    "embedded",
    "embedded_async",
    "read_signer",
]

_ROOM_OF = {
    "AgentResult": "verbs.dialectic_things",
    "AnswerReview": "verbs.dialectic_things",
    "AsyncClient": "client",
    "AsyncConcord": "verbs.clients",
    "Client": "client",
    "Concord": "verbs.clients",
    "ConsentNeeded": "refusal",
    "CredentialsError": "credentials",
    "EtagMismatch": "refusal",
    "Event": "verbs.dialectic_things",
    "Fact": "verbs.things",
    "FieldInvalid": "refusal",
    "LogInvalid": "trust.audit.log",
    "Memory": "verbs.things",
    "NotFound": "refusal",
    "NotPermitted": "refusal",
    "Overloaded": "refusal",
    "Proposal": "verbs.things",
    "Refused": "refusal",
    "Result": "verbs.things",
    "ReviewError": "trust.review",
    "Signer": "trust.signing",
    "Synthesis": "verbs.dialectic_things",
    "ThesisInput": "verbs.dialectic_things",
    "Unreachable": "refusal",
    "Violation": "refusal",
    "connect": "client",
    "connect_async": "client",
    "embedded": "verbs.in_process",
    "embedded_async": "verbs.in_process",
    "read_signer": "trust.keyfiles",
}


def __getattr__(name: str) -> object:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{room}"), name)
    return found
