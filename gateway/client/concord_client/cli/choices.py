"""Words of the command line and the contract's values that they stand for."""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from concord.governance.v1 import access_pb2
    from concord.graph.v1 import transfer_pb2
    from concord.type.v1 import type_pb2
    from google.protobuf.timestamp_pb2 import Timestamp


class Kind(StrEnum):
    """What kind of text a memory is."""

    FACT = "fact"
    PLAN = "plan"
    JOURNAL = "journal"
    INSIGHT = "insight"
    OBSERVATION = "observation"
    REFLECTION = "reflection"
    TURN = "turn"

    def value_of(self) -> "type_pb2.MemoryKind.ValueType":
        """The contract's value."""
        from concord.type.v1 import type_pb2

        return type_pb2.MemoryKind.Value(f"MEMORY_KIND_{self.name}")


class Weight(StrEnum):
    """How much a memory matters."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    def value_of(self) -> "type_pb2.Importance.ValueType":
        """The contract's value."""
        from concord.type.v1 import type_pb2

        return type_pb2.Importance.Value(f"IMPORTANCE_{self.name}")


class Bearing(StrEnum):
    """Whether an edge or memory defines who the agent is."""

    DESCRIPTIVE = "descriptive"
    CONSTITUTIVE = "constitutive"
    RESOLUTION = "resolution"

    def value_of(self) -> "type_pb2.EdgeType.ValueType":
        """The contract's value."""
        from concord.type.v1 import type_pb2

        return type_pb2.EdgeType.Value(f"EDGE_TYPE_{self.name}")


class Way(StrEnum):
    """Which way to follow edges."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"

    def value_of(self) -> "type_pb2.Direction.ValueType":
        """The contract's value."""
        from concord.type.v1 import type_pb2

        return type_pb2.Direction.Value(f"DIRECTION_{self.name}")


class Form(StrEnum):
    """How a space is written down."""

    STATE = "state"
    FULL = "full"
    DOT = "dot"

    def value_of(self) -> "transfer_pb2.ExportForm.ValueType":
        """The contract's value."""
        from concord.graph.v1 import transfer_pb2

        return transfer_pb2.ExportForm.Value(f"EXPORT_FORM_{self.name}")


class KeyScope(StrEnum):
    """What a key lets its holder do."""

    READ = "read"
    WRITE = "write"
    GOVERN = "govern"
    ADMIN = "admin"
    OPERATOR = "operator"

    def value_of(self) -> "access_pb2.KeyScope.ValueType":
        """The contract's value."""
        from concord.governance.v1 import access_pb2

        return access_pb2.KeyScope.Value(f"KEY_SCOPE_{self.name}")


class PrincipalKind(StrEnum):
    """What kind of party a key's principal is."""

    AGENT = "agent"
    HUMAN = "human"
    SYSTEM = "system"

    def value_of(self) -> "access_pb2.PrincipalKind.ValueType":
        """The contract's value."""
        from concord.governance.v1 import access_pb2

        return access_pb2.PrincipalKind.Value(f"PRINCIPAL_KIND_{self.name}")


class Origin(StrEnum):
    """Where what is written with a key comes from."""

    HUMAN = "human"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"

    def value_of(self) -> "access_pb2.Origin.ValueType":
        """The contract's value."""
        from concord.governance.v1 import access_pb2

        return access_pb2.Origin.Value(f"ORIGIN_{self.name}")


def period(given: str) -> timedelta:
    """A length of time: a whole number and s, m, h or d."""
    units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    found = re.fullmatch(r"([0-9]{1,9})([smhd])", given)
    if found is None:
        raise typer.BadParameter(f"{given!r} is no length of time; write 30m, 12h or 90d.")
    return timedelta(**{units[found[2]]: int(found[1])})


def instant(given: str | None) -> "Timestamp | None":
    """An ISO 8601 date or time; without a zone it is UTC."""
    from google.protobuf.timestamp_pb2 import Timestamp

    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} is no ISO 8601 time; write 2026-03-01 or 2026-03-01T12:00:00Z."
        ) from None
    made = Timestamp()
    made.FromDatetime(at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC))
    return made
