"""`concord erase`, `receipt` and `history` against a running system."""

import json
from pathlib import Path

from concord.graph.v1.memory_pb2 import GetEraseReceiptResponse, GetMemoryHistoryResponse
from concord_testing.command_line import CommandLine, Unique


def test_erase_waits_for_the_receipt_and_leaves_nothing_to_read(
    concord: CommandLine, unique: Unique
) -> None:
    """M4 W4 What was erased is told of as such by every command that names it."""
    own, later = unique("doomed"), unique("later")
    concord.done("add", "Zorblax lives here.", "--id", own)
    concord.done("add", "Nobody lives here.", "--id", later, "--supersedes", own)
    concord.done("operations", own)

    result = concord.done("erase", own, "--yes", "--reason", "asked for by Anna")
    got, history = concord.done("get", own), concord.done("history", own)
    lineage, operations = concord.done("lineage", own), concord.done("operations", own)

    assert result.startswith("Erased, and gone from every store.")
    assert "asked for by Anna" in result
    assert "waits" not in result
    assert "erased" in got
    assert history.count("(erased)") == 2
    assert "erased: what it said is gone" in lineage
    assert "erased (EraseMemory)" in operations
    assert "Zorblax" not in got + history + lineage + operations


def test_a_receipt_is_shown_again(concord: CommandLine, unique: Unique) -> None:
    """M4 W4 The receipt names every store and when it confirmed."""
    own = unique("doomed")
    concord.done("add", "Zorblax lives here.", "--id", own)
    erased = concord.reply(GetEraseReceiptResponse, "erase", own, "--yes")

    again = concord.reply(GetEraseReceiptResponse, "receipt", own)
    result = concord.done("receipt", own)

    assert again == erased
    assert [each.confirmer for each in again.receipt.confirmations] == [
        "graph",
        "search",
        "governance",
    ]
    assert again.receipt.erase_id in result


def test_erase_asks_first(concord: CommandLine, unique: Unique) -> None:
    """M4 W4 Without a yes nothing is erased."""
    own = unique("kept")
    concord.done("add", "Zorblax lives here.", "--id", own)

    refused = concord("erase", own, stdin="n\n")

    assert refused.exit_code == 1
    assert "Zorblax" in concord.done("get", own)
    assert "Erased" in concord("erase", own, stdin="y\n").stdout


def test_what_cannot_be_erased_says_why(concord: CommandLine, unique: Unique) -> None:
    """M4 W4 An unknown memory, one that was erased, and a receipt of none."""
    own = unique("doomed")
    concord.done("add", "Zorblax lives here.", "--id", own)
    unknown = concord("erase", unique("nobody"), "--yes")
    none = concord("receipt", own)
    concord.done("erase", own, "--yes")
    again = concord("erase", own, "--yes")
    readded = concord("add", "Zorblax lives here.", "--id", own)

    assert [each.exit_code for each in (unknown, none, again, readded)] == [1, 1, 1, 1]
    assert "There is no memory" in unknown.stderr
    assert "was erased in the space" in none.stderr
    assert "was erased already" in again.stderr
    assert "ERROR_REASON_ITEM_ERASED" in readded.stderr


def test_an_import_leaves_what_was_erased_so(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M4 M6 A file that still holds an erased text brings it back under no circumstances."""
    own = unique("doomed")
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"id": own, "content": "Zorblax lives here."}) + "\n")
    concord.done("import", str(file))
    concord.done("erase", own, "--yes")

    result = concord("import", str(file))

    assert "0 created, 0 unchanged, 0 updated, 1 erased before; 0 errors" in result.stdout
    assert "(erased)" in concord.done("history", own)


def test_history_shows_every_version(concord: CommandLine, unique: Unique) -> None:
    """M4 W4 The newest first, page by page."""
    own = unique("tea")
    concord.done("add", "Tea is at four.", "--id", own)

    reply = concord.reply(GetMemoryHistoryResponse, "history", own)
    result = concord.done("history", own, "--limit", "1")

    assert [each.memory.content for each in reply.versions] == ["Tea is at four."]
    assert "Tea is at four." in result
