"""`concord operations` against a running system."""

from concord.graph.v1 import feed_pb2
from concord.graph.v1.space_pb2 import ListOperationsResponse
from concord_testing.command_line import CommandLine, Unique


def test_operations_tell_who_did_what_to_an_item(concord: CommandLine, unique: Unique) -> None:
    """G14 W4 One line for each change of the item, and not a word of its content."""
    own = unique("tea")
    concord.done("add", "Tea is at four, says Zorblax.", "--id", own)

    result = concord.done("operations", own)
    reply = concord.reply(ListOperationsResponse, "operations", own)

    assert f"created (AddMemory)  memory {own}" in result
    assert "owner" in result
    assert "Zorblax" not in result
    assert [each.method for each in reply.operations] == ["AddMemory"]


def test_operations_take_every_filter_and_go_on(concord: CommandLine, unique: Unique) -> None:
    """G14 W4 Options reach the query, and a page token shows the next page."""
    for number in range(3):
        concord.done("add", unique(f"line {number}"))
    arguments = (
        *("operations", "--principal", "owner", "--type", "created", "--since", "2024-01-01"),
        *("--before", "2999-01-01", "--oldest-first", "--limit", "2"),
    )

    first = concord.reply(ListOperationsResponse, *arguments)
    result = concord.done(*arguments)
    second = concord.reply(
        ListOperationsResponse, *arguments, "--page-token", first.next_page_token
    )

    assert f"--page-token {first.next_page_token}" in result
    assert {each.type for each in first.operations} == {feed_pb2.CHANGE_TYPE_CREATED}
    assert first.operations[-1].seq < second.operations[0].seq
