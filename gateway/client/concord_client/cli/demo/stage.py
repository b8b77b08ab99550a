"""What a step of the tour is, and what it works with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from concord.governance.v1 import proposal_pb2
from google.protobuf.message import Message

from concord_client.client import Client
from concord_client.trust.audit.log import Pinned
from concord_client.trust.signing import Signer, generate_key


class DoesNotHold(Exception):
    """A claim of the tour does not hold; the text names it."""


@dataclass
class Stage:
    """A system of the tour's own, clients to it, and both parties' keys."""

    client: Client
    """With the key of who works in the space."""
    admin: Client
    """With the key of who looks after it."""
    space: str
    enrolment_secret: str
    shown: bool
    """Whether people read along; else only the replies are printed."""
    agent: Signer = field(default_factory=lambda: Signer("demo-agent", generate_key()))
    human: Signer = field(default_factory=lambda: Signer("demo-human", generate_key()))
    pinned: Pinned = field(default_factory=Pinned)
    """The genesis and the log's key, once they are known."""
    conflict_id: str = ""
    """The conflict that was found."""
    before: list[str] = field(default_factory=list)
    """The state export before the change."""
    proposal: proposal_pb2.Proposal = field(default_factory=proposal_pb2.Proposal)
    """The change that both sign in turn."""


@dataclass(frozen=True)
class Step:
    """One stop: what is shown, and how."""

    name: str
    title: str
    act: Callable[[Stage], Message]
    """Does it, shows it, and returns the reply. Raises `DoesNotHold`."""


def demand(holds: bool, claim: str) -> None:
    """Raises `DoesNotHold` unless the claim holds."""
    if not holds:
        raise DoesNotHold(claim)
