"""What a sentence says, in English and German alike: one contract for both (D13, D3)."""

import pytest
from concord_reading.frame import Aspect, Frame, Kind, Mood, Passage, Reading, Role, Unread, Word
from concord_reading.quantities import Date, Quantity
from concord_reading.reader import Reader

READER = Reader()


def both(*rows: tuple[object, ...]) -> list[tuple[object, ...]]:
    """Return each row twice: with its English and with its German sentence.

    A part that is a pair of words, "way / Weg", is the part of one language each.
    """
    return [
        (language, sentences[at], *(_part(each, at) for each in rest))
        for *sentences, rest in ((row[0], row[1], row[2:]) for row in rows)
        for at, language in enumerate(("en", "de"))
    ]


def _part(part: object, at: int) -> object:
    return part.split(" / ")[at] if isinstance(part, str) and " / " in part else part


def read(text: str, language: str) -> Reading:
    """Read what Ada says to Ben, in the language that it is expected to be found in."""
    found = READER.read(Passage(text, speaker="Ada", addressee="Ben"))

    assert found.language == language
    return found


def last(text: str, language: str) -> Frame:
    """Read a text's last clause."""
    return read(text, language).frames[-1]


def spelt(frame: Frame, text: str, *roles: Role) -> list[str]:
    """The words of roles, as they stand in the text."""
    return [text[each.start : each.end] for each in frame.words if each.role in roles]


def values(frame: Frame) -> list[Word]:
    """The numbers and dates of a frame."""
    return [each for each in frame.words if each.value is not None]


@pytest.mark.parametrize(
    ("language", "text", "key"),
    both(
        ("I work in Kassel.", "Ich bin in Kassel.", "i:ada"),
        ("I live in Kassel.", "Ich wohne in Kassel.", "i:ada"),
        ("We have a sailing boat.", "Wir haben ein Segelboot.", "we:ada"),
        ("You have a garden.", "Du hast einen Garten.", "you:ben"),
        ("My aunt lives in Kassel.", "Meine Tante wohnt in Kassel.", "i:ada"),
        ("Your garage has two doors.", "Deine Garage hat zwei Türen.", "you:ben"),
    ),
)
def test_first_and_second_person_are_who_speaks_and_who_is_spoken_to(
    language: str, text: str, key: str
) -> None:
    """D13 D3 "I" of two people is two subjects; without names nobody knows whose it is."""
    found = last(text, language)
    nameless = READER.read(Passage(text)).frames[-1]

    assert found.unread is None
    assert key in [each.key for each in found.words if each.role is Role.SUBJECT]
    assert all(each.key != key for each in nameless.words)


@pytest.mark.parametrize(
    ("language", "text"),
    both(
        ("I have a sailing boat.", "Ich habe ein Segelboot."),
        ("You have a garden.", "Du hast einen Garten."),
        ("We have a garden.", "Wir haben einen Garten."),
        ("They closed the bridge.", "Man hat die Brücke gesperrt."),
        ("She has closed the bridge.", "Sie hat die Brücke gesperrt."),
        ("It is not red.", "Es ist nicht rot."),
        ("Mira has a boat. It is red.", "Mira hat ein Boot. Es ist rot."),
        ("Nora has a sister. She is ill.", "Nora hat eine Schwester. Sie ist krank."),
        ("Nora met Lena. She is ill.", "Nora hat Lena getroffen. Sie ist krank."),
    ),
)
def test_who_is_meant_by_nobody_sure_is_no_subject(language: str, text: str) -> None:
    """D13 D3 A pronoun without a sure antecedent gives no frame, and the clause says why."""
    found = READER.read(Passage(text))

    assert found.language == language
    assert found.frames[-1].unread is Unread.NO_SUBJECT
    assert found.frames[-1] not in found.asserted


@pytest.mark.parametrize(
    ("language", "text", "key"),
    both(
        (
            "Greta leads the choir. She is not old.",
            "Greta leitet den Chor. Sie ist nicht alt.",
            "greta",
        ),
        ("The museum is small. It is new.", "Das Museum ist klein. Es ist neu.", "museum"),
        (
            "Roswitha Pohl is a doctor. She has a boat.",
            "Roswitha Pohl ist eine Ärztin. Sie hat ein Boot.",
            "roswitha pohl",
        ),
    ),
)
def test_a_pronoun_is_what_stands_before_it(language: str, text: str, key: str) -> None:
    """D13 The only thing that a pronoun can mean is its subject."""
    found = last(text, language)

    assert found.unread is None
    assert [each.key for each in found.words if each.role is Role.SUBJECT] == [key]


@pytest.mark.parametrize(
    ("language", "text", "subject", "predicate", "complement"),
    both(
        (
            "The village has a pond.",
            "Das Dorf hat einen Teich.",
            "village / Dorf",
            "has / hat",
            "pond / Teich",
        ),
        (
            "The couple leads the choir.",
            "Das Paar leitet den Chor.",
            "couple / Paar",
            "leads / leitet",
            "choir / Chor",
        ),
        ("The door is red.", "Die Tür ist rot.", "door / Tür", "is / ist", "red / rot"),
        ("The door is green.", "Die Tür ist grün.", "door / Tür", "is / ist", "green / grün"),
        (
            "Nobody has a key.",
            "Niemand hat einen Schlüssel.",
            "",
            "has / hat",
            "key / Schlüssel",
        ),
    ),
)
def test_a_clause_has_a_subject_a_predicate_and_a_complement(
    language: str, text: str, subject: str, predicate: str, complement: str
) -> None:
    """D13 Who does what is read, and where it stands."""
    found = last(text, language)

    assert found.unread is None
    assert spelt(found, text, Role.SUBJECT) == ([subject] if subject else [])
    assert spelt(found, text, Role.PREDICATE) == [predicate]
    assert spelt(found, text, Role.COMPLEMENT) == [complement]
    assert text[found.words[found.verb].start : found.words[found.verb].end] == predicate


@pytest.mark.parametrize(
    ("language", "text", "name"),
    both(
        (
            "The director is Anna Maria Berger.",
            "Die Leiterin ist Anna Maria Berger.",
            "Anna Maria Berger",
        ),
        ("The choir is in Bad Wildungen.", "Der Chor ist in Bad Wildungen.", "Bad Wildungen"),
        ("Roswitha Pohl has a boat.", "Roswitha Pohl hat ein Boot.", "Roswitha Pohl"),
        ("The aunt is in Kassel.", "Die Tante ist in Kassel.", "Kassel"),
    ),
)
def test_a_name_is_one_word_however_many_it_has(language: str, text: str, name: str) -> None:
    """D13 The parts of a name are no things of their own."""
    found = last(text, language)

    assert found.unread is None
    assert [text[e.start : e.end] for e in found.words if e.kind is Kind.NAME] == [name]


@pytest.mark.parametrize(
    ("language", "text", "value"),
    both(
        ("The pump weighs 40 kg.", "Die Pumpe ist 40 kg schwer.", Quantity(40, 0.5, "mass")),
        ("The tower is 30 m high.", "Der Turm ist 30 m hoch.", Quantity(30, 0.5, "length")),
        ("The rent is 640 euros.", "Die Miete ist 640 Euro.", Quantity(640, 0.5, "euro")),
        ("The road is 2.5 km long.", "Der Weg ist 2,5 km lang.", Quantity(2500, 50, "length")),
        ("The village has 800 houses.", "Das Dorf hat 800 Häuser.", Quantity(800, 0.5)),
        ("The garage has two doors.", "Die Garage hat zwei Türen.", Quantity(2, 0.5)),
        (
            "The village has about 800 houses.",
            "Das Dorf hat etwa 800 Häuser und einen Teich.",
            Quantity(800, 40),
        ),
        (
            "The village has at least 800 houses.",
            "Das Dorf hat mindestens 800 Häuser.",
            Quantity(800, float("inf")),
        ),
        (
            "The market starts on 12 March 2025.",
            "Der Markt beginnt am 12. März 2025.",
            Date(2025, 3, 12),
        ),
        (
            "The contract ends on 2025-03-12.",
            "Der Vertrag endet am 2025-03-12.",
            Date(2025, 3, 12),
        ),
        ("The market starts on March 12.", "Der Markt beginnt am 12. März.", Date(None, 3, 12)),
        ("The market starts in March.", "Der Markt beginnt im März.", Date(None, 3)),
        ("The market starts on Monday.", "Der Markt beginnt am Montag.", Date(weekday=1)),
        ("The market began in 2019.", "Der Markt ist aus dem Jahr 2019.", Date(2019)),
        ("The market starts on May 3.", "Der Markt beginnt am 3. Mai.", Date(None, 5, 3)),
        ("The market starts in May.", "Der Markt beginnt im Mai.", Date(None, 5)),
    ),
)
def test_a_number_has_its_unit_and_a_date_its_parts(
    language: str, text: str, value: Quantity | Date
) -> None:
    """D13 A value is typed: a number in its first unit with its precision, a date as written."""
    found = last(text, language)

    assert found.unread is None
    assert [each.value for each in values(found)] == [value]
    assert {each.kind for each in values(found)} == {Kind.VALUE}


@pytest.mark.parametrize(
    ("language", "text"),
    both(
        ("The office may close.", "Die Halle könnte gesperrt sein."),
        ("May has a boat.", "Maike hat ein Boot."),
    ),
)
def test_no_other_may_is_a_month(language: str, text: str) -> None:
    """D13 A month is one by what stands around it."""
    found = READER.read(Passage(text, language=language))

    assert [each for frame in found.frames for each in values(frame)] == []


@pytest.mark.parametrize(
    ("language", "text", "noun", "number"),
    both(
        (
            "Position 7 is not valid.",
            "Die Position 7 ist nicht gültig.",
            "Position / Position",
            "7",
        ),
        ("Ticket 311 is not valid.", "Das Ticket 311 ist nicht gültig.", "Ticket / Ticket", "311"),
        (
            "The course is in room 12 on Fridays.",
            "Der Kurs ist im Raum 12 und nicht gut.",
            "room / Raum",
            "12",
        ),
    ),
)
def test_a_number_that_names_belongs_to_its_noun(
    language: str, text: str, noun: str, number: str
) -> None:
    """D13 D3 Ticket 311 is another thing than ticket 312, and no number of tickets."""
    found = last(text, language)
    word = next(each for each in found.words if text[each.start : each.end] == number)
    head = found.words[word.head]

    assert text[head.start : head.end] == noun
    assert word.role is head.role


@pytest.mark.parametrize(
    ("language", "text", "thing"),
    both(
        ("The course is in hall B.", "Der Kurs ist in der Halle B.", "hall B / Halle B"),
        ("The course is in hall A now.", "Der Kurs ist jetzt in Halle A.", "hall A / Halle A"),
        ("The group C has a garden.", "Die Gruppe C hat einen Garten.", "group C / Gruppe C"),
    ),
)
def test_a_letter_that_names_is_a_part_of_the_name(language: str, text: str, thing: str) -> None:
    """D13 D3 Hall A is another thing than hall B."""
    found = last(text, language)

    assert found.unread is None
    assert thing in [text[each.start : each.end].rstrip(".") for each in found.words]


@pytest.mark.parametrize(
    ("language", "text", "is_denied"),
    both(
        ("The bridge is closed.", "Die Brücke ist gesperrt.", False),
        ("The bridge is not closed.", "Die Brücke ist nicht gesperrt.", True),
        ("The cafe has no garden.", "Das Café hat keinen Garten.", True),
        ("Nobody has a key.", "Niemand hat einen Schlüssel.", True),
        ("The lake never freezes.", "Der See friert nie zu.", True),
        ("Not only Greta has a key.", "Nicht nur Greta hat einen Schlüssel.", False),
    ),
)
def test_a_denial_is_read(language: str, text: str, is_denied: bool) -> None:
    """D13 The polarity of a clause."""
    assert last(text, language).is_denied is is_denied


@pytest.mark.parametrize(
    ("language", "text", "mood"),
    both(
        ("The bridge is closed.", "Die Brücke ist gesperrt.", Mood.ASSERTED),
        ("Is the bridge closed?", "Ist die Brücke gesperrt?", Mood.ASKED),
        ("Who leads the choir?", "Wer leitet den Chor?", Mood.ASKED),
        ("We will sell the boat.", "Wir werden das Boot verkaufen.", Mood.PLANNED),
        ("We are going to sell the boat.", "Wir wollen das Boot verkaufen.", Mood.PLANNED),
        ("We want to sell the boat.", "Wir möchten das Boot verkaufen.", Mood.WISHED),
        ("The bridge might be closed.", "Die Brücke könnte gesperrt sein.", Mood.SUPPOSED),
        ("If it rains, the market closes.", "Wenn es regnet, ist der Markt zu.", Mood.CONDITIONAL),
        ("The market closes if it rains.", "Der Markt ist zu, wenn es regnet.", Mood.CONDITIONAL),
        (
            "According to Lena the bridge is closed.",
            "Laut Lena ist die Brücke gesperrt.",
            Mood.REPORTED,
        ),
    ),
)
def test_a_mood_is_read(language: str, text: str, mood: Mood) -> None:
    """D13 D3 Only what is asserted can be compared."""
    found = last(text, language)

    assert found.mood is mood
    assert found.unread is (None if mood is Mood.ASSERTED else Unread.NOT_ASSERTED)


@pytest.mark.parametrize(
    ("language", "text"),
    both(
        ("The bridge is perhaps closed.", "Die Brücke ist vielleicht gesperrt."),
        ("Perhaps the bridge is closed.", "Vielleicht ist die Brücke gesperrt."),
        ("The bridge is allegedly closed.", "Die Brücke ist angeblich gesperrt."),
        ("I hope the bridge is open.", "Ich hoffe, dass die Brücke frei ist."),
        ("I would sell the boat.", "Ich würde das Boot verkaufen."),
        ("The bridge should be closed.", "Die Brücke sollte gesperrt sein."),
        ("Lock the gate.", "Schließ das Tor ab."),
        ("Please lock the gate!", "Bitte schließ das Tor ab!"),
        ("Do not lock the gate.", "Schließ das Tor nicht ab."),
    ),
)
def test_what_is_not_asserted_is_not_compared(language: str, text: str) -> None:
    """D3 D13 Doubts, hopes, hearsay and orders claim nothing of the world."""
    assert read(text, language).asserted == []


@pytest.mark.parametrize(
    ("language", "text", "reported"),
    both(
        (
            "Lena told me that the bridge is closed.",
            "Lena hat mir gesagt, dass die Brücke gesperrt ist.",
            "bridge / Brücke",
        ),
        (
            "Lena says that the bridge is closed.",
            "Lena sagt, dass die Brücke gesperrt ist.",
            "bridge / Brücke",
        ),
    ),
)
def test_what_somebody_said_is_not_what_the_writer_says(
    language: str, text: str, reported: str
) -> None:
    """D13 D3 That Lena said it is asserted; what she said is not."""
    found = read(text, language)

    assert [spelt(each, text, Role.SUBJECT) for each in found.asserted] == [["Lena"]]
    assert spelt(found.frames[-1], text, Role.SUBJECT) == [reported]


@pytest.mark.parametrize(
    ("language", "text", "quantifier"),
    both(
        ("All rooms have a window.", "Alle Zimmer haben ein Fenster.", "all"),
        ("Every room has a window.", "Jedes Zimmer hat ein Fenster.", "all"),
        ("Most rooms have a window.", "Die meisten Zimmer haben ein Fenster.", "most"),
        ("Some rooms have a window.", "Einige Zimmer haben ein Fenster.", "some"),
        ("No room has a window.", "Kein Zimmer hat ein Fenster.", "none"),
        ("Nobody has a key.", "Niemand hat einen Schlüssel.", "none"),
        ("Only Nora has a key.", "Nur Nora hat einen Schlüssel.", "only"),
        ("The room has a window.", "Das Zimmer hat ein Fenster.", ""),
    ),
)
def test_how_many_are_meant_is_read(language: str, text: str, quantifier: str) -> None:
    """D13 The subject's quantifier."""
    found = last(text, language)

    assert found.unread is None
    assert found.quantifier == quantifier


@pytest.mark.parametrize(
    ("language", "text", "aspect"),
    both(
        ("The tower has a clock.", "Der Turm hat eine Uhr.", Aspect.STATE),
        ("My aunt lives in Kassel.", "Meine Tante wohnt in Kassel.", Aspect.STATE),
        ("Tom has a wagon.", "Tom hat einen Wagen.", Aspect.STATE),
        ("The bakery was in Celle.", "Die Bäckerei war in Celle.", Aspect.PAST_STATE),
        ("Tom used to be a baker.", "Tom war früher Bäcker.", Aspect.PAST_STATE),
        ("My aunt has moved to Kassel.", "Meine Tante ist nach Kassel gezogen.", Aspect.CHANGE),
        ("The tower burned down.", "Der Turm brannte ab.", Aspect.EVENT),
        ("The choir visited the museum.", "Der Chor besuchte das Museum.", Aspect.EVENT),
        ("Tom sold the house.", "Tom hat das Haus verkauft.", Aspect.EVENT),
        ("The house was sold.", "Das Haus wurde verkauft.", Aspect.EVENT),
    ),
)
def test_how_long_it_holds_is_read(language: str, text: str, aspect: Aspect) -> None:
    """D13 D3 States can contradict; events only at one time."""
    found = last(text, language)

    assert found.unread is None
    assert found.aspect is aspect


@pytest.mark.parametrize(
    ("language", "text", "clauses"),
    both(
        (
            "# Notes 2024\n\nThe tower is high.\n\n- The bridge is not closed.\n"
            "- Greta leads the choir.\n\nIf it rains, the museum has 40 guests.",
            "# Notizen 2024\n\nDer Turm ist hoch.\n\n- Die Brücke ist nicht gesperrt.\n"
            "- Greta leitet den Chor.\n\nWenn es regnet, hat das Museum 40 Gäste.",
            "The tower is high|The bridge is not closed|Greta leads the choir|"
            "the museum has 40 guests / Der Turm ist hoch|Die Brücke ist nicht gesperrt|"
            "Greta leitet den Chor|hat das Museum 40 Gäste",
        ),
    ),
)
def test_spans_cut_the_words_out_of_the_text(language: str, text: str, clauses: str) -> None:
    """D13 What is quoted is verbatim, in later paragraphs and items of lists, too."""
    found = read(text, language)
    cut = [text[each.span.start : each.span.end].rstrip(".") for each in found.frames]

    for clause in clauses.split("|"):
        assert any(each.endswith(clause) for each in cut)
    for frame in found.frames:
        for word in frame.words:
            assert frame.span.start <= word.start < word.end <= frame.span.end
            assert text[word.start - 1].isspace()
            assert not text[word.end].isalnum()
    starts = [each.span.start for each in found.frames]
    assert starts == sorted(starts)
