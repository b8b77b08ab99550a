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


def test_somebody_is_forgotten_after_a_look(
    signers: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M4 W4 A look changes nothing and prints a digest; with it exactly that is erased, and the
    receipt is the log's, offline: a changed receipt is not."""
    name, other = f"Ada {unique('x')}", f"Bob {unique('x')}"
    mention = unique("mention")
    signers.done("say", unique("talk"), name, "I live in Zorblaxia.")
    signers.done("add", f"The cake of {name}.", "--id", mention)
    signers.done("say", unique("walk"), other, "I like tea.")

    looked = signers.done("erase", "--subject", name)
    found = json.loads(signers.done("erase", "--subject", name, "--mentions", "--json"))
    (said,) = [each["id"] for each in found["items"] if "Zorblaxia" in each.get("label", "")]
    still = signers.done("get", said)
    receipt, log = tmp_path / "receipt.json", tmp_path / "log.jsonl"
    asked = ("erase", "--subject", name, "--mentions", "--digest", found["digest"])
    unsure = signers(*asked, stdin="n\n")
    done = signers.done(*asked, "--yes", "--reason", "asked for", "--out", str(receipt))
    signers.done("audit", "export", str(log))
    fits = signers.done("audit", "verify", str(log), "--receipt", str(receipt))
    again = signers.done("receipt", json.loads(receipt.read_text())["erase_id"])
    receipt.write_text(receipt.read_text().replace(mention, unique("other")))
    changed = signers("audit", "verify", str(log), "--receipt", str(receipt))

    assert said in looked
    assert "Zorblaxia" in looked
    assert "mentions them: --mentions" in looked
    assert "Nothing is erased yet" in looked
    assert "Zorblaxia" in still
    assert unsure.exit_code == 1
    assert done.startswith("Erased, and gone from every store.")
    assert "waits" not in done
    assert "Zorblaxia" not in done
    assert "The receipt is the log's" in fits
    assert "backups from before" in again
    assert changed.exit_code == 1
    assert "no entry of this receipt" in changed.stderr
    assert "erased" in signers.done("get", mention)


def test_proposals_that_name_them_lose_their_words(signers: CommandLine, unique: Unique) -> None:
    """M4 V1 The words of an open proposal that mentions somebody go with them, under one digest."""
    name = f"Cleo {unique('x')}"
    signers.done("say", unique("talk"), name, "I was here.")
    signers.done("propose", "add", f"{name} keeps bees.")

    found = json.loads(signers.done("erase", "--subject", name, "--mentions", "--json"))
    plain = found["digest"].partition(".")[0]
    short = signers("erase", "--subject", name, "--mentions", "--digest", plain, "--yes")
    asked = ("erase", "--subject", name, "--mentions", "--digest", found["digest"], "--yes")
    receipt = json.loads(signers.done(*asked, "--json"))["receipt"]

    assert len(found["proposals"]) == 1
    assert short.exit_code == 1
    assert "look again" in short.stderr
    assert receipt["proposals"] == found["proposals"]
    assert "bees" not in signers.done("proposals", "--json")


def test_one_thing_is_erased_at_a_time(concord: CommandLine) -> None:
    """M4 W4 A memory or one selection: neither none nor two."""
    none, two = concord("erase"), concord("erase", "m", "--subject", "Ada")

    assert [none.exit_code, two.exit_code] == [2, 2]
    assert "--principal" in two.stderr
