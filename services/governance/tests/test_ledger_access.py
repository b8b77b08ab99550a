"""What every ledger keeps of spaces and API keys: the suite of the port, over each adapter (W7)."""

from dataclasses import replace

from concord_governance.domain.access import ApiKey, SignIn, Space
from concord_governance.ports.ledger import Ledger, LedgerReads, LedgerWrites
from ledger_world import KEY, NOW, Clock, Opened, proposal

NEWEST = (2**62, "")


async def write(ledger: Ledger, *written: ApiKey | Space, space: str = "one") -> None:
    """Keep keys and spaces, in the ledger of a space."""

    async def work(tx: LedgerWrites) -> None:
        for each in written:
            await (tx.put_key(each) if isinstance(each, ApiKey) else tx.put_space(each))

    await ledger.write(space, work)


async def ids(ledger: Ledger, space: str, active_at: int | None = None) -> list[str]:
    """Return the ids of a space's keys, newest first."""
    found = await ledger.read("any", lambda tx: tx.key_list(space, NEWEST, 10, active_at))
    return [key.id for key in found]


async def test_a_key_and_a_space_are_kept_as_they_stand(opened: Opened) -> None:
    """W7 Keys and spaces are the ledger's, whichever space's transaction asks, over a restart."""
    first = await opened("one", Clock())
    space = Space("one", NOW, "ops", delete_time=NOW + 5, statement=b"{}", erased=True)
    await write(first, KEY, space)
    await first.close()

    again = await opened("one", Clock())

    async def look(tx: LedgerReads) -> tuple[object, ...]:
        by_digest, by_id = await tx.key_of_digest(KEY.digest), await tx.key_of_id(KEY.id)
        return by_digest, by_id, await tx.space_named("one"), await tx.key_of_id("f" * 12)

    assert await again.read("other", look) == (KEY, KEY, space, None)
    await write(again, changed := replace(KEY, revoke_time=NOW + 1), space="other")
    assert await again.read("one", lambda tx: tx.key_of_digest(KEY.digest)) == changed


async def test_keys_are_listed_newest_first_and_by_page(ledger: Ledger) -> None:
    """W7 A list has the keys of one space, those of one moment by id, and leaves out ended ones."""
    keys = [
        replace(KEY, id=f"{n:012x}", digest=f"{n:064x}", create_time=NOW + n // 2) for n in range(5)
    ]
    keys[0] = replace(keys[0], expire_time=None)
    keys[3] = replace(keys[3], revoke_time=NOW)
    other = replace(KEY, id="f" * 12, digest="f" * 64, space="two")
    await write(ledger, *keys, other)

    assert await ids(ledger, "one") == [keys[n].id for n in (4, 3, 2, 1, 0)]
    assert await ids(ledger, "one", NOW + 9) == [keys[n].id for n in (4, 2, 1, 0)]
    assert await ids(ledger, "one", NOW + 10) == [keys[0].id]
    before = (keys[3].create_time, keys[3].id)
    page = await ledger.read("one", lambda tx: tx.key_list("one", before, 2, None))
    assert [key.id for key in page] == [keys[2].id, keys[1].id]


async def test_spaces_are_listed_by_name(ledger: Ledger) -> None:
    """W7 Deleted spaces are listed when asked for, and wait until they are erased."""
    await write(
        ledger,
        Space("b", NOW),
        Space("a", NOW),
        Space("c", NOW, delete_time=NOW),
        Space("d", NOW, delete_time=NOW, erased=True),
    )

    async def names(after: str, limit: int, *, deleted: bool) -> list[str]:
        found = await ledger.read("x", lambda tx: tx.space_list(after, limit, deleted=deleted))
        return [space.name for space in found]

    assert await names("", 9, deleted=False) == ["a", "b"]
    assert await names("a", 2, deleted=True) == ["b", "c"]
    assert await ledger.read("x", lambda tx: tx.spaces_to_erase()) == ["c"]


async def test_revoking_a_spaces_keys_leaves_those_of_others(ledger: Ledger) -> None:
    """W7 A deleted space's keys are revoked together, and an earlier revocation keeps its time."""
    revoked = replace(KEY, id="b" * 12, digest="b" * 64, revoke_time=NOW - 5)
    other = replace(KEY, id="c" * 12, digest="c" * 64, space="two")
    await write(ledger, KEY, revoked, other, Space("one", NOW))

    async def work(tx: LedgerWrites) -> int:
        assert await tx.lock_space("one") == Space("one", NOW)
        assert await tx.lock_space("none") is None
        return await tx.revoke_keys("one", NOW)

    assert await ledger.write("two", work) == 1
    found = [
        await ledger.read("x", lambda tx, of=key: tx.key_of_id(of.id))  # type: ignore[misc]
        for key in (KEY, revoked, other)
    ]
    assert [key and key.revoke_time for key in found] == [NOW, NOW - 5, None]


async def test_the_newest_use_is_kept(ledger: Ledger) -> None:
    """W7 Uses are noted together; an earlier one that comes late changes nothing."""
    other = replace(KEY, id="b" * 12, digest="b" * 64)
    await write(ledger, KEY, other)
    for time in (NOW + 5, NOW + 3):
        await ledger.write("x", lambda tx, at=time: tx.note_uses({KEY.id: at, "none": at}))  # type: ignore[misc]

    found = [
        await ledger.read("x", lambda tx, of=key: tx.key_of_id(of.id))  # type: ignore[misc]
        for key in (KEY, other)
    ]
    assert [key and key.last_use_time for key in found] == [NOW + 5, None]


async def test_all_words_of_a_space_go(ledger: Ledger) -> None:
    """W7 M4 Of a deleted space no proposal's words stay; another space's do."""
    for space in ("one", "two"):
        await ledger.write(space, lambda tx: tx.put(None, proposal("p", 1)))
    await ledger.write("one", lambda tx: tx.forget_all_words())

    found = [await ledger.read(space, lambda tx: tx.proposal("p")) for space in ("one", "two")]
    assert [each and bool(each.newest.canonical) for each in found] == [False, True]


def code(number: int, key_id: str = KEY.id, *, expire: int = 60) -> SignIn:
    """Return a code of a key, the newer the greater its number."""
    return SignIn(f"{number:064x}", key_id, False, NOW + number, NOW + expire)


async def kept(ledger: Ledger, *codes: SignIn) -> list[SignIn]:
    """Return which of some codes are there."""
    found = [await ledger.read("any", lambda tx, of=each: tx.sign_in(of.digest)) for each in codes]  # type: ignore[misc] # the default binds the loop's value
    return [each for each in found if each is not None]


async def test_a_sign_in_is_kept_until_it_is_removed(opened: Opened) -> None:
    """W5 Over a restart, whichever space's transaction asks; removing it twice is once."""
    first = await opened("one", Clock())
    session = SignIn("5" * 64, KEY.id, True, NOW, NOW + 9)

    async def sign_in(tx: LedgerWrites) -> None:
        await tx.put_sign_in(code(1))
        await tx.put_sign_in(session)

    await first.write("one", sign_in)
    await first.close()
    again = await opened("one", Clock())
    assert await kept(again, code(1), session, code(2)) == [code(1), session]

    await again.write("two", lambda tx: tx.delete_sign_in(session.digest))
    await again.write("two", lambda tx: tx.delete_sign_in(session.digest))

    assert await kept(again, code(1), session) == [code(1)]


async def test_ended_and_surplus_sign_ins_are_removed(ledger: Ledger) -> None:
    """W5 What has expired goes for all keys, the oldest of a key for it alone."""
    other = code(9, "f" * 12, expire=5)
    codes = [code(n, expire=10 + n) for n in range(4)]

    async def sign_in(tx: LedgerWrites) -> None:
        for each in (*codes, other):
            await tx.put_sign_in(each)

    await ledger.write("one", sign_in)
    await ledger.write("one", lambda tx: tx.delete_oldest_sign_ins(KEY.id, 3))
    assert await kept(ledger, *codes, other) == [*codes[1:], other]

    await ledger.write("one", lambda tx: tx.delete_expired_sign_ins(NOW + 11))

    assert await kept(ledger, *codes, other) == codes[2:]
    await ledger.write("one", lambda tx: tx.delete_oldest_sign_ins(KEY.id, 0))
    assert await kept(ledger, *codes) == []
