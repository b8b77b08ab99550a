"""The end of a page, by its number of messages and by its bytes."""

from collections.abc import AsyncGenerator

from concord_chassis.call.paging import page_of
from concord_chassis.call.sizes import PAGE_BYTES
from google.protobuf.wrappers_pb2 import BytesValue


async def sized(*sizes: int) -> AsyncGenerator[int]:
    """Yields sizes, as rows."""
    for size in sizes:
        yield size


def message(size: int) -> BytesValue:
    """Returns a message of about this size in bytes."""
    return BytesValue(value=b"x" * size)


async def test_a_page_has_no_more_than_was_asked_for() -> None:
    """V1: a page is the last one if no row follows it, even if the page is full."""
    page = await page_of(sized(1, 2, 3), message, 2)
    assert ([len(each.value) for each in page.messages], page.last) == ([1, 2], 2)

    full = await page_of(sized(1, 2, 3), message, 3)
    assert ([len(each.value) for each in full.messages], full.last) == ([1, 2, 3], None)


async def test_a_page_ends_before_it_is_too_large() -> None:
    """V1: a page has at most `PAGE_BYTES`; a larger message is a page by itself."""
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
    """V1: without rows there is one empty page."""
    page = await page_of(sized(), message, 5)
    assert (list(page.messages), page.last) == ([], None)
