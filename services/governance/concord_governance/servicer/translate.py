"""The one table from governance's errors to gRPC codes and machine-readable reasons."""

from __future__ import annotations

from collections.abc import Callable

import grpc
from concord_attestation import consent
from concord_chassis.failure import Failure, FieldViolation

from concord_governance.domain import errors

_Code = grpc.StatusCode
_RETRY_SECONDS = 1.0
_ROOM_SECONDS = 60.0  # an operator has to free space on the disk
_ANSWER_SECONDS = 3600.0  # proposals wait for people


def translate(error: Exception) -> Failure | None:
    """Return the failure for an exception; None if the exception is not governance's."""
    if isinstance(error, errors.GraphRefused):
        return error.failure if isinstance(error.failure, Failure) else None
    for kind in type(error).__mro__:
        if kind in _TABLE:
            return _TABLE[kind](error)
    return None


def reason_of(error: Exception) -> str:
    """Return the name of an exception's ErrorReason, as the log records it."""
    failure = translate(error)
    return failure.reason if failure else "ERROR_REASON_INTERNAL"


def _plain(code: grpc.StatusCode, reason: str) -> Callable[[Exception], Failure]:
    return lambda error: Failure(code, reason, f"{str(error)[:1].upper()}{str(error)[1:]}.")


_TABLE: dict[type[BaseException], Callable[..., Failure]] = {
    errors.ProposalNotFound: lambda _: Failure(
        _Code.NOT_FOUND, "ERROR_REASON_ITEM_NOT_FOUND", "No such proposal."
    ),
    errors.ProposalState: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_PROPOSAL_STATE",
        str(error),
        metadata={"status": error.status},
    ),
    errors.RevisionStale: _plain(_Code.ABORTED, "ERROR_REASON_REVISION_STALE"),
    errors.LostRace: _plain(_Code.ABORTED, "ERROR_REASON_REVISION_STALE"),
    errors.KeysChanging: _plain(_Code.ABORTED, "ERROR_REASON_KEYS_CHANGING"),
    errors.NotProposer: _plain(_Code.PERMISSION_DENIED, "ERROR_REASON_NOT_PROPOSER"),
    errors.FramingViolation: lambda error: Failure(
        _Code.INVALID_ARGUMENT,
        "ERROR_REASON_FRAMING_VIOLATION",
        str(error),
        metadata={"words": ",".join(error.words)[:1000]},
    ),
    errors.SafeguardViolation: _plain(
        _Code.FAILED_PRECONDITION, "ERROR_REASON_SAFEGUARD_VIOLATION"
    ),
    errors.SlotNotRequired: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_SLOT_NOT_REQUIRED"),
    errors.UndoImpossible: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_UNDO_IMPOSSIBLE"),
    errors.RetentionExpired: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_RETENTION_EXPIRED"),
    errors.UndoConflict: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_UNDO_CONFLICT",
        str(error),
        metadata={"item_ids": ",".join(error.item_ids[:20])},
    ),
    errors.ProposalTooLarge: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_PROPOSAL_TOO_LARGE",
        f"{str(error)[:1].upper()}{str(error)[1:]}.",
        metadata={error.of: str(error.found), f"max_{error.of}": str(error.most)},
    ),
    errors.TooManyPending: lambda error: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_TOO_MANY_PENDING",
        f"{error}.",
        metadata={"max": str(error.most)},
        retry_after=_ANSWER_SECONDS,
    ),
    errors.TooManySpaces: lambda error: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_TOO_MANY_SPACES",
        f"No space is made: {error}.",
        metadata={"max": str(error.most)},
    ),
    errors.BulkForbidden: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_BULK_FORBIDDEN"),
    errors.ProofImpossible: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_PROOF_IMPOSSIBLE"),
    errors.GenesisMissing: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_GENESIS_MISSING"),
    errors.GenesisExists: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_GENESIS_EXISTS"),
    errors.RequestReused: lambda error: Failure(
        _Code.ALREADY_EXISTS,
        "ERROR_REASON_REQUEST_ID_REUSED",
        "This request id came with other content.",
        metadata={"request_id": str(error)},
    ),
    errors.KeyRefused: _plain(_Code.PERMISSION_DENIED, "ERROR_REASON_KEY_REFUSED"),
    errors.PermissionMissing: _plain(_Code.PERMISSION_DENIED, "ERROR_REASON_PERMISSION_MISSING"),
    errors.ReservedName: lambda error: Failure(
        _Code.INVALID_ARGUMENT,
        "ERROR_REASON_RESERVED_NAME",
        "This name is one of Concord's own.",
        violations=[FieldViolation("principal", str(error))],
    ),
    errors.FieldInvalid: lambda error: Failure(
        _Code.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        f"{error.field} {error}.",
        violations=[FieldViolation(error.field, str(error))],
    ),
    errors.KeyNotFound: _plain(_Code.NOT_FOUND, "ERROR_REASON_ITEM_NOT_FOUND"),
    errors.SpaceNotFound: _plain(_Code.NOT_FOUND, "ERROR_REASON_ITEM_NOT_FOUND"),
    errors.SpaceExists: _plain(_Code.ALREADY_EXISTS, "ERROR_REASON_ITEM_EXISTS"),
    errors.SpaceDeleted: _plain(_Code.FAILED_PRECONDITION, "ERROR_REASON_SPACE_DELETED"),
    consent.DeletionInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_DELETION_INVALID",
        str(error),
        metadata=error.metadata,
    ),
    errors.GraphRolledBack: _plain(_Code.DATA_LOSS, "ERROR_REASON_GRAPH_ROLLED_BACK"),
    errors.GraphUnavailable: lambda _: Failure(
        _Code.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "Graph does not answer."
    ),
    errors.LedgerBusy: lambda _: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_OVERLOADED",
        "The ledger is busy.",
        retry_after=_RETRY_SECONDS,
    ),
    errors.LedgerFull: lambda _: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_DISK_FULL",
        "The ledger has no room for this; what is there can be read.",
        retry_after=_ROOM_SECONDS,
    ),
    errors.TooManyRefusals: lambda error: Failure(
        _Code.RESOURCE_EXHAUSTED,
        "ERROR_REASON_TOO_MANY_REFUSALS",
        "Too many refused steps in this hour.",
        retry_after=error.wait,
    ),
    errors.LedgerUnavailable: lambda _: Failure(
        _Code.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "The ledger does not answer."
    ),
    errors.LedgerCorrupt: lambda _: Failure(
        _Code.DATA_LOSS, "ERROR_REASON_STORE_CORRUPT", "The ledger is damaged."
    ),
    consent.ConsentInvalid: lambda error: Failure(
        _Code.FAILED_PRECONDITION,
        "ERROR_REASON_CONSENT_INVALID",
        str(error),
        metadata=error.metadata,
    ),
}
