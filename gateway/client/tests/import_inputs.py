"""Files as people have them, and worse: strategies for each form that is imported.

A text holds words such as `w7q`, each at one place of the example only: so a lost one is seen.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

Files = Mapping[str, str]
"""The text of each file of an example, by name."""

WORD = re.compile(r"w\d+q")
_PLACE = "§"
_PIECES = [
    *(
        "§",
        "§ §",
        "§, §",
        "§; §",
        "§: §",
        "§|§",
        "§\t§",
        "§ & §",
        "'§'",
        '"§"',
        '"§", § "§"',
        '""§',
    ),
    *("“§”", "«§»", "(§)", "[§]", "{§}", "<§>", "<!-- § -->", "§\\§", '\\"§', "§--§", "— §", "~ §"),
    *(
        "🚤§",
        "👩‍🚀 §",
        "שלום §",
        "\u200f§",
        "\u200e§",
        "\u202a+49 170 §\u202c",
        "é§",
        "e\u0301§",
        "漢字§",
    ),
    *(
        "§\u2028§",
        "§\u00a0§",
        "§\x0b§",
        "@§",
        "#§",
        "§#§",
        "§@§.org",
        "https://§.org/§?§=§",
        "§.md",
    ),
    *("[[§]]", "[[§|§]]", "[[§#§|§]]", "![[§]]", "[§](§.md)", "[§](<§ §.md#§>)", "`§`", "**§**"),
    *("2024-03-05 §", "12:30 §", "1.5 §", "§ 7", "null §", "true", "no §", "{{§}}", "%§", "&§ *§"),
    *("Supersedes: §", "Superseded by §", "Status: §", "§ joined", "-", "...", "---", "+++", "=§"),
]
_BLOCKS = [
    *(
        "# §",
        "## § ##",
        "### §: §",
        "§\n===",
        "- §\n- §",
        "* §\n  * §",
        "1. §",
        "> §\n> §",
        "---",
        "***",
    ),
    *(
        "```\n§\n# §\n```",
        "~~~ §\n§",
        "| § | § |\n|---|---|\n| § | § |",
        "    §",
        "\t§",
        "$$§$$",
        "#§",
    ),
    *("- [ ] §", "[^§]: §", "§  \n§", "<div>§</div>", "---\n§: §\n---", "§::§", "§:: §", "\\# §"),
]
_KEYS = [
    *("title", "tags", "aliases", "date", "kind", "status", "§", "§ §", "Über §", "§-§", "a.§"),
    *("related", "source", "author", "url", "§_§", "type", "name"),
]


def _texts(pieces: Sequence[str], most: int = 3, between: str = " ") -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), min_size=1, max_size=most).map(between.join)


LINE = _texts([each for each in _PIECES if "\x0b" not in each and "\u2028" not in each])
TEXT = st.one_of(
    _texts(_PIECES), _texts(_PIECES, between="\n"), _texts([*_PIECES, *_BLOCKS], 4, "\n\n")
)
KEY = st.sampled_from(_KEYS)
VALUE = st.recursive(
    st.one_of(TEXT, st.integers(-999, 999), st.booleans(), st.none(), st.just("")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEY, inner, max_size=3)),
    max_leaves=5,
)
OTHERS = st.dictionaries(KEY.filter(lambda key: "§" in key), VALUE, max_size=3)


def numbered(files: Files) -> Files:
    """The files with a word of its own at each place for one."""
    count = iter(range(1_000_000))
    return {
        name: re.sub(_PLACE, lambda _: f"w{next(count)}q", text) for name, text in files.items()
    }


def _yaml_scalar() -> st.SearchStrategy[str]:
    return st.one_of(
        LINE.map(lambda text: json.dumps(text, ensure_ascii=False)),
        st.sampled_from(
            ["§", "§ §", "2024-03-05", "0012", "yes", "~", "", "1.50", "[§, §]", "'§'"]
        ),
        st.sampled_from(["\n  - §\n  - §", "\n  §: §", "|\n  § §\n  §", "§ # §", "{§: §}"]),
    )


def _front_matter() -> st.SearchStrategy[str]:
    line = st.one_of(
        st.tuples(KEY, _yaml_scalar()).map(lambda pair: f"{pair[0]}: {pair[1]}"),
        st.sampled_from(["# §", "", "§", "- §", "supersedes: [[§]]", "amends: [[memory:a|§]]"]),
        LINE,
    )
    ends = st.sampled_from(["---", "..."])
    return st.tuples(st.lists(line, max_size=5), ends).map(
        lambda both: "\n".join(["---", *both[0], both[1], ""])
    )


def notes() -> st.SearchStrategy[Files]:
    """A folder of notes, with and without front matter, some long, beside other files."""
    body = st.one_of(
        TEXT, st.tuples(_texts(_BLOCKS, 6, "\n\n"), st.just(" word" * 700)).map("".join)
    )
    bodies = st.lists(body, min_size=1, max_size=3).map("\n\n".join)
    note = st.tuples(st.one_of(st.just(""), _front_matter(), st.just("---\n\n")), bodies).map(
        "".join
    )
    written = st.tuples(note, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"])).map(
        lambda each: each[2] + each[0].replace("\n", each[1])
    )
    names = st.sampled_from(
        ["a.md", "Plan B.md", "sub/c.markdown", "2024-03-05.md", "x.txt", ".d.md"]
    )
    return st.dictionaries(names, written, min_size=1, max_size=3).map(numbered)


def json_lines() -> st.SearchStrategy[Files]:
    """Lines of memories, with fields of theirs and others, and lines that are none."""
    own = st.fixed_dictionaries(
        {"content": TEXT},
        optional={
            "id": st.sampled_from(["a", "§", "no id"]),
            "kind": st.sampled_from(["plan", "FACT", "song"]),
            "tags": st.one_of(st.lists(LINE, max_size=3), LINE),
            "validFrom": st.sampled_from(["2024-03-05T00:00:00Z", "§"]),
            "createTime": st.just("2024-03-05T00:00:00Z"),
            "etag": st.just("§"),
            "supersedes": st.sampled_from(["a", "[[memory:b|§]]", ["a", "b#§"]]),
            "sources": st.just([{"speaker": "§", "file": "§"}]),
            "properties": st.dictionaries(KEY, VALUE, max_size=2),
        },
    )
    record = st.tuples(own, OTHERS).map(lambda both: both[0] | both[1])
    line = st.one_of(
        record.map(as_json), TEXT.map(lambda text: " ".join(text.split())), st.just("{")
    )
    return st.lists(line, min_size=1, max_size=4).map(
        lambda each: numbered({"m.jsonl": "\n".join(each)})
    )


_HEADERS = [
    *("content", "Text", "Name", "Message", "speaker", "time", "Date", "Tags", "Valid from", "ID"),
    *("§", "§ §", "Phone", "E-Mail", "Kind", "notes", "session", "Supersedes", "", "§"),
]
_CELLS = st.one_of(
    TEXT, LINE, st.sampled_from(["", " ", "12.03.2024", "3/4/24 9:05 PM", "2024-03-05"])
)


@st.composite
def tables(draw: st.DrawFn) -> Files:
    """A table in one of the dialects that programs write, maybe with a row that is too long."""
    header = draw(st.lists(st.sampled_from(_HEADERS), min_size=1, max_size=5))
    rows = draw(st.lists(st.lists(_CELLS, min_size=len(header), max_size=len(header)), max_size=4))
    longer = draw(st.lists(st.lists(_CELLS, min_size=1, max_size=6), max_size=1))
    is_doubled = draw(st.booleans())
    written = io.StringIO()
    writer = csv.writer(
        written,
        delimiter=draw(st.sampled_from(",;\t|")),
        quoting=csv.QUOTE_ALL if not is_doubled else draw(st.sampled_from([0, 1])),
        lineterminator=draw(st.sampled_from(["\n", "\r\n"])),
    )
    writer.writerows([header, *rows, *longer])
    text = written.getvalue()
    text = text if is_doubled else re.sub(r'(?<=[^,;\t|\n"])""(?=[^,;\t|\n"])', r'\\"', text)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return numbered({f"t.{draw(st.sampled_from(['csv', 'tsv']))}": mark + text})


_STAMPS = [
    *("12/03/2024, 14:22 - ", "3/4/24, 9:05 PM - ", "31.12.23, 21:15 - ", "[2024-03-05 10:00] "),
    *(
        "[31.12.2023, 21:15:03] ",
        "\u200e[12/31/23, 9:15:03\u202fPM] ",
        "2024-03-05 10:00 ",
        "[soon] ",
    ),
    *("12/03/2024 14:22 - ", "[10:02] ", "", ""),
]
_NAMES = [
    *(
        "Ada",
        "Ann & Bo",
        "Bo, the §",
        "Ada 🌸",
        "\u202a+49 170 0000000\u202c",
        "~ §",
        "§ (§)",
        "Dr. §",
    ),
    *(
        "§/§",
        "§ “§”",
        '"§" §',
        "José §",
        "דנה §",
        "👩‍🚀",
        "§ § § § § §",
        "the § of the § and of all §",
    ),
]
_SAID = [
    *("<Media omitted>", "\u200eimage omitted", "This message was deleted", "", "§: §", "Note: §"),
    *('§ changed the subject from "§: §" to "§"', "§ joined", "Your code changed. Learn more: §"),
]


@st.composite
def transcripts(draw: st.DrawFn) -> Files:
    """Plain text of a messenger or of a person: turns, notices, lines that go on, and others."""
    own = draw(st.sampled_from(_STAMPS))
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        stamp = own if draw(st.integers(0, 3)) else draw(st.sampled_from(_STAMPS))
        said = draw(st.one_of(TEXT, st.sampled_from(_SAID)))
        is_turn = draw(st.integers(0, 3))
        lines.append(
            f"{stamp}{draw(st.sampled_from(_NAMES))}: {said}" if is_turn else f"{stamp}{said}"
        )
    text = "\n".join(lines).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return numbered({"talk.txt": draw(st.sampled_from(["", "\ufeff"])) + text})


def as_json(value: Any) -> str:
    """JSON with its letters as they are."""
    return json.dumps(value, ensure_ascii=False)
