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
    from concord_client.verbs.extraction import Text
    from concord_client.verbs.governance_things import Proposal
    from concord_client.verbs.in_process import embedded, embedded_async
    from concord_client.verbs.things import Fact, Memory, Result

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
    "Text",
    "ThesisInput",
    "Unreachable",
    "Violation",
    "connect",
    "connect_async",
    "embedded",
    "embedded_async",
    "read_signer",
]

_NAMES_IN = {
    "client": ("AsyncClient", "Client", "connect", "connect_async"),
    "credentials": ("CredentialsError",),
    "refusal": (
        "ConsentNeeded",
        "EtagMismatch",
        "FieldInvalid",
        "NotFound",
        "NotPermitted",
        "Overloaded",
        "Refused",
        "Unreachable",
        "Violation",
    ),
    "trust.audit.log": ("LogInvalid",),
    "trust.keyfiles": ("read_signer",),
    "trust.review": ("ReviewError",),
    "trust.signing": ("Signer",),
    "verbs.clients": ("AsyncConcord", "Concord"),
    "verbs.dialectic_things": ("AgentResult", "AnswerReview", "Event", "Synthesis", "ThesisInput"),
    "verbs.extraction": ("Text",),
    "verbs.governance_things": ("Proposal",),
    "verbs.in_process": ("embedded", "embedded_async"),
    "verbs.things": ("Fact", "Memory", "Result"),
}
"""The names of each module, which is loaded when the first of them is used."""


def __getattr__(name: str) -> object:
    for module, names in _NAMES_IN.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
