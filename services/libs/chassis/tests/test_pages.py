"""Pages end by number and by bytes."""

from collections.abc import AsyncGenerator

from concord_chassis.paging import page_of
from concord_chassis.sizes import PAGE_BYTES
from google.protobuf.wrappers_pb2 import BytesValue


async def sized(*sizes: int) -> AsyncGenerator[int]:
    """Yield sizes."""
    for size in sizes:
        yield size


def message(size: int) -> BytesValue:
    """Return a message of about that size."""
    return BytesValue(value=b"x" * size)


async def test_a_page_has_no_more_than_was_asked_for() -> None:
    """V1 The row behind tells that there is another page; exactly full is the last one."""
    page = await page_of(sized(1, 2, 3), message, 2)
    assert ([len(each.value) for each in page.messages], page.last) == ([1, 2], 2)

    full = await page_of(sized(1, 2, 3), message, 3)
    assert ([len(each.value) for each in full.messages], full.last) == ([1, 2, 3], None)


async def test_a_page_ends_before_it_is_too_large() -> None:
    """V1 What is too large by itself comes first of its page, and alone."""
    half = PAGE_BYTES // 2
    for sizes, shown in (
        ((half - 6, half - 6, 1, 1), [half - 6, half - 6, 1]),
        ((half, half, half), [half]),
        ((2 * PAGE_BYTES, 1), [2 * PAGE_BYTES]),
        ((1, 2 * PAGE_BYTES), [1]),
    ):
        page = await page_of(sized(*sizes), message, 9)
        assert [len(each.value) for each in page.messages] == shown
        assert page.last == shown[-1]


async def test_nothing_is_an_empty_last_page() -> None:
    """V1 No rows, no token."""
    page = await page_of(sized(), message, 5)
    assert (list(page.messages), page.last) == ([], None)
