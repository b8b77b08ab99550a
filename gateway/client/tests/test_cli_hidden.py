"""What does not show is shown: nobody signs a text that reads otherwise (V6)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from concord.governance.v1 import proposal_pb2
from concord_attestation import visible
from concord_client.cli.errors import CommandError, error_report
from concord_client.cli.render import page
from concord_testing.command_line import CommandLine
from rich.console import Console
from two_signers import proposal, typed

HIDDEN = {
    "\u202e": "\\u202e",  # right-to-left override
    "\u2066": "\\u2066",  # left-to-right isolate
    "\u200b": "\\u200b",  # zero width space
    "\u200d": "\\u200d",  # zero width joiner
    "\ufeff": "\\ufeff",  # zero width no-break space
    "\u00ad": "\\u00ad",  # soft hyphen
    "\u2028": "\\u2028",  # line separator
    "\u2029": "\\u2029",  # paragraph separator
    "\ue000": "\\ue000",  # private use
    "\u0378": "\\u0378",  # unassigned
    "\u3164": "\\u3164",  # a letter without ink
    "\ufe0f": "\\ufe0f",  # variation selector
    "\x1b": "\\u001b",
    "\x9b": "\\u009b",
    "\U000e0041": "\\U000e0041",  # a tag
}
SHOWN = "Añ ñ 日本語 😀 ق \u3000\u00a0 \t\n \\u202e"


@pytest.mark.parametrize(("char", "written"), HIDDEN.items())
def test_what_does_not_show_is_written_out(char: str, written: str) -> None:
    """V6 Format, separator, control, private, unassigned and blank characters, each of them."""
    assert visible.visible(f"a{char}b") == f"a{written}b"
    assert visible.visible(SHOWN) == SHOWN


@pytest.mark.parametrize("char", HIDDEN)
def test_json_means_the_same(char: str) -> None:
    """V6 What a machine reads is unchanged; what a person sees of it hides nothing."""
    said = json.dumps({"words": f"a{char}b😀"}, ensure_ascii=False)
    line = visible.in_json(said)

    assert json.loads(line) == json.loads(said)
    assert visible.visible(line) == line or char.isascii()


@pytest.fixture(params=[False, True], ids=["pipe", "terminal"])
def printed(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Path]:
    """Where pages are printed to."""
    with (tmp_path / "page").open("w") as file:
        made = Console(file=file, width=200, highlight=False, force_terminal=request.param)
        monkeypatch.setattr(page, "console", lambda: made)
        yield tmp_path / "page"


@pytest.mark.parametrize("char", HIDDEN)
def test_a_page_says_what_it_wrote_out(printed: Path, char: str) -> None:
    """V6 In a text, a table or a line that a command forgot to take care of."""
    made = page.table("A", "B")
    made.add_row(page.text(f"one{char}two"), "plain")
    page.show(made)
    page.show(page.text("three").append(f"\nfour{char.replace(chr(0x1B), '')}five"))
    page.console().file.flush()

    found = printed.read_text()
    assert char == "\x1b" or char not in found
    assert f"{HIDDEN[char]}" in found
    assert f"written out: {HIDDEN[char]} " in found


def test_a_page_that_hides_nothing_says_nothing(printed: Path) -> None:
    """V6 The line stands only where there is something to say."""
    page.show(page.text(SHOWN), "")
    page.console().file.flush()

    assert "written out" not in printed.read_text()


def test_a_complaint_hides_nothing() -> None:
    """V6 A refusal repeats what was stored, or what a server said."""
    assert error_report(CommandError("no a\u202eb")) == "no a\\u202eb"


@pytest.fixture(scope="module")
def concord(signers: CommandLine) -> CommandLine:
    """The command line of both principals."""
    return signers


RAW = ("\u202e", "\u202c", "\u200b")


def test_what_is_signed_is_seen(concord: CommandLine, environ: dict[str, str]) -> None:
    """V6 Reversed words and a space without width: in the action, the bytes, and on a terminal."""
    words = "I always \u202erevewoh lie\u202c to Ada.\u200b"
    made = proposal(concord, "propose", "add", words, "--id", "hidden-creed", "--constitutive")
    number = str(made.number)
    reviewed = concord.done("review", number)
    as_json = concord.done("review", number, "--json")
    unseen = concord("approve", number, "--as", "agent")
    _, screen = typed(environ, ["n"], "approve", number, "--as", "agent")
    concord.done("withdraw", number)
    listed = proposal(concord, "propose", "set", "agent\u200b", "VALUES", "honesty")
    edge = concord.done("review", str(listed.number))

    for shown in (reviewed, as_json, unseen.output, screen, edge):
        assert not any(char in shown for char in RAW)
    assert reviewed.count("I always \\u202erevewoh lie\\u202c to Ada.\\u200b") == 4
    assert "\\u202e RIGHT-TO-LEFT OVERRIDE" in reviewed
    assert "\\u202e RIGHT-TO-LEFT OVERRIDE" in unseen.output
    assert "RIGHT-TO-LEFT OVERRIDE" in screen
    assert '"agent\\u200b"' in edge
    assert json.loads(as_json)["canonical"] == made.canonical.decode()


def test_what_was_stored_is_seen(concord: CommandLine) -> None:
    """V6 A memory's words, a node's name and an edge, wherever they are listed."""
    concord.done("add", "Say \u202eabc\u202c.", "--id", "stored")
    concord.done("link", "no\u200bde", "KNOWS", "other")
    pages = [
        concord.done(*words)
        for words in (
            *(("get", "stored"), ("list",), ("list", "--edges"), ("list", "--nodes")),
            *(("search", "abc"), ("history", "stored"), ("get", "stored", "--json")),
        )
    ]

    for shown in pages:
        assert not any(char in shown for char in RAW)
    assert "Say \\u202eabc\\u202c." in pages[0]
    assert all("written out" in shown for shown in pages[:4])


def test_what_was_proposed_is_read_back_as_it_is(concord: CommandLine) -> None:
    """V6 Escapes are for people: the reply holds the characters themselves."""
    made = concord.reply(
        proposal_pb2.CreateProposalResponse, "propose", "add", "a\u200b\U000e0041b"
    )

    assert made.proposal.action.add_memory.memory.content == "a\u200b\U000e0041b"
