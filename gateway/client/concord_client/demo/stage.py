"""What a step of the tour is, and what it works with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message

from concord_client.client import Client
from concord_client.signing import Signer, generate_key


class DoesNotHold(Exception):
    """A claim of the tour does not hold; the text names it."""


@dataclass
class Stage:
    """A system of the tour's own, a client to it, and both parties' keys."""

    client: Client
    space: str
    enrolment_secret: str
    told: bool
    """Whether people read along; else only the replies are printed."""
    agent: Signer = field(default_factory=lambda: Signer("demo-agent", generate_key()))
    human: Signer = field(default_factory=lambda: Signer("demo-human", generate_key()))
    governance: Ed25519PrivateKey = field(default_factory=generate_key)


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
