"""Safeguards, which no setting, proposal or caller changes (V2), and the policy of consents.

The policy is canonical JSON of these constants and the settings in force. Its digest is part of
what is signed, so a decision cannot be executed under rules other than those of its consents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from concord_governance.domain.proposals import Json, Level

REQUIRED_SLOTS: Final = {
    Level.AGENT: ("AGENT",),
    Level.BILATERAL: ("AGENT", "HUMAN"),
}

SAFEGUARDS: Final = (
    "constitutive changes need the consent of both slots",
    "safeguards cannot be changed by a proposal",
    "the audit log is always on",
    "proposals are framed neutrally",
)

RESERVED_PREFIX: Final = "concord:"
FEWEST_SALT_CHARACTERS: Final = 22
"""The fewest characters of an action's request id, which salts digests that outlive the action:
128 bits as base64."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The two settings (V4): how long an undo and an answer stay possible."""

    undo_retention_days: int = 30
    approval_timeout_hours: int = 48


def policy(settings: Settings) -> dict[str, Json]:
    """Return the policy as JSON: the safeguards and the settings."""
    return {
        "version": 1,
        "safeguards": list(SAFEGUARDS),
        "required_slots": {level.name: list(slots) for level, slots in REQUIRED_SLOTS.items()},
        "undo_retention_days": settings.undo_retention_days,
        "approval_timeout_hours": settings.approval_timeout_hours,
    }
