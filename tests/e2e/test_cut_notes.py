"""Long notes that an importer cuts: no piece says to graph what the note does not."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from concord_client.importers.markdown import read_markdown
from concord_client.importers.outcome import Draft
from concord_graph.adapters.markdown.links import parse_links
from concord_graph.domain.links import RELATED_TO, Voice


def read(folder: Path, notes: Mapping[str, str]) -> list[str]:
    """The texts of a folder with these notes."""
    for name, text in notes.items():
        (folder / name).write_text(text, "utf-8")
    return [each.memory.content for each in read_markdown(folder) if isinstance(each, Draft)]


def acting(text: str) -> list[str]:
    """The relations that graph reads in an imported text."""
    links = [each.meant(Voice.IMPORTED) for each in parse_links(text)]
    return [each.relation for each in links if each and each.relation != RELATED_TO]


LINK = "Supersedes: [[memory:other]]"
CUT = {
    "code": "```\n" + "a line of code\n" * 1_200 + f"{LINK}\n```",
    "lazy quotation": "> " + "quoted words\n" * 1_200 + LINK,
    "comment": "<!--\n" + "words aside\n" * 1_200 + f"{LINK}\n-->",
    "within a line": "x" * 22_000 + f"{LINK} said nobody",
    "within a word": "x" * 21_997 + f" not{LINK} said nobody",
    "code after words": "Words.\n\n~~~ py\n" + "a = 1\n\n" * 2_500 + f"{LINK}\n~~~",
}


@pytest.mark.parametrize("body", CUT.values(), ids=CUT.keys())
def test_a_cut_makes_no_words_act(tmp_path: Path, body: str) -> None:
    """M3 W8 A piece of code, a quotation, a comment or a line stays one, and no word is lost."""
    found = read(tmp_path, {"n.md": f"# T\n\n{body}"})
    whole = "".join(found)

    assert len(found) > 1
    assert all(len(each) <= 20_000 for each in found)
    assert any(LINK in each for each in found)
    assert not any(map(acting, found))
    assert whole.count("a line of code") == body.count("a line of code")
    assert whole.count("x") >= body.count("x")


def test_a_line_of_a_long_note_acts(tmp_path: Path) -> None:
    """M3 What begins a line of a long note is lineage in its piece, too."""
    found = read(tmp_path, {"n.md": "# T\n\n" + "Words about it.\n\n" * 800 + LINK})

    assert ["SUPERSEDES"] in [*map(acting, found)]


def test_an_item_within_a_comment_is_none(tmp_path: Path) -> None:
    """M3 W8 A comment in an agent's memory file is no list of items."""
    found = read(tmp_path, {"MEMORY.md": f"# M\n\n- Tea.\n\n<!--\n- {LINK}\n-->\n"})

    assert not any(map(acting, found))
