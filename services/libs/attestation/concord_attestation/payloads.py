"""The shapes of the signed statements; `verify` judges their content."""

from typing import Annotated, TypeVar

from pydantic import Field, StringConstraints, ValidationError

from concord_attestation.bounds import MAX_ITEMS, MAX_KEYS
from concord_attestation.envelope import (
    Envelope,
    EnvelopeForm,
    EnvelopeMalformed,
    StrictModel,
    field_of,
    parse_payload,
)

_Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
_Text = Annotated[str, StringConstraints(max_length=128)]
_ItemId = Annotated[str, StringConstraints(min_length=1, max_length=1200)]
_Etags = Annotated[dict[_ItemId, _Text], Field(max_length=MAX_ITEMS)]
_SlotsKeys = Annotated[list[_Text], Field(min_length=1, max_length=MAX_KEYS)]
_Reason = Annotated[str, StringConstraints(max_length=1000)]
_Version = Annotated[int, Field(ge=1, le=1)]
_DecidedVersion = Annotated[int, Field(ge=3, le=3)]
"""Version 1 did not sign the proposal's words (decision 0016); version 2 named every etag in each
consent, so that large changes fitted no grant (0022). Statements of both are invalid."""
_RestoreVersion = Annotated[int, Field(ge=3, le=3)]
"""Version 1 named neither the imported items nor the keys after the import (decision 0023); version
2 had the content of version 3 under other names. Statements of both are invalid."""
_ManyKeysVersion = Annotated[int, Field(ge=4, le=4)]
_KeyChangeVersion = Annotated[int, Field(ge=2, le=2)]
_Revision = Annotated[int, Field(ge=1, le=2**31 - 1)]


class SlotPayload(StrictModel):
    """A slot as the genesis states it."""

    principal: _Text
    public_key: _Text


class SlotsPayload(StrictModel):
    """Both slots."""

    AGENT: SlotPayload
    HUMAN: SlotPayload


class GenesisPayload(StrictModel):
    """The statement that both slots sign once per space."""

    version: _Version
    space: _Name
    slots: SlotsPayload
    governance_key: _Text
    create_time: _Text


class KeyPayload(StrictModel):
    """Version 1 of the change of a key: a new one takes the place of the slot's only one."""

    version: _Version
    space: _Name
    slot: _Text
    principal: _Text
    public_key: _Text


class KeyChangePayload(StrictModel):
    """Version 2 of the change of a key: a key is added, put in another's place, or retired.

    `public_key` is the new key, or the one to retire; `replaced_key` is "" unless one is replaced.
    """

    version: _KeyChangeVersion
    space: _Name
    slot: _Text
    principal: _Text
    change: _Text
    public_key: _Text
    replaced_key: _Text
    label: _Text


class KeysPayload(StrictModel):
    """The public key of each slot."""

    AGENT: _Text
    HUMAN: _Text


class ManyKeysPayload(StrictModel):
    """The public keys of each slot."""

    AGENT: _SlotsKeys
    HUMAN: _SlotsKeys


class RestorePayload(StrictModel):
    """The statement that both slots sign to have an export of their space imported.

    `keys` are the current ones in the export, `governance_key` is the importing installation's.
    """

    version: _RestoreVersion
    space: _Name
    genesis_digest: _Text
    export_digest: _Text
    constitutive_digest: _Text
    keys: KeysPayload
    governance_key: _Text
    nonce: _Text
    expire_time: _Text


class ManyKeysRestorePayload(RestorePayload):
    """The same where a slot has several keys: `keys` lists them."""

    version: _ManyKeysVersion
    keys: ManyKeysPayload  # type: ignore[assignment] # another shape in another version


class DeletionPayload(StrictModel):
    """The statement that both slots sign to have their space deleted for ever."""

    version: _Version
    space: _Name
    genesis_digest: _Text
    expire_time: _Text


class Decided(StrictModel):
    """The fields that a grant and its consents must have alike."""

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
    """The statement that a principal signs to approve a revision of a proposal."""

    slot: _Text
    principal: _Text
    etags_digest: _Text


class AnswerPayload(StrictModel):
    """The statement that a principal signs to reject a revision, or to revoke its consent."""

    version: _Version
    space: _Name
    slot: _Text
    principal: _Text
    proposal_id: _Name
    revision: _Revision
    reason: _Reason
    nonce: _Text


class GrantPayload(Decided):
    """The statement that governance signs once it has the consents; it carries them by slot."""

    decision_id: _Name
    etags: _Etags
    consents: dict[str, EnvelopeForm]


_Payload = TypeVar("_Payload", bound=StrictModel)


def read_payload(envelope: Envelope, shape: type[_Payload]) -> _Payload:
    """Read a statement of this shape; EnvelopeMalformed if it has another one."""
    return shaped(parse_payload(envelope), shape)


def shaped(value: object, shape: type[_Payload]) -> _Payload:
    """Return a parsed statement in this shape; EnvelopeMalformed if it has another one."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        field = field_of(error)
        raise EnvelopeMalformed("version" if field == "version" else "fields", field) from None
