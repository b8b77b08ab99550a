"""Several streams read as one."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from concord_chassis.channel.feed import merged, ranges


def test_ranges_hold_every_key_that_is_or_will_be() -> None:
    """W7 no space falls between two requests: ranges of at most so many keys cover every string."""
    keys = [f"s{number:02}" for number in range(7)]

    found = ranges(keys, 3)

    assert [list(part) for _, _, part in found] == [keys[:3], keys[3:6], keys[6:]]
    for key in [*keys, "", "a", "s02x", "s03", "s05\0", "zz"]:
        assert sum(start <= key and (not end or key < end) for start, end, _ in found) == 1
    assert ranges([], 3) == [("", "", ())]


async def test_streams_come_together_and_end_with_the_first() -> None:
    """W7 what each of several streams brings arrives in its order; when one ends or fails, all are
    closed: a follower begins anew."""
    closed: list[str] = []
    go = asyncio.Event()

    async def stream(name: str, count: int, error: Exception | None) -> AsyncGenerator[str]:
        try:
            for number in range(count):
                yield f"{name}{number}"
            await go.wait()
            if error is None:
                await asyncio.Event().wait()
            else:
                raise error
        finally:
            closed.append(name)

    found: list[str] = []

    async def read() -> None:
        async for each in merged([stream("a", 3, ConnectionError()), stream("b", 2, None)]):
            found.append(each)
            if len(found) == 5:
                go.set()

    with pytest.raises(ConnectionError):
        await read()

    assert [each for each in found if each[0] == "a"] == ["a0", "a1", "a2"]
    assert [each for each in found if each[0] == "b"] == ["b0", "b1"]
    assert sorted(closed) == ["a", "b"]
