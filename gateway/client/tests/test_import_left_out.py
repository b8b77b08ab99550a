"""What used to be lost on import with "0 errors", kind by kind, and what the command says of it."""

import json
from pathlib import Path

import pytest
from concord_client.importers.form import Format
from concord_client.importers.formats import read
from concord_client.importers.outcome import Defect, Draft, LeftOut
from concord_testing.command_line import CommandLine, Unique
from google.protobuf.json_format import MessageToDict


def written(folder: Path, name: str, text: str) -> Path:
    """A file of this text."""
    path = folder / name
    path.write_text(text, "utf-8", newline="")
    return path


def drafts(path: Path) -> list[Draft]:
    """The drafts of a file without defects."""
    found = list(read(path, Format.AUTO))
    assert not any(isinstance(each, Defect) for each in found), found
    return [each for each in found if isinstance(each, Draft)]


def left_out(path: Path) -> list[tuple[str, str]]:
    """Kind and text of each part that is left out."""
    found = read(path, Format.AUTO)
    return [(each.kind, each.text) for each in found if isinstance(each, LeftOut)]


@pytest.mark.parametrize(
    "form", ["{day}/04/2024, 09:1{minute} - ", "[{day}.04.2024, 09:1{minute}:30] "]
)
@pytest.mark.parametrize(
    ("name", "speaker"),
    [
        ("Mia & Jon", "Mia & Jon"),
        ("Ito, the baker", "Ito, the baker"),
        ("Rosa 🌵🌵", "Rosa 🌵🌵"),
        ("👩‍🌾", "👩‍🌾"),
        ("\u202a+31 6 00000000\u202c", "+31 6 00000000"),
        ("~\u202fLena | Bakery", "~\u202fLena | Bakery"),
        ('Tom "Oven" Baker', 'Tom "Oven" Baker'),
        ("\u200fנועה", "נועה"),
        (
            "The bakers of the old street (mornings only)",
            "The bakers of the old street (mornings only)",
        ),
    ],
)
def test_names_of_a_messenger_hold_any_sign(
    tmp_path: Path, form: str, name: str, speaker: str
) -> None:
    """W8 After a sure time, all before the first colon is the name."""
    first, second = (form.format(day="02", minute=minute) for minute in (1, 2))
    path = written(tmp_path, "t.txt", f"{first}Mia: Is it open?\n{second}{name}: Until six: yes.\n")
    turns = [each.memory for each in drafts(path)]

    assert [each.content for each in turns] == ["Is it open?", "Until six: yes."]
    assert turns[1].sources[0].speaker == speaker


def test_notices_and_pictures_are_listed(tmp_path: Path) -> None:
    """W8 Nobody said them, but each is counted; a subject with a colon makes nobody a speaker."""
    day = "02/04/2024, 09:1"
    notice = f'{day}2 - Mia changed the subject from "Bread: white" to "Rye"'
    path = written(
        tmp_path,
        "t.txt",
        f"{day}1 - Mia: Hi.\n{notice}\n{day}3 - Mia & Jon: <Media omitted>\n{day}4 - Mia: Bye.\n",
    )

    assert [each.memory.content for each in drafts(path)] == ["Hi.", "Bye."]
    assert left_out(path) == [
        ("notice of the messenger", notice),
        (
            "picture or recording that was not exported",
            "[02/04/2024 09:13] Mia & Jon: <Media omitted>",
        ),
    ]


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ('note,tags\n"A ""rye"" loaf, cut",bread\nplain,x\n', 'A "rye" loaf, cut'),
        ('note,tags\nplain,x\n"A \\"rye\\" loaf, cut",bread\n', 'A "rye" loaf, cut'),
        ('note; tags, kinds\n"A; loaf";"x"\n', "A; loaf"),
        ('note, tags\n"A, loaf", "x"\n', "A, loaf"),
        ("note\nA loaf, cut; twice\n", "A loaf, cut; twice"),
        ("note,tags\nA\u2028loaf\x0bcut,x\n", "A\u2028loaf\x0bcut"),
        ('note,tags\n5" of rye,x\n', '5" of rye'),
        ('note,path\nA loaf,"C:\\bread\\"\n', "A loaf"),
    ],
)
def test_a_table_is_read_by_its_rows(tmp_path: Path, table: str, cells: str) -> None:
    """W8 Its header alone says neither how quotes are written nor what parts the cells."""
    path = written(tmp_path, "t.csv", table)

    assert cells in [each.memory.content for each in drafts(path)]
    assert left_out(path) == []


@pytest.mark.parametrize(
    ("table", "remembered", "lost"),
    [
        ('Name,Message\nMia,"one"\nJon,"two" x\nRosa,three\n', ["one", "three"], ['Jon,"two" x\n']),
        ('content\none\n"two\nthree\n', ["one", "three"], ['"two\n']),
        ('content;note\none;a\n"two" b;c\n', ["one"], ['"two" b;c\n']),
    ],
)
def test_a_row_that_is_none_costs_itself_alone(
    tmp_path: Path, table: str, remembered: list[str], lost: list[str]
) -> None:
    """W8 The other rows come in, and the error holds the row's words."""
    found = list(read(written(tmp_path, "t.csv", table), Format.AUTO))

    assert [each.memory.content for each in found if isinstance(each, Draft)] == remembered
    assert [each.text for each in found if isinstance(each, Defect)] == lost


def test_columns_beside_a_turn_are_kept(tmp_path: Path) -> None:
    """W8 As properties, under the names that they have: one twice, one without a name."""
    text = "Name,Message,E-Mail,Room,Room,,Empty\nIto,Open at six.,i@x.org,a,b,c,\n"
    path = written(tmp_path, "t.csv", text)
    (draft,) = drafts(path)

    assert (draft.memory.sources[0].speaker, draft.memory.content) == ("Ito", "Open at six.")
    assert dict(draft.memory.properties.items()) == {
        **{"E-Mail": "i@x.org", "Room": "a", "Room (5)": "b", "column 6": "c"},
    }
    assert left_out(path) == [("column without a value", "Empty")]


@pytest.mark.parametrize(
    "rule",
    [
        "---\n\n# Log\n\nIt thawed: no ice.\n\n---\n\nWe baked.",
        "---\nIt thawed all night long: no ice.\n---\nWe baked.",
        "---\n# Log\n---\nWe baked.",
        "---\n- rye\n- salt\n---\nWe baked.",
        "---\nJust words.\n---\nWe baked.",
    ],
)
def test_a_note_may_begin_with_a_rule(tmp_path: Path, rule: str) -> None:
    """W8 What stands between two rules is no front matter unless it is keys and values."""
    path = written(tmp_path, "n.md", rule)
    (draft,) = drafts(path)

    assert draft.memory.content == f"# n\n\n{rule}"
    assert left_out(path) == []


def test_front_matter_that_says_nothing_is_listed(tmp_path: Path) -> None:
    """W8 Comments, empty keys, and values that a later one of the same key replaces."""
    path = written(
        tmp_path, "n.md", "---\n# fill in\nname:\nmill: a # old\nmill: b\n---\nWe baked."
    )
    (draft,) = drafts(path)

    assert dict(draft.memory.properties.items()) == {"mill": "b"}
    assert left_out(path) == [
        ("comment in front matter", "# fill in"),
        ("comment in front matter", "# old"),
        ("value of a key that stands twice", "mill: a"),
        ("key without a value", "name"),
    ]


def test_fields_of_a_chat_are_kept_and_other_branches_listed(tmp_path: Path) -> None:
    """W8 A message's fields are properties, the conversation's stand at its first turn."""
    said = {"role": "user", "content": "Which flour?", "mood": "curious"}
    other = {"role": "assistant", "content": "A given-up answer"}
    tree = {
        "1": {"message": said},
        "2": {"message": {"role": "assistant", "content": "Rye."}, "parent": "1"},
        "3": {"message": other, "parent": "1"},
    }
    talk = {"id": "c1", "title": "Flour", "mapping": tree, "current_node": "2"}
    path = written(tmp_path, "t.json", json.dumps([talk]))
    first, second = drafts(path)

    assert first.memory.properties["mood"] == "curious"
    about = MessageToDict(first.memory.properties)["conversation"]
    assert about == {"id": "c1", "title": "Flour"}
    assert not second.memory.properties.fields
    assert left_out(path) == [("message of another branch", json.dumps(other))]


def test_fields_that_graph_sets_are_listed(tmp_path: Path) -> None:
    """W8 A line of another space's list has them; no writer states them."""
    path = written(tmp_path, "m.jsonl", '{"content": "Rye.", "etag": "x1", "turnOrder": "7"}\n')
    (draft,) = drafts(path)

    assert not draft.memory.etag
    assert left_out(path) == [
        ("field that graph sets itself", "etag: x1"),
        ("field that graph sets itself", "turn_order: 7"),
    ]


def test_the_command_counts_and_shows_what_is_left_out(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W8 W4 By kind with counts and places; --json lists all of it; without a note, too."""
    note = tmp_path / f"{unique('note')}.md"
    note.write_text("---\nmill:\n---\nRye.")
    for number in range(5):
        (tmp_path / f"{number}.png").write_text("no text")
    told = concord.done("import", str(tmp_path), "--no-wait")
    whole = json.loads(concord.done("import", str(tmp_path), "--no-wait", "--json"))

    assert told.splitlines() == [
        "1 memory: 1 created, 0 unchanged, 0 updated; 0 errors; 6 left out",
        "Left out: 5 × file that is no Markdown (0.png, 1.png, 2.png, …)",
        f"Left out: 1 × key without a value ({note.name}:1): mill",
    ]
    assert len(whole["leftOut"]) == 6
    assert whole["leftOut"][5] == {
        "kind": "key without a value",
        "place": f"{note.name}:1",
        "text": "mill",
    }
    note.unlink()
    empty = concord("import", str(tmp_path))
    assert empty.exit_code == 1
    assert "Left out: 5 × file that is no Markdown" in empty.stdout
    assert "Found nothing to read" in empty.stderr


def test_json_has_the_words_of_what_is_not_remembered(
    concord: CommandLine, tmp_path: Path, unique: Unique
) -> None:
    """W8 An item that cannot be read stands with its place and text."""
    good = json.dumps({"content": unique("good")})
    path = written(tmp_path, "n.jsonl", f"{good}\nnot JSON at all\n")
    said = json.loads(concord("import", str(path), "--json").stdout)

    assert [each["text"] for each in said["notRemembered"]] == ["not JSON at all\n"]
    assert said["notRemembered"][0]["place"] == f"{path}:2"
