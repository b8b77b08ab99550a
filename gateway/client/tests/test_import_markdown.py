import os
import unicodedata
from pathlib import Path

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.markdown import read_markdown
from concord_client.importers.outcome import MAX_ITEM_BYTES, Defect, Draft, LeftOut
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def write(folder: Path, name: str, text: str | bytes) -> None:
    """Write a file of the folder, with the folders around it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def only(folder: Path) -> type_pb2.Memory:
    """Return the one draft of the folder."""
    (item,) = (each for each in read_markdown(folder) if not isinstance(each, LeftOut))
    assert isinstance(item, Draft), item
    return item.memory


def defect_of(folder: Path) -> Defect:
    """Return the one defect of the folder."""
    (item,) = read_markdown(folder)
    assert isinstance(item, Defect), item
    return item


def test_front_matter_and_body_make_a_memory(tmp_path: Path) -> None:
    """M1 M6 Each key finds its field, others are properties; the body stands under its title."""
    write(
        tmp_path,
        "notes/plan.md",
        """\ufeff---
id: plan-2
title: The plan
kind: Plan
domain: work.billing
tags: [billing, "#q3", 2026]
concepts: invoices, dunning
importance: high
valid_from: 2026-01-01
valid_until: 2026-06-30T12:00:00+02:00
external_id: vault:plan
supersedes: [plan-1, "[[memory:old/plan.v0|old]]"]
amends: plan-0, memory:plan-a#x
aliases: [The plan, 2026]
status: open
votes: 3
zip: 01234
reviewed: 2026-01-02
nothing:
links: {7: true}
---

We bill monthly.
""",
    )
    expected = type_pb2.Memory(
        id="plan-2",
        content="# The plan\n\nWe bill monthly.\n\n"
        "Supersedes: [[memory:plan-1]], [[memory:old/plan.v0]]\n"
        "Amends: [[memory:plan-0]], [[memory:plan-a]]",
        kind=type_pb2.MEMORY_KIND_PLAN,
        domain="work.billing",
        tags=["billing", "q3", "2026"],
        concepts=["invoices", "dunning", "The plan", "2026"],
        importance=type_pb2.IMPORTANCE_HIGH,
        external_id="vault:plan",
        sources=[type_pb2.Source(file="notes/plan.md")],
    )
    expected.properties.update(
        {
            "status": "open",
            "votes": 3,
            "zip": "01234",
            "reviewed": "2026-01-02",
            "links": {"7": True},
        }
    )
    expected.valid_from.FromJsonString("2026-01-01T00:00:00Z")
    expected.valid_until.FromJsonString("2026-06-30T10:00:00Z")

    assert expected == only(tmp_path)


@pytest.mark.parametrize("own", ["0001", "1_000", "2026-1-2", "1e3"])
def test_an_id_is_taken_as_it_is_written(tmp_path: Path, own: str) -> None:
    """M6 YAML reads these as numbers and dates: `0001` became a link to `1`."""
    write(tmp_path, "a.md", f"---\nid: {own}\nsupersedes: {own}\namends: [{own}]\n---\nBody")

    memory = only(tmp_path)

    assert memory.id == own
    assert memory.content.endswith(f"Supersedes: [[memory:{own}]]\nAmends: [[memory:{own}]]")


def test_front_matter_states_facts(tmp_path: Path) -> None:
    """M1 M6 What a note says that it states is not lost on the way."""
    write(tmp_path, "a.md", '---\nfacts: ["Ada | LIVES_IN | Bremen, DE", Ada|IS|glad]\n---\nBody')
    write(tmp_path, "b.md", "---\nfacts: Bo|IS|glad\n---\nBody")
    first, second = (item.memory for item in read_markdown(tmp_path) if isinstance(item, Draft))

    assert list(first.facts) == [
        type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Bremen, DE"),
        type_pb2.Fact(subject="Ada", relation="IS", object="glad"),
    ]
    assert list(second.facts) == [type_pb2.Fact(subject="Bo", relation="IS", object="glad")]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Just text.\r\nTwo lines.\r\n", "Just text.\nTwo lines."),
        ("---\ntitle: Same\n---\n# Same\n\nBody", "# Same\n\nBody"),
        ("---\ntitle: Only a title\n---\n", "# Only a title"),
        ("---\n---\nBody", "Body"),
        ("---\n# a comment\n...\nBody", "Body"),
        ("---\nnever closed", "---\nnever closed"),
        ("Text\n---\nid: no\n---\n", "Text\n---\nid: no\n---"),
        ("A link Supersedes: [[memory:a]]", "A link Supersedes: [[memory:a]]"),
        ("---\nsupersedes: [[memory:a]]\n---\n", "Supersedes: [[memory:a]]"),
        ("---\nsupersedes: []\n---\nBody", "Body"),
        (
            "---\nsupersedes: a\n---\n```\ncode\n````\n<!-- x -->\n~~~ x\n```\n~~~",
            "```\ncode\n````\n<!-- x -->\n~~~ x\n```\n~~~\n\nSupersedes: [[memory:a]]",
        ),
    ],
)
def test_the_body_becomes_the_content(tmp_path: Path, text: str, content: str) -> None:
    """M6 Front matter is taken off where it is some, and the rest stays as it is."""
    write(tmp_path, "a.md", text)

    titled = content if content.startswith("#") else f"# a\n\n{content}"
    assert titled == only(tmp_path).content
    assert only(tmp_path).external_id == "a.md"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "the content is empty"),
        (b"x" * (MAX_ITEM_BYTES + 1), 0, "the file has 1048577 bytes, at most 1048576"),
        (b"good\nbad \xff\n", 2, "not UTF-8"),
    ],
)
def test_a_bad_file_is_told_and_the_others_are_read(
    tmp_path: Path, text: str | bytes, line: int, reason: str
) -> None:
    """M6 One defect with file, line and reason; the files around it are drafts."""
    write(tmp_path, "a.md", "good")
    write(tmp_path, "sub/b.md", text)
    write(tmp_path, "z.md", "good")
    first, defect, last = read_markdown(tmp_path)

    assert isinstance(first, Draft)
    assert isinstance(last, Draft)
    assert isinstance(defect, Defect)
    assert (defect.file, defect.line) == ("sub/b.md", line)
    assert defect.reason.startswith(reason)


def test_files_come_in_one_order(tmp_path: Path) -> None:
    """M6 Depth first by name; hidden names and other files are left out."""
    for name in ["b.md", "a/z.md", "a/B.MARKDOWN", "Z.MD", ".hidden/x.md", ".x.md", "image.png"]:
        write(tmp_path, name, "text")

    items = list(read_markdown(tmp_path))

    assert [item.file for item in items if isinstance(item, Draft)] == [
        *("Z.MD", "a/B.MARKDOWN", "a/z.md", "b.md")
    ]
    assert [item for item in items if not isinstance(item, Draft)] == [
        LeftOut("hidden file or folder", "", ".hidden"),
        LeftOut("hidden file or folder", "", ".x.md"),
        LeftOut("file that is no Markdown", "", "image.png"),
    ]


def test_symbolic_links_that_go_round_are_defects(tmp_path: Path) -> None:
    """M6 A link to a folder around it, to itself, to nothing or outside; others are followed."""
    root = tmp_path / "vault"
    write(root, "deep/note.md", "text")
    write(tmp_path, "secret.md", "outside")
    (root / "deep" / "round").symlink_to(root, target_is_directory=True)
    (root / "self.md").symlink_to(root / "self.md")
    (root / "lost.md").symlink_to(root / "nowhere.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "up").symlink_to(tmp_path, target_is_directory=True)
    (root / "twin.md").symlink_to(root / "deep" / "note.md")
    items = {item.file: item for item in read_markdown(root)}
    reasons = {name: item.reason for name, item in items.items() if isinstance(item, Defect)}

    assert reasons == {
        "deep/round": "a symbolic link that leads back to a folder around it",
        "self.md": "a symbolic link that leads nowhere, or in a circle",
        "lost.md": "a symbolic link that leads nowhere, or in a circle",
        "out.md": "a symbolic link that leads out of the folder",
        "up": "a symbolic link that leads out of the folder",
    }
    assert set(items) - set(reasons) == {"deep/note.md", "twin.md"}


def test_what_is_no_file_is_a_defect(tmp_path: Path) -> None:
    """M6 A pipe does not block, a name that is not UTF-8 is told readably."""
    os.mkfifo(tmp_path / "pipe.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/n\xe4me.md")).write_text("text")
    reasons = {
        item.file: item.reason for item in read_markdown(tmp_path) if isinstance(item, Defect)
    }

    assert reasons == {"n?me.md": "the name is not UTF-8", "pipe.md": "not a regular file"}


def test_a_missing_folder_is_one_defect(tmp_path: Path) -> None:
    """M6 A folder that is not there is told, not raised."""
    assert defect_of(tmp_path / "none") == Defect(str(tmp_path / "none"), 0, "no such folder")


def test_a_file_alone_is_read(tmp_path: Path) -> None:
    """W8 A single .md, by its name."""
    write(tmp_path, "Harbour.md", "The crane is out of order.")
    (item,) = read_markdown(tmp_path / "Harbour.md")

    assert isinstance(item, Draft)
    assert item.memory.content == "# Harbour\n\nThe crane is out of order."


def drafts(folder: Path) -> dict[str, type_pb2.Memory]:
    """Return the drafts' memories by external id."""
    found = list(read_markdown(folder))
    assert all(isinstance(each, Draft) for each in found), found
    return {each.memory.external_id: each.memory for each in found if isinstance(each, Draft)}


def test_links_between_notes_become_links_and_facts(tmp_path: Path) -> None:
    """W8 M3 By file name, path, title, alias or Markdown link; not in code, not to attachments."""
    linked = (
        "See [[Harbour]], [[people/ada|her]], [[Old Pier#x]], [b](sub/b%20c.md) and [[Nowhere]]."
    )
    code = "![[map.png]] `[[Harbour]]`\n```\n[[Harbour]]\n```\n[[a]]"
    write(tmp_path, "a.md", f"{linked}\n{code}")
    write(tmp_path, "places/Harbour.md", "---\naliases: [Old Pier]\n---\n")
    write(tmp_path, "people/ada.md", "---\ntitle: Ada Lovelace\n---\nShe.")
    write(tmp_path, "sub/b c.md", "Body")
    found = drafts(tmp_path)
    harbour, ada, other = (
        found[name].id for name in ("places/Harbour.md", "people/ada.md", "sub/b c.md")
    )

    assert found["a.md"].content == (
        f"# a\n\nSee [[memory:{harbour}|Harbour]], [[memory:{ada}|her]], "
        f"[[memory:{harbour}|Old Pier#x]], [[memory:{other}|b]] and [[Nowhere]].\n"
        f"{code}"
    )
    assert {(fact.subject, fact.relation, fact.object) for fact in found["a.md"].facts} == {
        ("a", "RELATED_TO", other) for other in ("Harbour", "Ada Lovelace", "b c", "Nowhere")
    }
    assert found["places/Harbour.md"].content == "# Harbour"


def test_lineage_names_notes(tmp_path: Path) -> None:
    """W8 M3 In front matter, by status and on a line; numbers such as 0001 are kept."""
    write(tmp_path, "0001-mail.md", "---\nid: 0001\nstatus: superseded by [[0002]]\n---\nMail.")
    write(tmp_path, "0002.md", "---\ndate: 2024-03-01\namends: Old plan\n---\nChat.")
    write(tmp_path, "Old plan.md", "---\ncreated: 12.03.2023\nstatus: done\n---\nText.")
    write(tmp_path, "new.md", "This supersedes [[Old plan]].")
    found = drafts(tmp_path)
    old = found["Old plan.md"].id

    assert found["0001-mail.md"].id == "0001"
    assert found["0002.md"].content.endswith(
        f"Supersedes: [[memory:0001]]\nAmends: [[memory:{old}]]"
    )
    assert found["0002.md"].valid_from.ToJsonString() == "2024-03-01T00:00:00Z"
    assert found["Old plan.md"].valid_from.ToJsonString() == "2023-03-12T00:00:00Z"
    assert found["Old plan.md"].properties["status"] == "done"
    assert found["new.md"].content.endswith(f"This supersedes [[memory:{old}|Old plan]].")


def test_a_status_in_the_body_replaces_a_note_and_its_parts(tmp_path: Path) -> None:
    """W8 M3 As tools for decision records write it; what code shows is no status."""
    long = "Words about it. " * 150
    status = "## Status\n\nSuperseded by [2. Chat](<0002 chat.md>)"
    write(
        tmp_path, "0001-mail.md", f"# Mail\n\n{status}\n\n## Context\n\n{long}\n\n## Why\n\n{long}"
    )
    write(tmp_path, "0003.md", "```\nSuperseded by [[0002 chat]]\n```")
    write(tmp_path, "0002 chat.md", "Chat.")
    found = drafts(tmp_path)
    replaced = [each for name, each in found.items() if name.startswith("0001")]

    assert len(replaced) > 2
    links = ", ".join(f"[[memory:{each.id}]]" for each in replaced)
    assert found["0002 chat.md"].content == f"# 0002 chat\n\nChat.\n\nSupersedes: {links}"


def test_what_others_say_of_a_note_replaces_nothing(tmp_path: Path) -> None:
    """M3 "Superseded by" in a quotation or in code is nobody's word about this note."""
    write(tmp_path, "old.md", "> Superseded by [[new]]\n\n`Superseded by [[new]]`\n\n"
          "```\nSuperseded by [[new]]\n```\n> > Status: superseded by [[new]]")  # fmt: skip
    write(tmp_path, "new.md", "It is new.")
    write(tmp_path, "own.md", "**Superseded by [[other]]**")
    write(tmp_path, "other.md", "It is other.")
    found = drafts(tmp_path)

    assert found["new.md"].content == "# new\n\nIt is new."
    assert found["other.md"].content.endswith(f"Supersedes: [[memory:{found['own.md'].id}]]")


def test_names_are_read_as_people_type_them(tmp_path: Path) -> None:
    """W8 A file of a Mac, whose name is decomposed, is linked to; so is one in angle brackets."""
    write(tmp_path, unicodedata.normalize("NFD", "Jörg Müller.md"), "He.")
    write(tmp_path, "a.md", "[[Jörg Müller]] and [him](<Jörg Müller.md#x>)")
    found = drafts(tmp_path)
    him = found["Jörg Müller.md"].id

    assert found["a.md"].content == (
        f"# a\n\n[[memory:{him}|Jörg Müller]] and [[memory:{him}#x|him]]"
    )


def test_a_daily_note_holds_from_its_day(tmp_path: Path) -> None:
    """W8 The date of its name, unless it states one; a date that is none is a text."""
    write(tmp_path, "2026-01-05 Talk.md", "We talked.")
    write(tmp_path, "2026-01-06.md", "---\ndate: 2026-01-07\n---\nx")
    write(tmp_path, "2026-02-30.md", "---\nbirthday: 1980-02-30\n---\nx")
    write(tmp_path, "2026-01-0512.md", "x")
    found = drafts(tmp_path)

    assert found["2026-01-05 Talk.md"].valid_from.ToJsonString() == "2026-01-05T00:00:00Z"
    assert found["2026-01-06.md"].valid_from.ToJsonString() == "2026-01-07T00:00:00Z"
    assert not found["2026-02-30.md"].HasField("valid_from")
    assert found["2026-02-30.md"].properties["birthday"] == "1980-02-30"
    assert not found["2026-01-0512.md"].HasField("valid_from")


def test_a_long_note_is_split_at_its_headings(tmp_path: Path) -> None:
    """W8 Under one parent; each part has its title and way, its links, the note's tags."""
    long = "Words about it. " * 150
    body = f"Intro.\n\n## One\n\n{long}\n\n## Two\n\n### Deep\n\n{long} [[x]]\n\n### Deep\n\n{long}"
    write(tmp_path, "n.md", f"---\ntags: t\nstatus: open\n---\n{body}\n\n```\n## no heading\n```")
    found = drafts(tmp_path)
    whole = found["n.md"]
    parts = {name: memory for name, memory in found.items() if name != "n.md"}

    assert whole.content == "# n\n\nIntro.\n\nParts: One; Two › Deep; Two › Deep"
    assert [*parts] == ["n.md#One", "n.md#Two › Deep", "n.md#Two › Deep/2"]
    assert all(part.sources[0].memory_ids == [whole.id] for part in parts.values())
    assert all(part.tags == ["t"] for part in parts.values())
    assert parts["n.md#Two › Deep"].content.startswith("# n › Two › Deep\n\nWords")
    assert parts["n.md#Two › Deep"].facts[0].object == "x"
    assert drafts(tmp_path) == found


def test_a_long_text_without_headings_is_cut(tmp_path: Path) -> None:
    """W8 No part is longer than a memory may be."""
    write(tmp_path, "n.md", "x" * 50_000)

    assert sum(each.content.count("x") for each in drafts(tmp_path).values()) == 50_000


PIECES = st.sampled_from(
    """
    --- id: title: kind: tags: supersedes: valid_from: [ ] { } : - " ' & * ! | > # ? 2026-01-01
    fact a b ... ``` <!-- \\ud800 1e999 .inf !!binary !!set << @ ` % 0x 1:2 ~ null
    """.split()  # noqa: SIM905 - a list of signs reads as such
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary().map(lambda raw: b"---\n" + raw + b"\n---\nx"),
        st.lists(st.one_of(PIECES, st.sampled_from(["\n", " ", ", "]))).map(
            lambda pieces: ("---\n" + "".join(pieces) + "\n---\nx").encode()
        ),
    )
)
def test_any_file_is_a_draft_or_a_defect(tmp_path: Path, text: bytes) -> None:
    """M6 Whatever a file holds, reading it raises nothing."""
    (tmp_path / "a.md").write_bytes(text)
    (item,) = (each for each in read_markdown(tmp_path) if not isinstance(each, LeftOut))

    assert not isinstance(item, Draft) or item.memory.content
