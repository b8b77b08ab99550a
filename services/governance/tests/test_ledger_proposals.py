"""What every ledger keeps of proposals, receipts and entries (V1, V6, V7, M4, A1)."""

import json
from dataclasses import replace

import pytest
from concord_attestation.instants import format_time
from concord_governance.adapters import rows
from concord_governance.domain.documents import from_json
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import RevisionUnreadable
from concord_governance.domain.proposals import (
    DAY,
    Decision,
    Effect,
    Failure,
    GivenConsent,
    Proposal,
    Status,
)
from concord_governance.ports.ledger import (
    EntryFilter,
    Ledger,
    LedgerReads,
    LedgerWrites,
    RequestReceipt,
)
from ledger_world import ENTRY, NOW, Clock, Opened, proposal


async def kept(ledger: Ledger, *proposals: Proposal) -> None:
    """Write proposals that are new."""

    async def work(tx: LedgerWrites) -> None:
        for each in proposals:
            await tx.put(None, each)

    await ledger.write("one", work)


async def change(ledger: Ledger, name: str, **changed: object) -> Proposal:
    """Write a proposal as it stands but for what is changed; return it as it is read then."""

    async def work(tx: LedgerWrites) -> None:
        before = await tx.proposal(name)
        assert before is not None
        await tx.put(before, replace(before, **changed))  # type: ignore[arg-type]

    await ledger.write("one", work)
    found = await ledger.read("one", lambda tx: tx.proposal(name))
    assert found is not None
    return found


def consent(slot: str, nonce: str, *, time: int = NOW, revoked: bool = False) -> GivenConsent:
    """Return a consent."""
    return GivenConsent(slot, "who", nonce, time, NOW + 9, b"\x00\xff" + nonce.encode(), revoked)


async def names(ledger: Ledger, *statuses: Status, item: str = "", before: int = 99) -> list[str]:
    """Return the names of the proposals that a list shows."""
    found = await ledger.read("one", lambda tx: tx.proposals(statuses, item, before, 3))
    return [each.id for each in found]


async def test_a_proposal_is_read_as_it_was_written(ledger: Ledger) -> None:
    """V1 Each of its parts, bytes and what is not there too, by id and by number."""
    first = proposal("p", 1, items=("i",))
    await kept(ledger, first)
    assert await ledger.read("one", lambda tx: tx.proposal("p")) == replace(first, version=1)

    given = (consent("AGENT", "b", time=NOW + 1), consent("HUMAN", "a", time=NOW + 2))
    decision = Decision("d", NOW + 3, b"\x00grant\xff", (Effect("i", 1, 0, 4),))
    after = await change(
        ledger,
        "p",
        status=Status.EXECUTED,
        consents=given,
        decision=decision,
        resolve_time=NOW + 4,
        resolved_by=("ada", "agent"),
        resolution="so",
        undo_until=NOW + 5,
        undone_by="q",
        orphaned=("l", "r"),
    )

    assert (after.consents, after.decision, after.version) == (given, decision, 2)
    assert (after.resolve_time, after.undo_until, after.undone_by) == (NOW + 4, NOW + 5, "q")
    assert (after.resolved_by, after.resolution, after.orphaned) == (
        ("ada", "agent"),
        "so",
        ("l", "r"),
    )
    assert after == await ledger.read("one", lambda tx: tx.proposal_numbered(1))
    again = await change(ledger, "p", resolve_time=None, undo_until=None, decision=None)
    assert (again.resolve_time, again.undo_until, again.decision) == (None, None, None)


async def test_a_slot_that_consents_anew_has_one_consent(ledger: Ledger) -> None:
    """V6 The newer one stands, and one that was revoked stays revoked."""
    await kept(ledger, proposal("p", 1))
    await change(ledger, "p", consents=(consent("AGENT", "a"), consent("HUMAN", "h")))
    revoked = (consent("AGENT", "a", revoked=True), consent("HUMAN", "h"))
    assert (await change(ledger, "p", consents=revoked)).consents == revoked

    anew = (consent("AGENT", "b"), consent("HUMAN", "h"))
    assert (await change(ledger, "p", consents=anew)).consents == anew


async def test_a_revision_begins_without_consents(ledger: Ledger) -> None:
    """V6 What was signed for the former bytes says nothing of the new ones."""
    first = proposal("p", 1)
    await kept(ledger, first)
    await change(ledger, "p", consents=(consent("AGENT", "a"),))
    second = replace(proposal("p", 1, items=("new",)).newest, revision=2, digest="3" * 64)
    document = json.loads(second.canonical) | {"revision": 2}
    second = replace(second, canonical=json.dumps(document).encode())

    after = await change(ledger, "p", newest=second, consents=())

    assert (after.newest, after.consents) == (second, ())
    assert await names(ledger, item="new") == ["p"]


async def test_proposals_are_listed_newest_first(ledger: Ledger) -> None:
    """V1 By status, by what they touch or did, below a number, up to a limit."""
    await kept(ledger, *(proposal(f"p{n}", n, items=("i",) if n % 2 else ()) for n in range(1, 7)))
    await change(ledger, "p2", decision=Decision("d", NOW, b"", (Effect("i", 1, 0, 1),)))
    await change(ledger, "p3", status=Status.APPROVED)
    await change(ledger, "p5", status=Status.PENDING_REVIEW)

    assert await names(ledger) == ["p6", "p5", "p4"]
    assert await names(ledger, before=4) == ["p3", "p2", "p1"]
    assert await names(ledger, item="i") == ["p5", "p3", "p2"]
    assert await names(ledger, Status.PENDING, item="i", before=5) == ["p2", "p1"]
    assert await names(ledger, Status.APPROVED, Status.PENDING_REVIEW) == ["p5", "p3"]
    assert await names(ledger, item="unknown") == []
    for statuses, count in (([Status.PENDING], 4), ([Status.PENDING, Status.APPROVED], 5), ([], 0)):
        assert count == await ledger.read("one", lambda tx, s=statuses: tx.proposal_count(s))  # type: ignore[misc] # the default binds the loop's value


async def test_the_proposals_of_one_proposer_are_counted(ledger: Ledger) -> None:
    """W7 By who made the newest revision; also when its words are gone."""
    other = proposal("p3", 3)
    document = json.loads(other.newest.canonical) | {"proposer": "eve"}
    theirs = replace(other.newest, proposer="eve", canonical=json.dumps(document).encode())
    await kept(ledger, proposal("p1", 1, items=("i",)), proposal("p2", 2))
    await kept(ledger, replace(other, newest=theirs))
    await change(ledger, "p2", status=Status.PENDING_REVIEW)
    await ledger.write("one", lambda tx: tx.forget_words("i", confirm=False))

    for who, count in (("agent", 2), ("eve", 1), ("nobody", 0)):
        waiting = [Status.PENDING, Status.PENDING_REVIEW]
        assert count == await ledger.read(
            "one",
            lambda tx, w=who, s=waiting: tx.proposal_count(s, w),  # type: ignore[misc] # the default binds the loop's value
        )


async def test_when_proposals_that_stand_so_were_made(ledger: Ledger) -> None:
    """W6 For figures: of all spaces, by status; also when their words are gone."""
    await kept(ledger, *(proposal(f"p{n}", n, items=("i",)) for n in (1, 2, 3)))
    await ledger.write("two", lambda tx: tx.put(None, proposal("p1", 1)))
    await change(ledger, "p2", status=Status.PENDING_REVIEW)
    await change(ledger, "p3", status=Status.REJECTED)
    await ledger.write("one", lambda tx: tx.forget_words("i", confirm=False))

    waiting = [Status.PENDING, Status.PENDING_REVIEW]
    assert await ledger.proposal_times(waiting) == [NOW] * 3
    assert await ledger.proposal_times([Status.REJECTED]) == [NOW]


async def test_the_newest_of_each_proposer_come_in_turn(ledger: Ledger) -> None:
    """V9 W7 Everybody's newest before anybody's second, shown newest first."""
    first = proposal("p1", 1)
    document = json.loads(first.newest.canonical) | {"proposer": "eve"}
    theirs = replace(first.newest, proposer="eve", canonical=json.dumps(document).encode())
    await kept(ledger, replace(first, newest=theirs), *(proposal(f"p{n}", n) for n in (2, 3, 4)))
    await change(ledger, "p4", status=Status.REJECTED)

    for limit, expected in ((1, ["p3"]), (2, ["p3", "p1"]), (9, ["p3", "p2", "p1"])):
        found = await ledger.read(
            "one",
            lambda tx, n=limit: tx.newest_of_each([Status.PENDING], n),  # type: ignore[misc] # the default binds the loop's value
        )
        assert [each.id for each in found] == expected


async def test_what_is_due_and_what_is_decided(ledger: Ledger) -> None:
    """V4 V6 Open ones whose time is over, at that instant; decided ones whose end is not known."""
    await kept(ledger, *(proposal(f"p{n}", n) for n in range(1, 5)))
    await change(ledger, "p2", status=Status.PENDING_REVIEW)
    await change(ledger, "p3", status=Status.APPROVED)
    await change(ledger, "p4", status=Status.EXPIRED)

    async def asked(tx: LedgerReads) -> list[list[str]]:
        found = [await tx.due(NOW + 9), await tx.due(NOW + 10), await tx.undecided_effects()]
        return [sorted(each.id for each in part) for part in found]

    assert await ledger.read("one", asked) == [[], ["p1", "p2"], ["p3"]]


@pytest.mark.parametrize(
    ("status", "waits_from"),
    [
        (Status.PENDING, NOW + 10),
        (Status.PENDING_REVIEW, NOW + 10),
        (Status.APPROVED, NOW),
        (Status.EXECUTED, None),
        (Status.EXPIRED, None),
    ],
)
async def test_which_spaces_wait_is_one_question(
    ledger: Ledger, status: Status, waits_from: int | None
) -> None:
    """V4 V7 A space is looked at from when one proposal of it is due or decided, and no other."""
    await kept(ledger, proposal("p", 1))
    await change(ledger, "p", status=status)
    await ledger.write("two", lambda tx: tx.append([ENTRY]))

    waiting = {at: list(await ledger.waiting(at)) for at in (NOW, NOW + 9, NOW + 10)}

    assert waiting == {
        at: ["one"] if waits_from is not None and at >= waits_from else [] for at in waiting
    }


async def test_erased_words_are_gone_and_what_they_were_is_not(ledger: Ledger) -> None:
    """M4 Of each proposal on the item, once; digests and who proposed it stay."""
    await kept(ledger, proposal("p", 1, items=("i",)), proposal("q", 2, items=("other",)))

    async def work(tx: LedgerWrites) -> list[int]:
        return [await tx.forget_words("i", confirm=each) for each in (True, False, True)]

    assert await ledger.write("one", work) == [1, 0, 0]
    assert await ledger.scrub()
    p = await ledger.read("one", lambda tx: tx.proposal("p"))
    q = await ledger.read("one", lambda tx: tx.proposal("q"))
    assert p is not None
    assert q is not None
    assert (p.newest.canonical, p.newest.framing.detected, p.newest.digest) == (b"", "", "2" * 64)
    assert (q.newest.framing.detected, p.newest.proposer) == ("a", "agent")
    assert await ledger.read("one", lambda tx: tx.unconfirmed()) == ["i"]
    await ledger.write("one", lambda tx: tx.confirmed("i"))
    assert await ledger.read("one", lambda tx: tx.unconfirmed()) == []


async def test_a_nonce_is_recorded_once(ledger: Ledger) -> None:
    """V6 A second time is a bug of ours, and nothing is written."""
    await ledger.write("one", lambda tx: tx.record_nonce("n"))

    async def work(tx: LedgerWrites) -> None:
        await tx.append([ENTRY])
        await tx.record_nonce("n")

    with pytest.raises(Exception, match=r"UNIQUE|already exists"):
        await ledger.write("one", work)
    assert await ledger.read("one", lambda tx: tx.nonce_is_recorded("n"))
    assert await ledger.read("one", lambda tx: tx.log_size()) == 0


async def test_a_receipt_is_kept_for_seven_days(opened: Opened) -> None:
    """W3 By principal, method and request; what is older goes."""
    clock = Clock()
    ledger = await opened("ledger", clock)
    receipt = RequestReceipt("digest", ("p", "q"))
    await ledger.write("one", lambda tx: tx.keep_receipt("agent", "m", "r", receipt))
    clock.now += 7 * DAY
    await ledger.write("one", lambda tx: tx.keep_receipt("agent", "m", "later", receipt))

    assert await ledger.read("one", lambda tx: tx.receipt("agent", "m", "r")) == receipt
    assert await ledger.read("one", lambda tx: tx.receipt("ada", "m", "r")) is None
    assert await ledger.read("one", lambda tx: tx.receipt("agent", "other", "r")) is None

    clock.now += 1
    await ledger.write("one", lambda tx: tx.keep_receipt("agent", "m", "last", receipt))
    assert await ledger.read("one", lambda tx: tx.receipt("agent", "m", "r")) is None
    assert await ledger.read("one", lambda tx: tx.receipt("agent", "m", "later")) == receipt


async def test_entries_are_filtered(opened: Opened) -> None:
    """A1 Each part must match; times are half-open; newest first."""
    clock = Clock()
    ledger = await opened("ledger", clock)
    for action, actor, item in (
        (Action.SMF_PROPOSE, Actor.AGENT, "i"),
        (Action.SMF_APPROVE, Actor.HUMAN, "i"),
        (Action.SMF_APPROVE, Actor.HUMAN, ""),
        (Action.WRITE_SUCCESS, Actor.SYSTEM, "j"),
    ):
        entry = Entry(action, actor, "who", item)
        await ledger.write("one", lambda tx, of=entry: tx.append([of]))  # type: ignore[misc]
        clock.now += 1

    async def places(filter_: EntryFilter, before: int = 99, limit: int = 9) -> list[int]:
        found = await ledger.read("one", lambda tx: tx.entries(filter_, before, limit))
        assert all(json.loads(leaf.data)["index"] == leaf.index for leaf in found)
        return [leaf.index for leaf in found]

    assert await places(EntryFilter()) == [3, 2, 1, 0]
    assert await places(EntryFilter(), before=3, limit=2) == [2, 1]
    assert await places(EntryFilter(item_id="i")) == [1, 0]
    assert await places(EntryFilter(actor=Actor.HUMAN)) == [2, 1]
    assert await places(EntryFilter(actions=(Action.SMF_PROPOSE, Action.WRITE_SUCCESS))) == [3, 0]
    assert await places(EntryFilter(since=NOW + 1, until=NOW + 3)) == [2, 1]
    assert await places(EntryFilter(item_id="i", actor=Actor.HUMAN, since=NOW)) == [1]
    assert [leaf.index for leaf in await ledger.read("one", lambda tx: tx.leaves(1, 3))] == [1, 2]


async def test_entries_are_found_by_when_it_happened(opened: Opened) -> None:
    """A1 A3 What graph recorded an hour before it reached the log is found at that hour, page by
    page, and not at its arrival; what governance did, at its own time."""
    clock = Clock()
    ledger = await opened("one", clock)
    for graph_time in (None, NOW - 5, None, NOW - 7, NOW - 6, NOW + 1):
        evidence = {} if graph_time is None else {"record_time": format_time(graph_time)}
        entry = Entry(Action.WRITE_SUCCESS, Actor.AGENT, "who", properties=evidence)
        await ledger.write("one", lambda tx, of=entry: tx.append([of]))  # type: ignore[misc]

    async def places(filter_: EntryFilter, before: int = 99, limit: int = 9) -> list[int]:
        found = await ledger.read("one", lambda tx: tx.entries(filter_, before, limit))
        return [leaf.index for leaf in found]

    earlier = EntryFilter(since=NOW - 7, until=NOW)
    assert await places(earlier) == [4, 3, 1]
    assert await places(earlier, limit=2) == [4, 3]
    assert await places(earlier, before=3) == [1]
    assert await places(EntryFilter(since=NOW)) == [5, 2, 0]
    assert await places(EntryFilter(until=NOW - 6)) == [3]


async def test_an_empty_space_has_an_empty_ledger(ledger: Ledger) -> None:
    """A1 Asking makes none."""

    async def asked(tx: LedgerReads) -> list[object]:
        return [
            *(await tx.log_size(), await tx.feed_cursor(), await tx.nodes([(0, 0)])),
            *(await tx.proposals((), "", 9, 9), await tx.due(NOW), await tx.unconfirmed()),
        ]

    assert await ledger.read("none", asked) == [0, ("", 0, ""), {}, [], [], []]
    assert await ledger.spaces() == []
    assert await ledger.ready()


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (Failure("ERROR_REASON_INTERNAL"), "ERROR_REASON_INTERNAL"),
        (Failure("ERROR_REASON_ETAG_MISMATCH", "etags"), "ERROR_REASON_ETAG_MISMATCH etags"),
        (
            Failure("ERROR_REASON_CONSENT_INVALID", "signature", "HUMAN"),
            "ERROR_REASON_CONSENT_INVALID HUMAN signature",
        ),
    ],
)
async def test_a_failure_is_read_as_it_was_written(
    ledger: Ledger, failure: Failure, text: str
) -> None:
    """V6 Reason, check and slot, in the spelling that the first ledgers wrote."""
    await kept(ledger, proposal("p", 1, items=("i",)))
    after = await change(ledger, "p", status=Status.FAILED, resolve_time=NOW, failure=failure)

    assert (after.failure, after.resolution) == (failure, "")
    assert rows.resolution(after) == text


def test_a_revision_of_another_version_is_refused() -> None:
    """V6 By a sentence that names the commit which still reads it."""
    with pytest.raises(RevisionUnreadable) as caught:
        from_json({"version": 1}, b"", "")

    assert "commit 85b147cc" in caught.value.message
