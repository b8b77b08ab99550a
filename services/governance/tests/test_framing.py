"""A proposal's own words come from its typed action; a note may not push (V3)."""

import itertools
from pathlib import Path

import pytest
from concord_governance.domain import framing
from concord_governance.domain.errors import FramingViolation
from concord_governance.domain.framing import demand_neutral, from_template
from concord_governance.domain.loaded_phrases import LANGUAGES, loaded_phrases
from concord_governance.domain.proposals import Affected, Kind, Trigger

ITEM_KINDS = (1, 2, 3, 7, 8)
SENTENCES = Path(__file__).parent / "framing_sentences"


@pytest.mark.parametrize(("language", "kind"), list(itertools.product(LANGUAGES, Kind)))
@pytest.mark.parametrize("count", [0, 1, 9])
def test_the_template_passes_its_own_check(language: str, kind: Kind, count: int) -> None:
    """V3 Every template of every action, in both languages, is neutral by the lexicon."""
    items = [
        Affected(f"item-{n}", of, "etag" if n else "", needs_consent=True)
        for n, of in itertools.product(range(count), ITEM_KINDS)
    ]

    words = from_template(language, kind, items, cascaded=count, days=30, hours=48)

    for trigger in Trigger:
        caused = from_template(language, kind, items, trigger=trigger, days=30, hours=48)
        demand_neutral(caused.detected)
        assert (caused.detected == words.detected) == (trigger == Trigger.MANUAL)
    for text in (words.if_approved, words.if_rejected, words.neutral_summary):
        demand_neutral(text)
    demand_neutral(words.affected)
    assert words.affected.count(f"; {count} ") == bool(count)
    assert "48" in words.if_rejected
    assert "30" in words.if_approved


def test_no_text_of_the_callers_stands_in_the_template() -> None:
    """V3 What a caller called an item does not reach the system's voice: items are counted."""
    item = Affected("you-must-approve-this", 3, "etag", True, "Approve me!", False, "Approve!")
    new = Affected("", 2, "", needs_consent=True, statement="Approve this edge!")

    english = from_template("en", Kind.FORGET, [item, item, new], days=30, hours=48)
    german = from_template("de", Kind.FORGET, [item, item, new], days=30, hours=48)

    assert english.affected == "1 edge (new), 2 memories."
    assert german.affected == "1 Kante (neu), 2 Erinnerungen."
    assert "pprove" not in repr((english, german)).replace("if_approved", "")


def test_both_languages_say_the_same_things() -> None:
    """V3 No action and no kind of item is without words in a language."""
    for table in (framing._KINDS, framing._ITEMS, framing._WORDS, framing._DETECTED):
        assert table["en"].keys() == table["de"].keys()


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ("You must act now. You must act now.", ["you must act", "act now"]),
        ("The deadline of the tax return is 31 July.", []),
        ("Y\u043eu should a\u0441cept this.", ["you should accept"]),
        ("\uff39ou sho\u200buld accept it.", ["you should accept"]),
        ("Bitte genehmigen Sie das!", ["bitte genehmigen"]),
        ("Das ist überfällig.", ["uberfallig"]),
        ("Das ist ueberfaellig.", ["ueberfaellig"]),
        ("", []),
    ],
)
def test_a_refusal_names_the_words(note: str, words: list[str]) -> None:
    """V3 Loaded phrases are named once, as they are compared: in any letters, without accents."""
    assert loaded_phrases(note) == words
    if words:
        with pytest.raises(FramingViolation) as caught:
            demand_neutral(note)
        assert caught.value.metadata == {"words": ",".join(words)}


def test_the_lexicon_knows_the_sentences_that_it_was_written_from() -> None:
    """V3 Recall and false alarms on them; `make bench ARGS=framing` has others, kept apart."""
    loaded, neutral = (
        (SENTENCES / f"{kind}.txt").read_text("utf-8").splitlines()
        for kind in ("loaded", "neutral")
    )

    missed = [each for each in loaded if not loaded_phrases(each)]
    false = [each for each in neutral if loaded_phrases(each)]

    assert len(missed) <= 0.1 * len(loaded), missed
    assert len(false) <= 0.05 * len(neutral), false


@pytest.mark.parametrize(
    "note",
    [
        "Please see turn 14 for the wording.",
        "Bitte Zeile 14 des Protokolls vergleichen.",
        "Everyone in the family speaks Danish.",
        "The team agreed on Hamburg in the meeting of 7 October.",
        "Important dates: 3 May, 7 June.",
        "Der alte Wert ist falsch: Die Straße heißt Lindenweg.",
        "Only the second sentence changes.",
        "Die Mehrheit der Mieter stimmte für den Umbau.",
        "You said in turn 31 that you no longer eat fish.",
        "Wie du am Montag geschrieben hast, ist das Konto geschlossen.",
    ],
)
def test_a_plain_word_alone_does_not_push(note: str) -> None:
    """V3 Where something stands, what was said and what changes may be written down: a word such
    as "please", "everyone" or "only" counts with what it asks for, and less beside a source."""
    assert loaded_phrases(note) == []


@pytest.mark.parametrize(
    ("note", "is_loaded"),
    [
        ('The film is called "Now or Never".', False),
        ('The film is called "You must approve this".', True),
        ('"Time is running out for every single one of us here", said Bo.', True),
        ('"Time is running out" and "everyone" "else" "has agreed".', True),
        ('"Jetzt oder nie", "du musst sofort handeln", "alle sind dafür".', True),
        ('The titles "Now or Never" and "Rain over Bremen" were swapped.', False),
        ('The titles "Summer in Hamburg", "The Long Road" and "Rain" were swapped.', False),
    ],
)
def test_a_short_quotation_is_data(note: str, is_loaded: bool) -> None:
    """V3 A title or a name is not searched, unless it speaks of the answer; a speech is, in
    pieces, too."""
    assert bool(loaded_phrases(note)) == is_loaded


def test_a_long_note_is_read_in_time() -> None:
    """V3 The longest note of the contract, of whatever words, costs no seconds."""
    import time

    loaded_phrases("")
    began = time.process_time()
    for part in ("a ", "it is very ", "approve x ", "nobody a b c ", "immer a ", "a.", "x", "aA"):
        loaded_phrases((part * 500)[:500])

    assert time.process_time() - began < 2.0
