"""A step of the tour, and the stage that all steps share."""

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
    """The tour's own system: clients of it, and both slots' keys."""

    client: Client
    """With the agent's API key."""
    admin: Client
    """With the administrator's API key."""
    space: str
    enrolment_secret: str
    shown: bool
    """Whether to print for people; else only the replies are printed, as JSON."""
    agent: Signer = field(default_factory=lambda: Signer("demo-agent", generate_key()))
    human: Signer = field(default_factory=lambda: Signer("demo-human", generate_key()))
    pinned: Pinned = field(default_factory=Pinned)
    """The genesis and the log's key, after the step that makes the genesis."""
    conflict_id: str = ""
    """The id of the conflict that a step found."""
    before: list[str] = field(default_factory=list)
    """The state export before the change."""
    proposal: proposal_pb2.Proposal = field(default_factory=proposal_pb2.Proposal)
    """The change that both slots sign in turn."""


@dataclass(frozen=True)
class Step:
    """A step of the tour: its name, its title, and its action."""

    name: str
    title: str
    act: Callable[[Stage], Message]
    """Runs and shows the step, and returns the last reply. Raises `DoesNotHold`."""


def demand(holds: bool, claim: str) -> None:
    """Raises `DoesNotHold` unless the claim holds."""
    if not holds:
        raise DoesNotHold(claim)
