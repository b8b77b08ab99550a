import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from concord_graph.adapters.markdown.links import parse_links
from concord_graph.domain.links import (
    ID_PATTERN,
    Link,
    MalformedLink,
    Voice,
    WrittenLink,
    is_memory_id,
    meant_links,
)
from hypothesis import given
from hypothesis import strategies as st

WRITTEN = Voice.WRITTEN
CASES = yaml.safe_load((Path(__file__).parent / "cases" / "links.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_content_makes_its_links(case: dict[str, Any]) -> None:
    """M3 Links in content, by the table in cases/links.yaml."""
    if "malformed" in case:
        with pytest.raises(MalformedLink) as caught:
            meant_links(parse_links(case["content"]), WRITTEN)
        assert caught.value.link == case["malformed"]
        return

    expected = tuple(Link(*pair.split(" ")) for pair in case["links"])

    assert expected == meant_links(parse_links(case["content"]), WRITTEN)


@pytest.mark.parametrize("memory_id", ["a", "0", "a.b/c-d_e", "x" * 128])
def test_ids_that_a_caller_may_choose(memory_id: str) -> None:
    """M3 Ids of 1 to 128 characters, with dots, slashes, dashes and underscores inside."""
    assert is_memory_id(memory_id)
    (written,) = parse_links(f"Supersedes: [[memory:{memory_id}]]")
    assert written.meant(WRITTEN) == Link("SUPERSEDES", memory_id)


@pytest.mark.parametrize("memory_id", ["", "x" * 129, ".a", "a/", "a b", "a\n", "a#b", "ä", "a|b"])
def test_ids_that_a_caller_may_not_choose(memory_id: str) -> None:
    """M3 What a link could not name unambiguously is no id."""
    assert not is_memory_id(memory_id)


def test_a_malformed_link_is_quoted_in_part_only() -> None:
    """M3 The error names the link, cut to 200 characters."""
    with pytest.raises(MalformedLink) as caught:
        meant_links(parse_links(f"Amends [[memory:{'ä' * 5000}]]"), WRITTEN)

    assert len(caught.value.link) == 200


WORDS = ["Supersedes", "superseded by", "amends", "not", "no longer", "but", "n't", "word", "ist"]
WORDS += ["if", "might", "does", "the", "A", "relation", "?"]
LINKS = ["[[memory:a]]", "[[memory:]]", "[[Memory:b|x]]", "[[memory:c#h]]", "[[", "]]", "memory:"]
MARKS = [
    "`",
    "```\n",
    "<!--",
    "-->",
    "\\",
    "*",
    "_",
    "> ",
    "- ",
    "# ",
    "(",
    "&",
    "<div>",
    "|",
    "1. ",
]
GAPS = [
    "\n",
    "\n\n",
    "    ",
    "\r",
    "\x00",
    "\u2028",
    "\ufffc",
    "\t",
    " ",
    ":",
    ",",
    ". ",
    "http://",
]
PIECES = st.sampled_from([*WORDS, *LINKS, *MARKS, *GAPS])


@pytest.mark.parametrize("voice", Voice)
@given(content=st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
def test_any_content_gives_links_or_one_typed_error(voice: Voice, content: str) -> None:
    """M3 Whatever the content, links are valid and distinct, or the failure is MalformedLink; what
    is stored from elsewhere has neither lineage nor failures."""
    written = parse_links(content)
    try:
        links = meant_links(written, voice)
    except MalformedLink:
        assert voice is not Voice.STORED
        return

    assert len(links) == len(set(links))
    assert all(re.fullmatch(ID_PATTERN, link.target_id) for link in links)
    assert all(f"{link.target_id}" in content.replace("\\", "") for link in links)
    if voice is Voice.STORED:
        assert {link.relation for link in links} <= {"RELATED_TO"}
    if voice is Voice.IMPORTED:
        assert {*links} <= {*_meant(written, WRITTEN)} | {*_meant(written, Voice.STORED)}


def _meant(written: Sequence[WrittenLink], voice: Voice) -> list[Link | None]:
    return [each.meant(voice) for each in written if not each.malformed]


HOSTILE = [
    *("[", "[[", "[[memory:", "[[memory:a]] ", "[[memory:|", "]", "[[ ", " [[memory", "|a", "]("),
    *("`", "``` ", "` ", "```a`", "[[memory:a]]`", "<!--", "<!-- ", "<!-- -->", "<!-- a\n\n", "<"),
    *("<a ", "<?", "<![CDATA[", "<div>\n", "*", "_ ", "**a ", "\\", "> ", ">", "- ", "1. ", "- - "),
    *(
        "supersedes ",
        "not supersedes ",
        "supersedes [[memory:a]] ",
        "if supersedes [[memory:a]]? ",
        "a? ",
        "a-",
        "a'",
        "x: ",
        "&amp;",
        "![",
    ),
    *(
        "\n",
        "#",
        "\t",
        "[[memory:a]]\n",
        "___\n",
        "=\n",
        "a\n=\n",
        "* a\n",
        "> a\n",
        "  - a\n",
        "1)\n",
    ),
]


@pytest.mark.parametrize("start", ["[[memory:x]] ", "[[memory:x]]\n\n"], ids=["line", "block"])
@pytest.mark.parametrize("unit", HOSTILE)
def test_the_longest_content_costs_milliseconds(start: str, unit: str) -> None:
    """M3 Time grows with the length of the content, also for hostile runs (20,000 characters)."""
    content = start + unit * (20_000 // len(unit))
    begin = time.process_time()  # whatever else the machine does
    parse_links(content)
    taken = time.process_time() - begin

    assert taken < 2, f"{taken:.2f} s"
