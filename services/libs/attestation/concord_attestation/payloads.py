"""The shapes of the signed statements. What they say is judged in `verify`."""

from typing import Annotated, ClassVar, TypeVar

from pydantic import Field, StringConstraints, ValidationError

from concord_attestation.bounds import MAX_ITEMS
from concord_attestation.envelope import (
    Envelope,
    EnvelopeForm,
    EnvelopeMalformed,
    StrictModel,
    field_of,
    parse_payload,
)
from concord_attestation.spelling import respelled

_Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
_Text = Annotated[str, StringConstraints(max_length=128)]
_ItemId = Annotated[str, StringConstraints(min_length=1, max_length=1200)]
_Etags = Annotated[dict[_ItemId, _Text], Field(max_length=MAX_ITEMS)]
_Reason = Annotated[str, StringConstraints(max_length=1000)]
_Version = Annotated[int, Field(ge=1, le=1)]
_DecidedVersion = Annotated[int, Field(ge=3, le=3)]
"""Version 1 left the words out of what is signed (decision 0016); version 2 named every etag in
each consent, so that large changes fitted no grant (0022). No statement of either counts."""
_RestoreVersion = Annotated[int, Field(ge=2, le=3)]
"""Version 1 named neither what comes over nor whose keys count after it (decision 0023): none of
it counts. Version 2 says the same as version 3 in other names (`spelling`)."""
_Revision = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Statement(StrictModel):
    """What is signed."""

    kind: ClassVar[str] = ""
    """What it is called in the table of former names; empty: it never had others."""


class SlotPayload(StrictModel):
    """A slot as the genesis states it."""

    principal: _Text
    public_key: _Text


class SlotsPayload(StrictModel):
    """Both slots."""

    AGENT: SlotPayload
    HUMAN: SlotPayload


class GenesisPayload(Statement):
    """What both slots sign once per space."""

    version: _Version
    space: _Name
    slots: SlotsPayload
    governance_key: _Text
    create_time: _Text


class KeyPayload(Statement):
    """What a new key signs to prove that its owner holds it."""

    version: _Version
    space: _Name
    slot: _Text
    principal: _Text
    public_key: _Text


class KeysPayload(StrictModel):
    """The public key of each slot."""

    AGENT: _Text
    HUMAN: _Text


class RestorePayload(Statement):
    """What both slots sign to have an export of their space imported.

    `keys` are as they stand in it, `governance_key` is that of the place where it goes.
    """

    kind: ClassVar[str] = "restore"

    version: _RestoreVersion
    space: _Name
    genesis_digest: _Text
    export_digest: _Text
    constitutive_digest: _Text
    keys: KeysPayload
    governance_key: _Text
    nonce: _Text
    expire_time: _Text


class DeletionPayload(Statement):
    """What both slots sign to have their space deleted for ever."""

    version: _Version
    space: _Name
    genesis_digest: _Text
    expire_time: _Text


class Decided(Statement):
    """What a grant and its consents must say alike."""

    version: _DecidedVersion
    space: _Name
    proposal_id: _Name
    revision: _Revision
    proposal_digest: _Text
    action_digest: _Text
    policy_digest: _Text
    nonce: _Text
    expire_time: _Text


class ConsentPayload(Decided):
    """What a principal signs to approve a revision of a proposal."""

    slot: _Text
    principal: _Text
    etags_digest: _Text


class AnswerPayload(Statement):
    """What a principal signs to reject a revision, or to take its consent back."""

    version: _Version
    space: _Name
    slot: _Text
    principal: _Text
    proposal_id: _Name
    revision: _Revision
    reason: _Reason
    nonce: _Text


class GrantPayload(Decided):
    """What governance signs once the consents are there; it carries them by slot."""

    decision_id: _Name
    etags: _Etags
    consents: dict[str, EnvelopeForm]


_Payload = TypeVar("_Payload", bound="Statement")


def read_payload(envelope: Envelope, shape: type[_Payload]) -> _Payload:
    """Read a statement of this shape; EnvelopeMalformed for anything else."""
    return shaped(parse_payload(envelope), shape)


def shaped(value: object, shape: type[_Payload]) -> _Payload:
    """Return a statement that was parsed before as this shape; EnvelopeMalformed for anything
    else."""
    try:
        return shape.model_validate(respelled(shape.kind, value))
    except ValidationError as error:
        field = field_of(error)
        raise EnvelopeMalformed("version" if field == "version" else "fields", field) from None
    except ValueError:
        raise EnvelopeMalformed("fields") from None
