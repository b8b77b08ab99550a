"""Decision records, daily notes and pages, as tools and people write them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.dates import instant_of
from concord_client.importers.markdown import read_markdown
from concord_client.importers.outcome import Draft

LONG = "Words about it. " * 150


def read(folder: Path, notes: Mapping[str, str]) -> dict[str, type_pb2.Memory]:
    """The memories of a folder with these notes, by external id."""
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    found = list(read_markdown(folder))
    assert all(isinstance(each, Draft) for each in found), found
    return {each.memory.external_id: each.memory for each in found if isinstance(each, Draft)}


def day(memory: type_pb2.Memory) -> str:
    """The day from which a memory holds; "" without one."""
    return memory.valid_from.ToJsonString()[:10] if memory.HasField("valid_from") else ""


@pytest.mark.parametrize(
    "written",
    [
        "Date: 2021-04-06",
        "* Date: 2021-04-06",
        "- **Date**: 6 April 2021",
        "**Date:** April 6, 2021",
        "| Date | 2021-04-06 |",
        "| Status | Date |\n|:---|---|\n| accepted | 2021-04-06 |",
        "Datum: 6. April 2021",
        "Created: April 6, 2021 10:30 AM",
    ],
)
def test_the_date_of_a_record_is_when_it_holds(tmp_path: Path, written: str) -> None:
    """W8 In a line, an item or a table of its beginning; not in code."""
    found = read(
        tmp_path,
        {
            "0001-ovens.md": f"# 1. Ovens\n\n{written}\n\n## Decision\n\nWe use gas.",
            "0002-code.md": f"# 2. Code\n\n```\n{written}\n```\n",
        },
    )

    assert day(found["0001-ovens.md"]) == "2021-04-06"
    assert not day(found["0002-code.md"])


PASSIVE = [
    "Superseded by [2. Wood](0002-wood.md)",
    "Superceded by [2. Wood](0002-wood.md)",
    "* Status: superseded by [ADR-0002](0002-wood.md)",
    "- **Status:** Replaced by ADR-0002",
    "Accepted, superseded by 0002",
    "~~Accepted~~ Superseded by #2",
    "| Status | Superseded by [[0002-wood]] |",
    "[Superseded by ADR 2](0002-wood.md)",
    "Superseded by\n\n[2. Wood](0002-wood.md)",
    "Superseded by:\n\n- [2. Wood](<0002-wood.md>)",
    "[2. Wood](0002-wood.md) supersedes this decision.",
    "ADR-2 has superseded this.",
]


@pytest.mark.parametrize("status", PASSIVE)
def test_a_record_says_what_replaced_it(tmp_path: Path, status: str) -> None:
    """W8 M3 With the link before, after or below the words, or the number alone; parts, too."""
    old = f"# 1. Ovens\n\n## Status\n\n{status}\n\n## Context\n\n{LONG}\n\n## Why\n\n{LONG}"
    found = read(tmp_path, {"0001-ovens.md": old, "0002-wood.md": "# 2. Wood\n\nWe use wood."})
    replaced = [each.id for name, each in found.items() if name.startswith("0001")]

    assert len(replaced) == 4
    links = ", ".join(f"[[memory:{each}]]" for each in replaced)
    assert found["0002-wood.md"].content == f"# 2. Wood\n\nWe use wood.\n\nSupersedes: {links}"


@pytest.mark.parametrize(
    ("newer", "older", "line"),
    [
        ("Supercedes [1. Ovens](0001-ovens.md)", "", "Supersedes"),
        ("Supersedes:\n- [1. Ovens](0001-ovens.md)", "", "Supersedes"),
        ("Replaces ADR-0001", "", "Supersedes"),
        ("Amends [1. Ovens](0001-ovens.md)", "", "Amends"),
        ("", "Amended by [2. Wood](0002-wood.md)", "Amends"),
        ("", "Deprecated by 0002", "Deprecates"),
    ],
)
def test_a_record_says_what_it_replaces(tmp_path: Path, newer: str, older: str, line: str) -> None:
    """W8 M3 As adr-tools writes it, and from either side."""
    found = read(
        tmp_path,
        {"0001-ovens.md": f"# 1. Ovens\n\n{older}\n", "0002-wood.md": f"# 2. Wood\n\n{newer}\n"},
    )
    ovens = found["0001-ovens.md"].id

    assert found["0002-wood.md"].content.splitlines()[-1] == f"{line}: [[memory:{ovens}]]"


@pytest.mark.parametrize(
    "text",
    [
        "> Superseded by [2. Wood](0002-wood.md)",
        "```\nSuperseded by [2. Wood](0002-wood.md)\n```",
        "It was not superseded by [2. Wood](0002-wood.md)",
        "See 2 for what supersedes this",
        "Superseded by 2024-01-02",
        "Replaced by 2 boats of wood.",
    ],
)
def test_what_only_talks_of_it_replaces_nothing(tmp_path: Path, text: str) -> None:
    """M3 B4 Quotations, code, and sentences that begin otherwise."""
    found = read(tmp_path, {"0001-a.md": text, "0002-wood.md": "# 2. Wood\n\nWe use wood."})

    assert "memory:" not in found["0002-wood.md"].content


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("status: superseded by ADR-0002", "Supersedes"),
        ("superseded-by: [2. Wood](0002-wood.md)", "Supersedes"),
        ('superseded_by: "[[0002-wood]]"', "Supersedes"),
        ("amended by: 0002-wood", "Amends"),
    ],
)
def test_front_matter_says_what_replaced_it(tmp_path: Path, front: str, line: str) -> None:
    """W8 M3 By number, link or name, in a key of its own or the status."""
    found = read(tmp_path, {"0001-a.md": f"---\n{front}\n---\nGas.", "0002-wood.md": "# Wood"})

    assert found["0002-wood.md"].content == (
        f"# Wood\n\n{line}: [[memory:{found['0001-a.md'].id}]]"
    )


def test_the_first_heading_is_the_title(tmp_path: Path) -> None:
    """W8 For links, facts and parts; the file's name is one where there is no such heading."""
    found = read(
        tmp_path,
        {
            "a1.md": "# The old oven\n\nIt is of clay: [[b2]].",
            "b2.md": f"# Long\n\nIntro.\n\n## One\n\n{LONG}\n\n## Two\n\n{LONG}",
            "Bread of 2024.md": f"## One\n\n{LONG}\n\n## Two\n\n{LONG}",
            "c.md": "See [[The old oven]].",
        },
    )

    assert found["a1.md"].content.startswith("# The old oven\n\nIt is")
    assert found["a1.md"].facts[0].subject == "The old oven"
    assert found["a1.md"].facts[0].object == "Long"
    assert f"[[memory:{found['a1.md'].id}|The old oven]]" in found["c.md"].content
    assert found["b2.md"].content == "# Long\n\nIntro.\n\nParts: One; Two"
    assert found["b2.md#One"].content.startswith("# Long › One\n\nWords")
    assert found["Bread of 2024.md"].content == "# Bread of 2024\n\nParts: One; Two"
    assert found["Bread of 2024.md#Two"].content.startswith("# Bread of 2024 › Two\n\n")


@pytest.mark.parametrize(
    ("name", "text", "date", "is_daily"),
    [
        ("2024-03-05.md", "We baked.", "2024-03-05", True),
        ("journals/2024_03_05.md", "- We baked.", "2024-03-05", True),
        ("20240305.md", "We baked.", "2024-03-05", True),
        ("March 5, 2024.md", "We baked.", "2024-03-05", True),
        ("x.md", "# Tuesday, 5 March 2024\n\nWe baked.", "2024-03-05", True),
        ("5. März 2024.md", "Wir buken.", "2024-03-05", True),
        ("2024-03-05 Bread.md", "We baked.", "2024-03-05", False),
        ("202403051230 Bread.md", "We baked.", "2024-03-05", False),
        ("x.md", "---\nid: 202403051230\n---\nWe baked.", "2024-03-05", False),
        ("3.1.4.md", "A version.", "", False),
        ("2024.md", "A year.", "", False),
    ],
)
def test_a_daily_note_is_of_its_day(
    tmp_path: Path, name: str, text: str, date: str, is_daily: bool
) -> None:
    """W8 By its name or title, also Logseq's journals; an id of a Zettel is its time."""
    (memory,) = read(tmp_path, {name: text}).values()

    assert day(memory) == date
    assert (memory.kind == type_pb2.MEMORY_KIND_JOURNAL) is is_daily


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("March 5, 2024", "2024-03-05T00:00"),
        ("Mar 5th, 2024", "2024-03-05T00:00"),
        ("5 March 2024 at 16:30", "2024-03-05T16:30"),
        ("before March 5, 2024", ""),
        ("5th of March 2024", "2024-03-05T00:00"),
        ("5. März 2024", "2024-03-05T00:00"),
        ("Dienstag, 5. März 2024, 16:30 Uhr", "2024-03-05T16:30"),
        ("5 de marzo de 2024", "2024-03-05T00:00"),
        ("@March 5, 2024 4:30 PM (GMT+1)", "2024-03-05T16:30"),
        ("March 5, 2024 → March 7, 2024", "2024-03-05T00:00"),
        ("March 35, 2024", ""),
        ("Maple 5, 2024", ""),
    ],
)
def test_dates_in_words(text: str, time: str) -> None:
    """W8 In English, German, French and Spanish, with a clock, and as Notion writes them."""
    found = instant_of(text)

    assert (found.isoformat()[:16] if found else "") == time


def test_pages_and_links_of_other_tools(tmp_path: Path) -> None:
    """W8 M3 Namespaces, Logseq's properties, targets with brackets or a title, labels with them."""
    found = read(
        tmp_path,
        {
            "pages/Plans___Bread.md": "title:: Plans/Bread\ntags:: rye, [[mill]]\n"
            "mood:: good\nWe plan.",
            "Bread.md": "Another one.",
            "ovens (old).md": "Clay.",
            "n.md": '[[Plans/Bread]] [[Nowhere/Bread]] [a [b]](<ovens (old).md> "of clay") '
            "[c](ovens%20(old).md 'so')",
        },
    )
    plan, ovens = (found[each] for each in ("pages/Plans___Bread.md", "ovens (old).md"))

    assert plan.content == "# Plans/Bread\n\nWe plan."
    assert list(plan.tags) == ["rye", "mill"]
    assert plan.properties["mood"] == "good"
    assert found["n.md"].content == (
        f"# n\n\n[[memory:{plan.id}|Plans/Bread]] [[Nowhere/Bread]] "
        f"[[memory:{ovens.id}|a (b)]] \"of clay\" [[memory:{ovens.id}|c]] 'so'"
    )


def test_a_part_that_is_cut_by_length_has_its_own_heading(tmp_path: Path) -> None:
    """W8 Numbered, and underlined headings begin parts, too."""
    text = "\n\n".join([LONG] * 6)
    found = read(tmp_path, {"n.md": f"One\n---\n\n{text}\n\nTwo\n---\n\n{LONG} end"})

    assert [*found] == ["n.md", "n.md#One", "n.md#One (2)", "n.md#Two"]
    assert found["n.md"].content == "# n\n\nParts: One; One (2); Two"
    assert found["n.md#One (2)"].content.startswith("# n › One (2)\n\nWords")
    assert found["n.md#Two"].content.endswith(" end")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "line",
    [
        *("-" * 100_000, "| " * 50_000, "status" + " |" * 50_000, "date:" + " " * 100_000 + "x"),
        *("[" * 50_000, "[a](" * 20_000, "1, " * 30_000, "a" * 100_000, "a " * 50_000),
        *("---\na: [\nb" + " " * 60_000 + "\n---", "+++\n" * 20_000, "a:: \n" * 20_000),
    ],
)
def test_no_line_takes_long(tmp_path: Path, line: str) -> None:
    """W8 However long a line of signs is, reading it takes no time that grows with its square."""
    (tmp_path / "n.md").write_text(f"{line}\n\n{line}", "utf-8")

    assert list(read_markdown(tmp_path))
