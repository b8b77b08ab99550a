"""No importer drops a word silently: a property over every form that is imported."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from concord_client.importers import table
from concord_client.importers.chat.turns import MARKS
from concord_client.importers.form import Format, Origin
from concord_client.importers.formats import read
from concord_client.importers.note_keys import KEYS
from concord_client.importers.outcome import Draft, Outcome, Remark
from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from import_exports import (
    TALKS,
    agent_files,
    exports_of_graphiti,
    exports_of_hindsight,
    exports_of_mcp_memory,
    exports_of_mem0,
    lists_of_memories,
    talks,
)
from import_inputs import WORD, Files, json_lines, notes, tables, transcripts

TIME = re.compile(r"[-\d.,:/tz+]+|am|pm")
"""Parts of times and numbers, which are kept by their value."""
_LINK_MARKS = re.compile(r"[\[\]|#]")
_ESCAPE = re.compile(r'\\(?:u[0-9a-f]{4}|["\\/bfnrt])')
JSON_MARKUP = re.compile(
    r'"(?:[^"\\]|\\.)*"\s*:\s*null\b|\bnull\b|["{}\[\],:]|\\(?:u[0-9a-fA-F]{4}|.)'
)
"""What JSON defines as markup: a field without a value (null), the signs of structure, escapes."""
CHAT_MARKUP = re.compile(rf"{JSON_MARKUP.pattern}|{MARKS.pattern}")
"""That of JSON, and the colons, brackets and dashes around the time and the speaker in plain text,
with the invisible marks of messengers."""
TABLE_MARKUP = re.compile(r'\A\ufeff?sep=.|[",;\t|#\ufeff]|\\(?=")|\[\[(?:memory:)?|\]\]')
"""Delimiters, quotes, the signs of a tag and a link; and in the first row the names of columns."""
NOTE_MARKUP = re.compile(
    r"^ {0,3}#+[ \t]|[ \t]#+[ \t]*$|^ {0,3}=+[ \t]*$"  # marks of headings
    rf"|^---[ \t]*$|^\.\.\.[ \t]*$|^(?:{'|'.join(sorted(KEYS))})[ \t]*(?=:)"  # of front matter
    r"|(?<=: )~[ \t]*$|::?(?=\s|$)|[\[\]{},\"'&*!|>-]|\\[tn]|\\(?=[\"\\])"  # of YAML, Logseq
    r"|(?<=\[\[)[^\[\]|#\n]*(?=[|#])|!(?=\[\[)"  # a link's target, which becomes an id
    r"|(?<=\]\()(?:<[^<>\n]*>|[^\s()]*)",
    re.MULTILINE,
)
FORMS: dict[str, tuple[st.SearchStrategy[Files], Format | Origin, re.Pattern[str]]] = {
    "notes": (notes(), Format.MARKDOWN, NOTE_MARKUP),
    "JSON Lines": (json_lines(), Format.JSONL, JSON_MARKUP),
    "CSV": (tables(), Format.CSV, TABLE_MARKUP),
    "chat, plain text": (transcripts(), Format.CHAT, CHAT_MARKUP),
    **{f"chat, {each}": (talks(each), Format.CHAT, CHAT_MARKUP) for each in TALKS},
    "mem0": (exports_of_mem0(), Origin.MEM0, JSON_MARKUP),
    "graphiti": (exports_of_graphiti(), Origin.GRAPHITI, JSON_MARKUP),
    "MCP memory": (exports_of_mcp_memory(), Origin.MCP_MEMORY, JSON_MARKUP),
    "Letta": (agent_files(), Origin.LETTA, JSON_MARKUP),
    "Hindsight": (exports_of_hindsight(), Origin.HINDSIGHT, JSON_MARKUP),
    "JSON list": (lists_of_memories(), Format.JSONL, JSON_MARKUP),
}


def outcomes_of(folder: Path, files: Files, form: Format | Origin) -> list[Outcome]:
    """Write the files into the folder, and read them."""
    rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return list(read(folder if form is Format.MARKDOWN else folder / next(iter(files)), form))


def held(outcomes: list[Outcome]) -> str:
    """All that is in memories and properties, and in the list of what was left out."""
    found: list[str] = []
    for each in outcomes:
        if isinstance(each, Draft):
            found += texts_in(MessageToDict(each.memory))
        elif not isinstance(each, Remark):
            found += (each.text, _ESCAPE.sub(_unescaped, each.text))
    return "\n".join(found)


def _unescaped(escape: re.Match[str]) -> str:
    return str(json.loads(f'"{escape[0]}"'))


def texts_in(value: Any) -> Iterator[str]:
    """Every key and every value in a JSON value, as texts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


def unread(outcomes: list[Outcome]) -> set[str]:
    """The files that no memory is made of as a whole."""
    return {
        each.file for each in outcomes if not isinstance(each, Draft | Remark) and not each.text
    }


def signs_of(name: str, text: str, markup: re.Pattern[str]) -> set[str]:
    """What stands between blanks and markup; of JSON in its values, the field names are apart."""
    if name.endswith((".json", ".jsonl", ".af")):
        lines = text.split("\n") if name.endswith(".jsonl") else [text]
        return {sign for line in lines for each in _values(line)
                for sign in _LINK_MARKS.sub(" ", each).casefold().split()}  # fmt: skip
    if name.endswith((".csv", ".tsv")):
        header, _, rows = text.partition("\n")
        columns = re.split(r'[",;\t|]+', header)
        text = "\n".join([rows, *(each for each in columns if not is_field(each))])
    return set(markup.sub(" ", text).casefold().split())


def is_field(column: str) -> bool:
    """Whether a column's name is one that finds a field."""
    return re.sub(r"[\s-]+", "_", column.strip()).casefold() in table.COLUMNS


def _values(line: str) -> Iterator[str]:
    try:
        yield from _values_in(json.loads(line))
    except ValueError:
        yield line


def _values_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("type", "content_type"):  # the kinds of parts
                yield from _values_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values_in(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("examples", [50, pytest.param(500, marks=pytest.mark.soak)])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.timeout(900)
def test_all_of_a_file_is_kept_or_listed(tmp_path: Path, form: str, examples: int) -> None:
    """W8 In a memory, in a property, or in the list of what was left out; nothing else is lost."""
    inputs, known, markup = FORMS[form]

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=set(Phase) - {Phase.explain},
    )
    @given(inputs)
    def all_of_it(files: Files) -> None:
        outcomes = outcomes_of(tmp_path / "in", files, known)
        kept = held(outcomes)
        read_ = {
            name: text.removeprefix("\ufeff").replace("\r\n", "\n")
            for name, text in files.items()
            if name not in unread(outcomes)
        }
        words = {word for text in read_.values() for word in WORD.findall(markup.sub(" ", text))}
        assert words <= set(WORD.findall(kept)), (words - set(WORD.findall(kept)), outcomes)
        bare = markup.sub(" ", kept).casefold() + kept.casefold()
        signs = {sign for name, text in read_.items() for sign in signs_of(name, text, markup)}
        lost = {sign for sign in signs if sign not in bare and not TIME.fullmatch(sign)}
        assert not lost, (lost, outcomes)

    all_of_it()
