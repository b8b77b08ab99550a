"""A governed action as JSON, and its digest."""

from __future__ import annotations

from collections.abc import Mapping

from concord.graph.v1 import governed_pb2
from concord_attestation.digest import action_digest
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from concord_governance.domain.proposals import Json


def normal_form(action: Mapping[str, Json]) -> tuple[Mapping[str, Json], str]:
    """Return an action's JSON as its contract writes it, and its digest.

    Raises ValueError if the JSON is no action.
    """
    try:
        message = ParseDict(dict(action), governed_pb2.GovernedAction())
    except ParseError as error:
        raise ValueError("this is no action") from error
    return written(message)


def written(action: governed_pb2.GovernedAction) -> tuple[Mapping[str, Json], str]:
    """Return an action as JSON with the contract's field names, and its digest."""
    return MessageToDict(action, preserving_proto_field_name=True), action_digest(action)
