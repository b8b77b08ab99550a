"""The contract's enums as choices of the command line."""

import re
from enum import StrEnum
from importlib import import_module
from typing import Any, ClassVar


class Choice(StrEnum):
    """The names of an enum of the contract in lower case; the class is named as that enum is."""

    _module: ClassVar[str]

    def __init_subclass__(cls, *, module: str) -> None:
        """`module`: the module of the contract's enum, imported when a value is needed."""
        super().__init_subclass__()
        cls._module = module

    def value_of(self) -> Any:
        """The contract's value."""
        enum = type(self).__name__
        prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum).upper()
        return getattr(import_module(self._module), enum).Value(f"{prefix}_{self.name}")


class MemoryKind(Choice, module="concord.type.v1.type_pb2"):
    """What kind of text a memory is."""

    FACT = "fact"
    PLAN = "plan"
    JOURNAL = "journal"
    INSIGHT = "insight"
    OBSERVATION = "observation"
    REFLECTION = "reflection"
    TURN = "turn"


class TurnRole(Choice, module="concord.type.v1.type_pb2"):
    """The role in which a turn was said."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    PERSON = "person"


class HealthStatus(Choice, module="concord.type.v1.type_pb2"):
    """The health of a memory."""

    AT_RISK = "at-risk"
    STALE = "stale"
    ORPHAN = "orphan"
    HEALTHY = "healthy"


class Importance(Choice, module="concord.type.v1.type_pb2"):
    """How much a memory matters."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class EdgeType(Choice, module="concord.type.v1.type_pb2"):
    """Whether an edge or memory defines who the agent is."""

    DESCRIPTIVE = "descriptive"
    CONSTITUTIVE = "constitutive"
    RESOLUTION = "resolution"


class Direction(Choice, module="concord.type.v1.type_pb2"):
    """Which way to follow edges."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class ExportForm(Choice, module="concord.graph.v1.space_pb2"):
    """The form of an exported space."""

    STATE = "state"
    FULL = "full"
    DOT = "dot"


class KeyScope(Choice, module="concord.governance.v1.access_pb2"):
    """The permissions of an API key."""

    READ = "read"
    WRITE = "write"
    GOVERN = "govern"
    ADMIN = "admin"
    OPERATOR = "operator"
    APPEND = "append"
    OWN = "own"


class PrincipalKind(Choice, module="concord.type.v1.type_pb2"):
    """The kind of a principal."""

    AGENT = "agent"
    HUMAN = "human"
    SYSTEM = "system"


class Origin(Choice, module="concord.type.v1.type_pb2"):
    """The origin of memories that are written with a key."""

    HUMAN = "human"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"


class ProposalStatus(Choice, module="concord.governance.v1.proposal_pb2"):
    """The state of a proposal."""

    PENDING = "pending"
    PENDING_REVIEW = "pending_review"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    EXECUTED = "executed"
    FAILED = "failed"
    UNDONE = "undone"


class ClaimState(Choice, module="concord.type.v1.type_pb2"):
    """The state of a claim."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


class TemporalClass(Choice, module="concord.graph.v1.relation_pb2"):
    """The meaning of two values of one source."""

    UNSPECIFIED = "unspecified"
    STATE = "state"
    EVENT = "event"
    ETERNAL = "eternal"


class ChangeType(Choice, module="concord.graph.v1.feed_pb2"):
    """The kind of a change."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    RESTORED = "restored"
    REFUSED = "refused"
    ERASED = "erased"
    SESSION_ENDED = "session_ended"


class ConflictClass(Choice, module="concord.graph.v1.conflict_pb2"):
    """How two statements disagree."""

    EVOLUTION = "evolution"
    CONTRADICTION = "contradiction"
    NUANCE = "nuance"
    UNDECIDED = "undecided"


class ConflictState(Choice, module="concord.graph.v1.conflict_pb2"):
    """The state of a conflict."""

    POTENTIAL = "potential"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"
    EXCEPTION = "exception"
    RESOLVED = "resolved"


class CriteriaSet(Choice, module="concord.dissonance.v1.review_pb2"):
    """The criteria that an answer is scored by."""

    GENERAL = "general"
    LEGAL = "legal"
    TECHNICAL = "technical"


class CheckScope(Choice, module="concord.dissonance.v1.dissonance_pb2"):
    """Which statements around a node are checked."""

    RECENT = "recent"
    FULL = "full"


class SessionState(Choice, module="concord.graph.v1.session_pb2"):
    """Whether a session goes on."""

    OPEN = "open"
    ENDED = "ended"
