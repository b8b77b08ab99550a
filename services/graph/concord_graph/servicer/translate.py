"""The one table from graph's errors to codes and machine reasons."""

from __future__ import annotations

from collections.abc import Callable

import grpc
from concord_attestation import consent
from concord_chassis.failure import Failure, FieldViolation

from concord_graph.domain import errors
from concord_graph.domain.links import MalformedLink

_Code = grpc.StatusCode
_RETRY_SECONDS = 1.0
_ROOM_SECONDS = 60.0  # somebody has to make room first


def translate(error: Exception) -> Failure | None:
    """Return the failure for a domain exception; None for one that is not graph's."""
    for kind in type(error).__mro__:
        if kind in _TABLE:
            return _TABLE[kind](error)
    return None


def reason_of(error: Exception) -> str:
    """Return the name of an exception's ErrorReason, as the record stores it."""
    failure = translate(error)
    return failure.reason if failure else "ERROR_REASON_INTERNAL"


def _invalid(reason: str) -> Callable[[errors.FieldInvalid], Failure]:
    return lambda error: Failure(
        _Code.INVALID_ARGUMENT,
        reason,
        str(error),
        violations=[FieldViolation(error.field, error.why)],
    )


def _malformed_link(error: MalformedLink) -> Failure:
    return Failure(
        _Code.INVALID_ARGUMENT,
        "ERROR_REASON_LINK_MALFORMED",
        str(error),
        violations=[FieldViolation("memory.content", str(error))],
    )


def _about_item(code: grpc.StatusCode, reason: str) -> Callable[[errors.GraphError], Failure]:
    return lambda error: Failure(
        code,
        reason,
        str(error),
        metadata={"item_id": error.item_id} if error.item_id else {},  # type: ignore[attr-defined] # only such stand below
    )


def _plain(code: grpc.StatusCode, reason: str) -> Callable[[Exception], Failure]:
    return lambda error: Failure(code, reason, str(error))


_TABLE: dict[type[BaseException], Callable[..., Failure]] = {
    errors.FieldInvalid: _invalid("ERROR_REASON_FIELD_INVALID"),
    errors.SpaceDeleted: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_SPACE_DELETED",
        str(error),
        metadata={"space": error.space},
    ),
    errors.ReservedName: _invalid("ERROR_REASON_RESERVED_NAME"),
    errors.MaskInvalid: _invalid("ERROR_REASON_UPDATE_MASK_INVALID"),
    MalformedLink: _malformed_link,
    errors.ItemNotFound: _about_item(_Code.NOT_FOUND, "ERROR_REASON_ITEM_NOT_FOUND"),
    errors.ItemExists: _about_item(_Code.ALREADY_EXISTS, "ERROR_REASON_ITEM_EXISTS"),
    errors.ItemClash: _about_item(_Code.ALREADY_EXISTS, "ERROR_REASON_ITEM_EXISTS"),
    errors.EtagMismatch: _about_item(_Code.ABORTED, "ERROR_REASON_ETAG_MISMATCH"),
    errors.LineageCycle: _about_item(_Code.FAILED_PRECONDITION, "ERROR_REASON_LINEAGE_CYCLE"),
    errors.TurnAppendOnly: _about_item(_Code.FAILED_PRECONDITION, "ERROR_REASON_TURN_APPEND_ONLY"),
    errors.WorkingMemoryFull: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_WORKING_MEMORY_FULL",
        str(error),
        metadata={"capacity": str(error.capacity)},
    ),
    errors.ConstitutiveProtected: _about_item(
        _Code.FAILED_PRECONDITION, "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"
    ),
    errors.SafeguardViolation: _about_item(
        _Code.FAILED_PRECONDITION, "ERROR_REASON_SAFEGUARD_VIOLATION"
    ),
    errors.RequestIdReused: lambda error: Failure(
        _Code.ALREADY_EXISTS,
        "ERROR_REASON_REQUEST_ID_REUSED",
        str(error),
        metadata={"request_id": error.request_id},
    ),
    errors.NodeHasEdges: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_NODE_HAS_EDGES",
        str(error),
        metadata={"edge_count": str(error.edge_count)},
    ),
    errors.TooManyFacts: lambda error: Failure(
        _Code.INVALID_ARGUMENT,
        "ERROR_REASON_TOO_MANY_FACTS",
        f"{str(error).capitalize()}.",
        metadata={"limit": str(error.limit)},
    ),
    errors.TooManyAffected: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_TOO_MANY_AFFECTED",
        str(error),
        metadata={"limit": str(error.limit)},
    ),
    errors.ItemState: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_ITEM_STATE"),
    errors.ItemErased: _about_item(_Code.FAILED_PRECONDITION, "ERROR_REASON_ITEM_ERASED"),
    errors.ConfirmerUnknown: _plain(_Code.PERMISSION_DENIED, "ERROR_REASON_CONFIRMER_UNKNOWN"),
    errors.AgentRequired: _plain(_Code.PERMISSION_DENIED, "ERROR_REASON_AGENT_REQUIRED"),
    errors.GenesisMissing: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_GENESIS_MISSING"),
    errors.GenesisDamaged: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_GENESIS_DAMAGED"),
    errors.GenesisExists: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_GENESIS_EXISTS"),
    errors.EnrolmentSecretInvalid: _plain(
        _Code.PERMISSION_DENIED, "ERROR_REASON_ENROLMENT_SECRET_INVALID"
    ),
    errors.NotUndoable: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_UNDO_IMPOSSIBLE",
        f"{error}.",
        metadata={"items": str(error.found), "max_items": str(error.most)},
    ),
    errors.RolledBack: _plain(_Code.DATA_LOSS, "ERROR_REASON_GRAPH_ROLLED_BACK"),
    errors.SpaceNotEmpty: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_SPACE_NOT_EMPTY"),
    errors.ExportInvalid: lambda error: Failure(
        _Code.INVALID_ARGUMENT,
        "ERROR_REASON_EXPORT_INVALID",
        str(error),
        metadata={"line": str(error.line)},
    ),
    consent.RestoreInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_RESTORE_INVALID",
        str(error),
        metadata=error.metadata,
    ),
    consent.DeletionInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_DELETION_INVALID",
        str(error),
        metadata=error.metadata,
    ),
    consent.GenesisInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_GENESIS_INVALID",
        str(error),
        metadata=error.metadata,
    ),
    errors.UndoConflict: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_UNDO_CONFLICT",
        str(error),
        metadata={"item_ids": ",".join(error.item_ids[:20])},
    ),
    consent.KeyInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_KEY_INVALID",
        str(error),
        metadata=error.metadata,
    ),
    consent.GrantInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_GRANT_INVALID",
        str(error),
        metadata=error.metadata,
    ),
    consent.ConsentInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_CONSENT_INVALID",
        str(error),
        metadata=error.metadata,
    ),
    errors.Overloaded: lambda _: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_OVERLOADED",
        "The store is busy.",
        retry_after=_RETRY_SECONDS,
    ),
    errors.StoreFull: lambda _: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_DISK_FULL",
        "The store has no room for this; what is there can be read.",
        retry_after=_ROOM_SECONDS,
    ),
    errors.TooManyRefusals: lambda error: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_TOO_MANY_REFUSALS",
        "Too many refused attempts in this hour.",
        retry_after=error.wait,
    ),
    errors.StoreFileUnusable: lambda _: Failure(
        _Code.UNAVAILABLE,
        "ERROR_REASON_UNAVAILABLE",
        "The store's file cannot be read or written: see whether there is room left for it.",
    ),
    errors.StoreUnavailable: lambda _: Failure(
        _Code.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "The store does not answer."
    ),
    errors.StoreCorrupt: lambda _: Failure(
        _Code.DATA_LOSS, "ERROR_REASON_STORE_CORRUPT", "The store is damaged."
    ),
}
