"""The process's reader: what it takes for sentences, in which language, and what it keeps."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from concord_reading import reader
from concord_reading.frame import Passage, Reading
from concord_reading.reader import Reader

READER = Reader()


def in_language(texts: Sequence[str], language: str) -> str:
    """The English or the German one of two texts."""
    return texts[language == "de"]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "texts",
    [
        ("https://a.example/the-tower-is-high", "https://a.example/der-turm-ist-hoch"),
        ("```\nThe tower is high.\n```", "```\nDer Turm ist hoch.\n```"),
        ("`The tower is high.`", "`Der Turm ist hoch.`"),
        ("# The tower is high", "# Der Turm ist hoch"),
        ("The tower is high\n===", "Der Turm ist hoch\n==="),
        ("| The tower is high | 30 m |\n|---|---|", "| Der Turm ist hoch | 30 m |\n|---|---|"),
        ("[1]: https://a.example The tower is high", "[1]: https://a.example Der Turm ist hoch"),
        ("![The tower is high](a.png)", "![Der Turm ist hoch](a.png)"),
        ("> The tower is high.", "> Der Turm ist nicht hoch."),
        ("“The tower is very high.”", "„Der Turm ist sehr hoch.“"),
        ("---\ntitle: Tower\nstatus: closed\n---", "---\ntitel: Turm\nstand: zu\n---"),
        ("tags: [tower, bridge]", "stichworte: [turm, brücke]"),
        ("tower-notes.md", "turm-notizen.md"),
        ("", " \n\n "),
    ],
)
def test_what_is_no_sentence_says_nothing(language: str, texts: Sequence[str]) -> None:
    """D13 D3 Links, code, headings, tables, front matter and quotations are no sentences."""
    assert READER.read(Passage(in_language(texts, language), "Ada", "Ben", language)).asserted == []


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "texts",
    [
        ("The tower is high and the bridge is closed.", "Der Turm ist hoch und nicht neu."),
        ("She wrote it for her brother.", "Sie schrieb es für ihren Bruder."),
        ("Wildungen has a museum of clocks.", "Wildungen ist eine schöne Stadt."),
        ("# Turm\n\nThis is the tower.", "# Tower\n\nDas ist ein Turm."),
        ("`der die das` is what they teach.", "`the of and` ist nicht erlaubt."),
    ],
)
def test_a_language_is_found_by_its_words(language: str, texts: Sequence[str]) -> None:
    """D13 Code and headings do not count, and each frame says its language."""
    found = READER.read(Passage(in_language(texts, language), "Ada", "Ben"))

    assert found.language == language
    assert {each.language for each in found.frames} == {language}


def test_a_language_that_is_given_is_not_looked_for() -> None:
    """D13 Who knows the language says it."""
    assert READER.read(Passage("Tom hat Gold.", language="de")).language == "de"
    assert READER.read(Passage("Tom hat Gold.", language="en")).language == "en"


def test_english_without_the_parsers_files_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """D13 D3 A service without them starts: English gives no frame, German does."""
    monkeypatch.setattr(reader, "parser", lambda: None)
    english, german = Reader().read_all(
        [Passage("The tower is high."), Passage("Der Turm ist hoch.")]
    )

    assert (english.language, english.frames) == ("en", [])
    assert (german.language, len(german.asserted)) == ("de", 1)


PASSAGES = [
    Passage(text, who)
    for who in ("Ada", "Ben")
    for text in (
        "I have a boat. It is red.",
        "Ich habe ein Boot. Es ist rot.",
        "The tower is 30 m high.\n\nThe bridge is closed.",
        "Der Turm ist 30 m hoch.\n\nDie Brücke ist gesperrt.",
        "",
        "Greta leads the choir. She is not old.",
    )
]


def one_by_one(passages: Sequence[Passage]) -> list[Reading]:
    """What they say, each read by a reader of its own."""
    return [Reader().read(each) for each in passages]


def test_many_are_read_as_each_of_them() -> None:
    """D13 A batch reads no text by another's words, and keeps the order."""
    twice = [*PASSAGES, *reversed(PASSAGES)]

    assert Reader().read_all(iter(twice)) == one_by_one(twice)
    assert Reader().read_all([]) == []


def test_no_more_is_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """D13 What was read last is kept and not read again; of more than the limit, all are given."""
    monkeypatch.setattr(reader, "_KEPT", 3)
    kept = Reader()
    first, *_, late = kept.read_all(PASSAGES)

    assert kept.read(PASSAGES[-1]) is late
    assert kept.read(PASSAGES[0]) is not first
    assert kept.read_all(PASSAGES) == one_by_one(PASSAGES)


def test_one_that_is_asked_for_again_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """D13 The least recently asked for goes first."""
    monkeypatch.setattr(reader, "_KEPT", 3)
    kept = Reader()
    first, second, _ = kept.read_all(PASSAGES[:3])
    kept.read(PASSAGES[0])
    kept.read(PASSAGES[3])

    assert kept.read(PASSAGES[0]) is first
    assert kept.read(PASSAGES[1]) is not second


def test_threads_read_as_one_would() -> None:
    """D13 Reads at one time do not disturb each other."""
    shared = Reader()
    parts = [PASSAGES[at:] + PASSAGES[:at] for at in range(len(PASSAGES))]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.read_all, parts))

    assert [*chain(*found)] == one_by_one([*chain(*parts)])


def test_new_words_do_not_stay_in_memory() -> None:
    """D13 What a text's words were is forgotten by the parser, and its frames still say them."""
    parse = reader.parser()
    assert parse is not None
    Reader().read(Passage("The tower is high."))
    before = len(parse.vocab.strings)
    found = Reader().read(Passage("Zorblax Quimbert leads the frabjous choir of Snarkwood."))

    assert len(parse.vocab.strings) == before
    assert "zorblax quimbert" in [each.key for each in found.frames[0].words]


def test_no_word_hangs_on_itself() -> None:
    """D13 Whoever follows heads comes to an end, whatever the parse."""
    text = "It costs one hundred and forty euros to enter the hall, or two hundred and ten."
    for frame in reader.reader().read(Passage(text)).frames:
        for word in frame.words:
            steps, at = 0, word
            while at.head >= 0 and steps <= len(frame.words):
                steps, at = steps + 1, frame.words[at.head]
            assert steps <= len(frame.words)
