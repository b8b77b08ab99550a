"""Several keys of a slot: how they come and go, and what each of them signs (V5)."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from concord_attestation.consent import (
    KEY_CHECKS,
    KEY_TYPE,
    ConsentInvalid,
    DeletionInvalid,
    KeyInvalid,
    PrincipalKey,
    RestoreInvalid,
    SlotKeys,
)
from concord_attestation.deletion import verify_deletion
from concord_attestation.key_changes import verify_key_change
from concord_attestation.keys import key_id
from concord_attestation.verify import (
    verify_consent,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from signed_envelopes import (
    AGENT,
    GENESIS,
    HUMAN,
    NEXT,
    NOW,
    STRANGER,
    THERE,
    raw,
    url,
)
from statements import (
    CLOSED,
    TERMS,
    answer,
    check_answer,
    check_restore,
    consent,
    deletion,
    new_key,
    restoring,
    sealed,
)


def key_change(change: str, key: Ed25519PrivateKey = NEXT, **told: object) -> bytes:
    """Return the statement that changes a key of the human, signed by `key`."""
    about = {"version": 2, "space": "home", "slot": "HUMAN", "principal": "anna", "change": change}
    label = "" if change == "RETIRE" else "laptop"
    rest = {"public_key": url(raw(NEXT)), "replaced_key": "", "label": label}
    return sealed(KEY_TYPE, {**about, **rest, **told}, key)


TWO = replace(GENESIS, human=SlotKeys.of("anna", raw(HUMAN), raw(THERE)))
"""The human has two keys."""
FULL = replace(GENESIS, human=SlotKeys.of("anna", raw(HUMAN), *(bytes([n]) * 32 for n in range(7))))
HALF = replace(
    TWO,
    human=replace(
        TWO.human,
        keys=(PrincipalKey(raw(HUMAN), "", (key_id(raw(STRANGER)),)), TWO.human.keys[1]),
    ),
)
"""Restored from a backup of before the human's first key was retired; the second still counts."""
WITH_NEXT = replace(
    HALF, human=replace(HALF.human, keys=(*HALF.human.keys, PrincipalKey(raw(NEXT))))
)
OF_AGENT = {"slot": "AGENT", "principal": "agent-1"}
OF_HUMAN = {"public_key": url(raw(HUMAN))}
CHANGE_FORGERIES: dict[str, tuple[Callable[[], object], str]] = {
    "version 1 where several are": (lambda: verify_key_change(new_key(), TWO), "unknown_key"),
    "a third version": (lambda: verify_key_change(key_change("ADD", version=3), TWO), "envelope"),
    "no change": (lambda: verify_key_change(key_change("SWAP"), TWO), "envelope"),
    "added in a place": (
        lambda: verify_key_change(key_change("ADD", replaced_key=url(raw(HUMAN))), TWO),
        "envelope",
    ),
    "replaced nothing": (lambda: verify_key_change(key_change("REPLACE"), TWO), "envelope"),
    "replaced a stranger's": (
        lambda: verify_key_change(key_change("REPLACE", replaced_key=url(raw(STRANGER))), TWO),
        "unknown_key",
    ),
    "replaced the agent's": (
        lambda: verify_key_change(key_change("REPLACE", replaced_key=url(raw(AGENT))), TWO),
        "unknown_key",
    ),
    "no label": (lambda: verify_key_change(key_change("ADD", label=""), TWO), "envelope"),
    "a blank label": (lambda: verify_key_change(key_change("ADD", label="  "), TWO), "envelope"),
    "a long label": (lambda: verify_key_change(key_change("ADD", label="x" * 65), TWO), "envelope"),
    "a label that turns round": (
        lambda: verify_key_change(key_change("ADD", label="\u202eenohp"), TWO),
        "envelope",
    ),
    "a label of two lines": (
        lambda: verify_key_change(key_change("ADD", label="a\nb"), TWO),
        "envelope",
    ),
    "a label of what goes": (
        lambda: verify_key_change(key_change("RETIRE", HUMAN, label="x"), TWO),
        "envelope",
    ),
    "added twice": (
        lambda: verify_key_change(key_change("ADD", THERE, public_key=url(raw(THERE))), TWO),
        "distinct",
    ),
    "the agent's key added": (
        lambda: verify_key_change(key_change("ADD", AGENT, public_key=url(raw(AGENT))), TWO),
        "distinct",
    ),
    "added by the slot's key": (
        lambda: verify_key_change(key_change("ADD", HUMAN), TWO),
        "signature",
    ),
    "a retired key added": (
        lambda: verify_key_change(key_change("ADD"), TWO, {key_id(raw(NEXT))}),
        "retired_key",
    ),
    "one more than fit": (lambda: verify_key_change(key_change("ADD"), FULL), "key_count"),
    "retired the only one": (
        lambda: verify_key_change(key_change("RETIRE", HUMAN, **OF_HUMAN), GENESIS),
        "last_key",
    ),
    "retired the last that counts": (
        lambda: verify_key_change(key_change("RETIRE", THERE, public_key=url(raw(THERE))), HALF),
        "last_key",
    ),
    "retired by itself": (
        lambda: verify_key_change(key_change("RETIRE", HUMAN, **OF_HUMAN), TWO),
        "signature",
    ),
    "retired by the agent": (
        lambda: verify_key_change(key_change("RETIRE", AGENT, **OF_HUMAN), TWO),
        "signature",
    ),
    "retired by a retired one": (
        lambda: verify_key_change(
            key_change("RETIRE", HUMAN, public_key=url(raw(THERE))),
            replace(
                HALF, human=replace(HALF.human, keys=(*HALF.human.keys, PrincipalKey(raw(NEXT))))
            ),
        ),
        "signature",
    ),
    "retired what is no key": (
        lambda: verify_key_change(key_change("RETIRE", HUMAN), TWO),
        "unknown_key",
    ),
    "added to a closed slot": (lambda: verify_key_change(key_change("ADD"), CLOSED), "retired_key"),
    "retired while a slot is closed": (
        lambda: verify_key_change(
            key_change(
                "RETIRE", AGENT, slot="AGENT", principal="agent-1", public_key=url(raw(NEXT))
            ),
            replace(CLOSED, agent=SlotKeys.of("agent-1", raw(AGENT), raw(NEXT))),
        ),
        "retired_key",
    ),
}


@pytest.mark.parametrize(("forge", "check"), CHANGE_FORGERIES.values(), ids=CHANGE_FORGERIES)
def test_a_forged_change_of_keys_is_refused(forge: Callable[[], object], check: str) -> None:
    """V1 V5 A key is added or replaced by itself, retired by one that stays, and named."""
    with pytest.raises(KeyInvalid) as caught:
        forge()

    assert caught.value.check == check


def test_each_check_of_several_keys_has_a_forgery() -> None:
    """V5 No check of a change of keys stands without a statement that fails it."""
    forged = {check for _, check in CHANGE_FORGERIES.values()}

    assert set(KEY_CHECKS) - forged == {"space", "principal", "key"}  # of version 1, too


def test_keys_are_added_replaced_and_retired() -> None:
    """V5 What a change leaves, and what a restore may put in the place of the one that went."""
    added = verify_key_change(key_change("ADD"), TWO)
    assert added.holder.keys[2] == PrincipalKey(raw(NEXT), "laptop")
    assert (added.retired, added.successors) == (b"", ())
    put = verify_key_change(key_change("REPLACE", replaced_key=url(raw(HUMAN))), TWO)
    assert put.holder.keys == (PrincipalKey(raw(NEXT), "laptop"), PrincipalKey(raw(THERE)))
    assert (put.retired, put.successors) == (raw(HUMAN), (raw(NEXT),))
    gone = verify_key_change(key_change("RETIRE", THERE, **OF_HUMAN), TWO)
    assert gone.holder == SlotKeys.of("anna", raw(THERE))
    assert (gone.retired, gone.successors) == (raw(HUMAN), (raw(THERE),))
    off_the_list = verify_key_change(key_change("RETIRE", THERE, **OF_HUMAN), HALF)
    assert off_the_list.holder == gone.holder


def test_a_closed_slot_of_several_keys_names_whose_successor_comes() -> None:
    """V5 V6 Each retired key gives its place to its own successor alone."""
    both = (key_id(raw(NEXT)),), (key_id(raw(STRANGER)),)
    keys = tuple(
        PrincipalKey(raw(key), "", successors)
        for key, successors in zip((HUMAN, THERE), both, strict=True)
    )
    closed = replace(GENESIS, human=SlotKeys("anna", keys))
    assert closed.closed_slots == ("HUMAN",)
    opened = verify_key_change(key_change("REPLACE", replaced_key=url(raw(HUMAN))), closed)
    assert not opened.holder.is_closed
    with pytest.raises(KeyInvalid, match="retired_key"):
        verify_key_change(key_change("REPLACE", replaced_key=url(raw(THERE))), closed)


def test_a_retired_key_closes_itself_and_not_its_slot() -> None:
    """V5 V6 W7 The other key signs; the retired one neither consents, nor answers, nor deletes, nor
    changes a key."""
    assert HALF.closed_slots == ()
    assert HALF.changing_key() == HALF
    given = verify_consent(consent(THERE), genesis=HALF, terms=TERMS, now_us=NOW)
    assert (given.slot, given.public_key) == ("HUMAN", raw(THERE))
    for genesis in (HALF, HALF.changing_key()):
        with pytest.raises(ConsentInvalid, match="retired_key"):
            verify_consent(consent(), genesis=genesis, terms=TERMS, now_us=NOW)
    assert check_answer(answer(key=THERE), HALF).slot == "HUMAN"
    with pytest.raises(ConsentInvalid, match="retired_key"):
        check_answer(answer(), HALF)
    verify_deletion(deletion(AGENT, THERE), HALF, NOW)
    with pytest.raises(DeletionInvalid, match="retired_key"):
        verify_deletion(deletion(AGENT, HUMAN), HALF, NOW)


def test_two_keys_of_a_slot_are_one_party() -> None:
    """V2 V5 W7 Neither a space's end nor its move is agreed to by both keys of one principal."""
    with pytest.raises(DeletionInvalid, match="signature"):
        verify_deletion(deletion(HUMAN, THERE), TWO, NOW)
    several = {"AGENT": [url(raw(AGENT))], "HUMAN": [url(raw(HUMAN)), url(raw(NEXT))]}
    for signers in ((HUMAN, NEXT), (AGENT, NEXT), (AGENT, HUMAN, NEXT)):
        with pytest.raises(RestoreInvalid, match="signature"):
            check_restore(restoring(*signers, version=4, keys=several))
    found = check_restore(restoring(AGENT, HUMAN, version=4, keys=several))
    assert found.genesis.human == SlotKeys.of("anna", raw(HUMAN), raw(NEXT))


def test_a_move_takes_a_present_key_where_the_first_one_went() -> None:
    """G15 V5 Of the genesis' key alone, or of present keys alone, no space moves."""
    keys = {"AGENT": [url(raw(AGENT))], "HUMAN": [url(raw(NEXT)), url(raw(STRANGER))]}
    for second in (NEXT, STRANGER):
        check_restore(restoring(AGENT, HUMAN, second, version=4, keys=keys))
    for signers in ((AGENT, HUMAN), (AGENT, NEXT, STRANGER), (AGENT, HUMAN, NEXT, STRANGER)):
        with pytest.raises(RestoreInvalid, match="signature"):
            check_restore(restoring(*signers, version=4, keys=keys))
    swapped = {"AGENT": [url(raw(AGENT)), url(raw(HUMAN))], "HUMAN": [url(raw(NEXT))]}
    with pytest.raises(RestoreInvalid, match="distinct"):
        check_restore(restoring(AGENT, HUMAN, NEXT, version=4, keys=swapped))
