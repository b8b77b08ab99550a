"""`concord reindex` and `concord parked` against a running system."""

from concord.search.v1.search_pb2 import GetIndexStatusResponse, ListParkedChangesResponse
from concord_testing.command_line import CommandLine


def test_an_index_is_built_anew_rolled_back_and_its_former_version_dropped(
    concord: CommandLine,
) -> None:
    """W4 S10 The whole life of an index, as a person types it."""
    concord.done("add", "The kiln is fired on Thursdays.")

    built = concord.reply(GetIndexStatusResponse, "reindex")
    back = concord.done("reindex", "--rollback")
    dropped = [concord.done("reindex", "--drop", "former") for _ in range(2)]
    nothing_left = concord("reindex", "--rollback")

    assert len(built.versions) == 2
    assert built.indexed_memories >= 1
    assert back.startswith("all-MiniLM-L6-v2 serves ")
    assert dropped == ["Dropped the former version.\n", "No former version is kept.\n"]
    assert nothing_left.exit_code == 1
    assert "No former version of the index is kept." in nothing_left.stderr


def test_what_cannot_be_reindexed_is_a_sentence(concord: CommandLine) -> None:
    """W4 An unknown model names those there are; two aims at once are refused."""
    unknown = concord("reindex", "--model", "gpt")
    both = concord("reindex", "--model", "gpt", "--rollback")

    assert (unknown.exit_code, both.exit_code) == (1, 1)
    assert "all-MiniLM-L6-v2" in unknown.stderr
    assert "Give one of" in both.stderr


def test_parked_changes_are_listed(concord: CommandLine) -> None:
    """W4 S10 A list with reasons, and a way to try again; nothing is parked here."""
    reply = concord.reply(ListParkedChangesResponse, "parked")

    assert reply == ListParkedChangesResponse()
    assert concord.done("parked") == "No change is parked.\n"
    assert concord.done("parked", "--retry") == "Applied 0 changes now; 0 are left.\n"
