"""Explains why a change failed, without the contract's names, which nobody should need (V6)."""

import re

_GIVEN = re.compile(r"ERROR_REASON_([A-Z_]+)(?:\W+(.+))?")

_REASONS = {
    "CONSENT_INVALID": "a consent does not hold",
    "GRANT_INVALID": "the grant made of the consents does not hold",
    "KEY_INVALID": "the change of a key does not hold",
    "ETAG_MISMATCH": "an item was changed after the consents were given",
    "UNDO_CONFLICT": "something was changed since, which an undo would hide or leave hanging",
    "CONSTITUTIVE_EDGE_PROTECTED": "it would touch what both must agree to",
    "SAFEGUARD_VIOLATION": "a safeguard of the memory refuses it",
    "TOO_MANY_AFFECTED": "it touches more items than one consent can name",
    "FIELD_INVALID": "a field of the change is not valid",
    "INTERNAL": "graph failed at it: its log says why",
}
_CHECKS = {
    "action_digest": "it is for another action",
    "distinct": "both slots were answered with one key, or by one principal",
    "envelope": "it cannot be read",
    "etags": "an item is at another version than the one that was signed",
    "expiry": "it had run out",
    "governance_signature": "governance did not sign it",
    "key_count": "the slot has as many keys as one may have",
    "last_key": "it is the only key of the slot that counts",
    "missing": "it is not there",
    "nonce": "it was used or taken back before",
    "policy_digest": "it is under another policy",
    "principal": "it is not of the principal whose word counts",
    "proposal": "it is for another proposal",
    "proposal_digest": "it is for other words of the proposal",
    "retired_key": "its key was retired before, or its slot is closed since a backup was "
    "restored: "
    "`concord principal rotate --slot SLOT --key FILE`, with the newer key's file, opens it",
    "signature": "it is not signed with a key that counts now",
    "space": "it is for another space",
    "unknown_key": "the slot has no such key",
}


def in_words(given: str) -> str:
    """A sentence for a failure's reason and check; any other text unchanged.

    `given`: `ERROR_REASON_NAME`, followed by the failed check if there is one.
    """
    found = _GIVEN.fullmatch(given)
    if found is None:
        return given
    reason = _REASONS.get(found[1], found[1].lower().replace("_", " "))
    told_more = found[2] or ""
    slots = " and ".join(re.findall(r"AGENT|HUMAN", told_more))
    of_whom = f" ({slots})" if slots else ""
    checks = [_CHECKS.get(name, name) for name in re.findall(r"[a-z]+(?:_[a-z]+)*", told_more)]
    return f"{reason}{of_whom}{': ' if checks else ''}{' '.join(checks)}"
