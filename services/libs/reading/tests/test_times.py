"""Phrases that name a time, as windows of days; asked on Wednesday, 15 May 2024, at noon."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from concord_reading.time_words import time_words, words_in
from concord_reading.times import MOST, Relation, window, windows
from hypothesis import given, settings
from hypothesis import strategies as st

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(day: str) -> int | None:
    """A day's first instant; None for "-"."""
    if day == "-":
        return None
    return (datetime.fromisoformat(day).replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


TODAY = micros("2024-05-15T12:00") or 0

DATED = """
What did Ada say yesterday? | 2024-05-14 | 2024-05-15
Who called the day before yesterday? | 2024-05-13 | 2024-05-14
What did we decide last week? | 2024-05-06 | 2024-05-13
What happened last night? | 2024-05-14 | 2024-05-15
What broke this morning? | 2024-05-15 | 2024-05-16
What did she plan for tomorrow? | 2024-05-16 | 2024-05-17
What is due next week? | 2024-05-20 | 2024-05-27
What did we decide in Sept 2023? | 2023-09-01 | 2023-10-01
Was haben wir im Sept. 2023 beschlossen? | 2023-09-01 | 2023-10-01
Who joined on 3 June '21? | 2021-06-03 | 2021-06-04
What happened in '98? | 1998-01-01 | 1999-01-01
Where did we go in summer ’19? | 2019-06-01 | 2019-09-01
What did Ada do the weekend before last? | 2024-05-04 | 2024-05-06
Was haben wir vorletztes Wochenende gemacht? | 2024-05-04 | 2024-05-06
Wer war im 1. Halbjahr 2023 zuständig? | 2023-01-01 | 2023-07-01
What happened June 3rd through 5th, 2021? | 2021-06-03 | 2021-06-06
What changed between March 2023 and now? | 2023-03-01 | 2024-05-16
Was hat sich zwischen März 2023 und jetzt geändert? | 2023-03-01 | 2024-05-16
What is due by Friday? | - | 2024-05-18
Was ist bis Freitag fällig? | - | 2024-05-18
What is on in the coming week? | 2024-05-20 | 2024-05-27
What is on in the upcoming month? | 2024-06-01 | 2024-07-01
Was war heute vor einem Jahr? | 2023-01-01 | 2024-01-01
Was war heute vor zwei Wochen? | 2024-04-29 | 2024-05-06
What was planned for July? | 2023-07-01 | 2023-08-01
What did he write two days ago? | 2024-05-13 | 2024-05-14
What came in two days ago? | 2024-05-13 | 2024-05-14
Was kam im ersten Halbjahr 2023 heraus? | 2023-01-01 | 2023-07-01
Was geschah zwischen dem 3. und 5. April 2023? | 2023-04-03 | 2023-04-06
What did he write 10 days ago? | 2024-05-05 | 2024-05-06
Where were we three weeks ago? | 2024-04-22 | 2024-04-29
Where did she live a year ago? | 2023-01-01 | 2024-01-01
Which bike did he own five years ago? | 2019-01-01 | 2020-01-01
What did I read a month ago? | 2024-04-01 | 2024-05-01
Who visited a couple of days ago? | 2024-05-10 | 2024-05-14
Who visited a few weeks ago? | 2024-04-08 | 2024-05-06
What changed half a year ago? | 2023-11-01 | 2023-12-01
What did she buy last weekend? | 2024-05-11 | 2024-05-13
What did they do this weekend? | 2024-05-18 | 2024-05-20
What did we ship last month? | 2024-04-01 | 2024-05-01
What did we ship this month? | 2024-05-01 | 2024-06-01
What did we spend last year? | 2023-01-01 | 2024-01-01
What did we spend this year? | 2024-01-01 | 2025-01-01
What do we aim for next year? | 2025-01-01 | 2026-01-01
What did we earn last quarter? | 2024-01-01 | 2024-04-01
Which films came out last decade? | 2010-01-01 | 2020-01-01
Where was Ada in March? | 2024-03-01 | 2024-04-01
Where was Ada in June? | 2023-06-01 | 2023-07-01
Where was Ada in May? | 2024-05-01 | 2024-06-01
Where was Ada last May? | 2023-05-01 | 2023-06-01
Where was Ada last March? | 2024-03-01 | 2024-04-01
Where will Ada be in June? | 2024-06-01 | 2024-07-01
What is she planning for March? | 2025-03-01 | 2025-04-01
Where was Ada in June 2022? | 2022-06-01 | 2022-07-01
Where was Ada in June of 2022? | 2022-06-01 | 2022-07-01
Where was Ada in Feb 2021? | 2021-02-01 | 2021-03-01
Where was Ada in March last year? | 2023-03-01 | 2023-04-01
Where was Ada last year in March? | 2023-03-01 | 2023-04-01
Where did Ada live in 2023? | 2023-01-01 | 2024-01-01
Where did Ada live during 2020? | 2020-01-01 | 2021-01-01
Where did Ada live in the year 1999? | 1999-01-01 | 2000-01-01
Where has Ada lived since 2023? | 2023-01-01 | -
Who has led the team since last March? | 2024-03-01 | -
What has changed since yesterday? | 2024-05-14 | -
Where did Ada live before 2021? | - | 2021-01-01
Where did Ada live prior to May 2019? | - | 2019-05-01
What did she do after 2021? | 2022-01-01 | -
Who ran the shop until 2018? | - | 2019-01-01
What was finished by last Friday? | - | 2024-05-11
What happened between May and July? | 2023-05-01 | 2023-08-01
What happened between November and February? | 2023-11-01 | 2024-03-01
What happened between 2019 and 2021? | 2019-01-01 | 2022-01-01
Where did he work from 2015 to 2017? | 2015-01-01 | 2018-01-01
Where did he work 2015-2017? | 2015-01-01 | 2018-01-01
Who stayed from 3 May to 7 May? | 2024-05-03 | 2024-05-08
Who stayed from 3 to 7 May 2022? | 2022-05-03 | 2022-05-08
Who stayed July 13-15? | 2023-07-13 | 2023-07-16
What was said between Monday and Wednesday? | 2024-05-13 | 2024-05-16
What did I do last summer? | 2023-06-01 | 2023-09-01
What did I do this summer? | 2024-06-01 | 2024-09-01
What did I do in the summer of 2021? | 2021-06-01 | 2021-09-01
What did I do in winter 2022? | 2022-12-01 | 2023-03-01
What did I do in spring? | 2024-03-01 | 2024-06-01
What did we plan last fall? | 2023-09-01 | 2023-12-01
What were the goals of Q3 2024? | 2024-07-01 | 2024-10-01
What were the goals of Q1? | 2024-01-01 | 2024-04-01
What were the goals of the third quarter of 2023? | 2023-07-01 | 2023-10-01
What were the goals of H2 2023? | 2023-07-01 | 2024-01-01
What did he say on Monday? | 2024-05-13 | 2024-05-14
What did he say on Wednesday? | 2024-05-15 | 2024-05-16
What did he say last Wednesday? | 2024-05-08 | 2024-05-09
What did he say on Friday? | 2024-05-10 | 2024-05-11
What is on next Friday? | 2024-05-17 | 2024-05-18
What did he say on Monday last week? | 2024-05-06 | 2024-05-07
What did he say last week on Tuesday? | 2024-05-07 | 2024-05-08
What happened on 3 May 2024? | 2024-05-03 | 2024-05-04
What happened on May 3rd, 2024? | 2024-05-03 | 2024-05-04
What happened on the 3rd of May? | 2024-05-03 | 2024-05-04
What happened on Friday, 3 May 2024? | 2024-05-03 | 2024-05-04
What happened on 2024-05-03? | 2024-05-03 | 2024-05-04
What happened on 25/12/2023? | 2023-12-25 | 2023-12-26
What happened on 02/29/2024? | 2024-02-29 | 2024-03-01
What happened in 2024-02? | 2024-02-01 | 2024-03-01
Which bills came in early 2023? | 2023-01-01 | 2023-05-01
Which bills came in mid-2023? | 2023-05-01 | 2023-09-01
Which bills came in late March? | 2024-03-21 | 2024-04-01
Which bills came at the end of 2022? | 2022-09-01 | 2023-01-01
Which bills came at the beginning of last month? | 2024-04-01 | 2024-04-11
Which bills came in the first half of 2023? | 2023-01-01 | 2023-07-01
Who was ill in the first week of March? | 2024-03-04 | 2024-03-11
Who was ill on the last Monday of March? | 2024-03-25 | 2024-03-26
Who was ill in the week of 6 March? | 2024-03-04 | 2024-03-11
What did I read in the last two weeks? | 2024-05-01 | 2024-05-16
What did I read in the past month? | 2024-04-15 | 2024-05-16
What did I read over the past few days? | 2024-05-10 | 2024-05-16
What is due in the next three days? | 2024-05-15 | 2024-05-19
What did Ada buy recently? | 2024-04-15 | 2024-05-16
Where did they live in the 1990s? | 1990-01-01 | 2000-01-01
Where did they live in the nineties? | 1990-01-01 | 2000-01-01
Who came at Christmas? | 2023-12-24 | 2023-12-27
Who came on New Year's Eve? | 2023-12-31 | 2024-01-01
Who came two days after Christmas? | 2023-12-28 | 2023-12-29
Where did Ada work before she moved in 2022? | - | 2022-01-01
What did they see during their trip last year? | 2023-01-01 | 2024-01-01
What did Ada do in September, before it rained? | 2023-09-01 | 2023-10-01
Was hat Ada gestern gesagt? | 2024-05-14 | 2024-05-15
Wer rief vorgestern an? | 2024-05-13 | 2024-05-14
Was ging heute Morgen kaputt? | 2024-05-15 | 2024-05-16
Was haben wir letzte Woche entschieden? | 2024-05-06 | 2024-05-13
Was steht nächste Woche an? | 2024-05-20 | 2024-05-27
Was schrieb er vor zwei Tagen? | 2024-05-13 | 2024-05-14
Wo waren wir vor drei Wochen? | 2024-04-22 | 2024-04-29
Wo wohnte sie vor einem Jahr? | 2023-01-01 | 2024-01-01
Wer kam vor ein paar Tagen? | 2024-05-10 | 2024-05-14
Was änderte sich vor einem halben Jahr? | 2023-11-01 | 2023-12-01
Was kaufte sie am letzten Wochenende? | 2024-05-11 | 2024-05-13
Was gaben wir letzten Monat aus? | 2024-04-01 | 2024-05-01
Was gaben wir im vergangenen Jahr aus? | 2023-01-01 | 2024-01-01
Was gaben wir dieses Jahr aus? | 2024-01-01 | 2025-01-01
Wo war Ada im März? | 2024-03-01 | 2024-04-01
Wo war Ada im Juni 2022? | 2022-06-01 | 2022-07-01
Wo war Ada im Mai letzten Jahres? | 2023-05-01 | 2023-06-01
Wo war Ada letztes Jahr im März? | 2023-03-01 | 2023-04-01
Wo wohnte Ada 2023? | 2023-01-01 | 2024-01-01
Wo wohnte Ada im Jahr 2023? | 2023-01-01 | 2024-01-01
Wo wohnt Ada seit 2023? | 2023-01-01 | -
Was hat sich seit letztem Monat geändert? | 2024-04-01 | -
Wo wohnte Ada vor 2021? | - | 2021-01-01
Was tat sie nach März 2021? | 2021-04-01 | -
Wer leitete den Laden bis 2018? | - | 2019-01-01
Was geschah zwischen Mai und Juli? | 2023-05-01 | 2023-08-01
Wo arbeitete er von 2015 bis 2017? | 2015-01-01 | 2018-01-01
Wer blieb vom 3. bis 7. Mai? | 2024-05-03 | 2024-05-08
Was tat ich letzten Sommer? | 2023-06-01 | 2023-09-01
Was tat ich im Sommer 2021? | 2021-06-01 | 2021-09-01
Was tat ich im Winter? | 2023-12-01 | 2024-03-01
Was waren die Ziele im dritten Quartal 2023? | 2023-07-01 | 2023-10-01
Was waren die Ziele in Q3 2024? | 2024-07-01 | 2024-10-01
Was sagte er am Montag? | 2024-05-13 | 2024-05-14
Was sagte er letzten Mittwoch? | 2024-05-08 | 2024-05-09
Was sagte er am Montag letzter Woche? | 2024-05-06 | 2024-05-07
Was geschah am 3. Mai 2024? | 2024-05-03 | 2024-05-04
Was geschah am 03.05.2024? | 2024-05-03 | 2024-05-04
Was geschah am 3.5.? | 2024-05-03 | 2024-05-04
Was geschah am Freitag, dem 3. Mai 2024? | 2024-05-03 | 2024-05-04
Welche Rechnungen kamen Anfang 2023? | 2023-01-01 | 2023-05-01
Welche Rechnungen kamen Mitte Mai? | 2024-05-11 | 2024-05-21
Welche Rechnungen kamen Ende März? | 2024-03-21 | 2024-04-01
Welche Rechnungen kamen in der ersten Hälfte von 2023? | 2023-01-01 | 2023-07-01
Wer war in der ersten Woche im März krank? | 2024-03-04 | 2024-03-11
Was las ich in den letzten zwei Wochen? | 2024-05-01 | 2024-05-16
Was las ich in den letzten Tagen? | 2024-05-10 | 2024-05-16
Was hat Ada kürzlich gekauft? | 2024-04-15 | 2024-05-16
Wo wohnten sie in den 90er Jahren? | 1990-01-01 | 2000-01-01
Wer kam zu Weihnachten? | 2023-12-24 | 2023-12-27
What did we do over the weekend? | 2024-05-11 | 2024-05-13
What is planned for the weekend? | 2024-05-18 | 2024-05-20
What happened on the weekend of 30 April? | 2024-05-04 | 2024-05-06
Was taten wir am Wochenende? | 2024-05-11 | 2024-05-13
What did he do the day after Christmas? | 2023-12-27 | 2023-12-28
What happened in the week after 3 May? | 2024-05-04 | 2024-05-11
What happened the month before Christmas? | 2023-11-24 | 2023-12-24
Was war in KW 12? | 2024-03-18 | 2024-03-25
Was war in KW 30? | 2023-07-24 | 2023-07-31
Was geschah in der Kalenderwoche 3 2022? | 2022-01-17 | 2022-01-24
Was geschah im Jänner 2025? | 2025-01-01 | 2025-02-01
Wer kam an Silvester? | 2023-12-31 | 2024-01-01
"""

BESIDE = """
Where did Ada work before she moved? | before | she moved
Where did Ada work before she moved to Bremen? | before | she moved to Bremen
Before she moved, where did Ada work? | before | she moved
What did he say after the wedding? | after | the wedding
What did he say two days after the offer? | after | the offer
Who has paid since the merger? | since | the merger
Who paid until the merger? | until | the merger
Who fed the cat during the holidays? | at | the holidays
Who fed the cat while I was away? | at | I was away
What did Ada drink when she lived in Paris? | at | she lived in Paris
Wo arbeitete Ada, bevor sie umzog? | before | sie umzog
Was sagte er nach der Hochzeit? | after | der Hochzeit
Was sagte er zwei Tage nach dem Angebot? | after | dem Angebot
Wer zahlt seit dem Umzug? | since | dem Umzug
Wer fütterte die Katze, während ich weg war? | at | ich weg war
Was trank Ada, als sie in Paris wohnte? | at | sie in Paris wohnte
Wer führte den Verein vor Kaspar? | before | Kaspar
Wer leitete vor Kaspar Meier das Team? | before | Kaspar Meier
"""

PAST = """
Where did Ada used to live? | used to
Where did Ada use to live? | use to
What did Ada use to drink? | use to
What is Ada's previous role? | previous
What was the prior address? | prior
Was ist Adas vorherige Adresse? | vorherige
Where did Ada previously live? | previously
Where did Ada live before? | before
What is the history of Ada's flats? | the history of
Wo wohnte Ada früher? | früher
Was trank Ada damals? | damals
"""

UNDATED = """
What do we do every Tuesday? | every Tuesday
Who comes at Easter? | Easter
What does she do on Sundays? | on Sundays
Was machen wir jeden Dienstag? | jeden Dienstag
Wer kommt zu Ostern? | Ostern
Wer sitzt im Bus vor Kaspar? | vor Kaspar
What happened on 03/05/2024? | 03/05/2024
What happened on 3/5/24? | 3/5/24
Was war am 31.4.2024? | 31.4.2024
Where did Ada live in her twenties? | twenties
Wo wohnte Ada in ihren Zwanzigern? | Zwanzigern
"""

NONE = """
Until when did Ada live in Bremen?
Since when does Ada live in Leipzig?
Bis wann wohnte Ada in Bremen?
Who paid 2000 euros?
He said '24 is fine'
When did Emi cook a vegetable stir-fry?
Welche Schuhgröße hat Frau Sommer?
When did Ada move?
What day is the party?
How many days did the trip take?
Which month did we launch in?
How old is Ada?
May I see the notes?
May I ask who March is?
Who lives in room 2024?
What did Ada use to open the can?
Which library did we use to parse dates?
Wer arbeitet beim Wasserwerk?
Seit wann ist Ada bei der Bahn angestellt?
What may happen?
Who will march?
Where does April live?
What is Redis used to store?
Which port does the server listen on?
Wann zog Ada um?
Wie viele Tage dauerte es?
In welchem Jahr zog Ada um?
Wo steht das Haus?
Wie komme ich nach Bremen?
Was stand vor Gericht?
Wer hilft vor Ort?
"""


def rows(table: str) -> list[list[str]]:
    """The parts of each line of a table."""
    return [[part.strip() for part in line.split("|")] for line in table.strip().splitlines()]


@pytest.mark.parametrize(("text", "begin", "end"), rows(DATED))
def test_a_phrase_is_a_half_open_window(text: str, begin: str, end: str) -> None:
    """S11: a time in a question, in English or German, is the right window."""
    found = window(text, TODAY)

    assert found is not None
    assert (found.begin, found.end) == (micros(begin), micros(end))
    assert text[slice(*found.span)] == found.phrase


@pytest.mark.parametrize(("text", "begin", "end"), rows(DATED))
def test_a_text_may_end_anywhere(text: str, begin: str, end: str) -> None:
    """S11: "What broke in March" without a mark at its end, or cut off."""
    words = text.rstrip("?").split()
    for count in range(len(words)):
        windows(" ".join(words[:count]), TODAY)

    found = window(text.rstrip("?"), TODAY)

    assert found is not None
    assert (found.begin, found.end) == (micros(begin), micros(end))


@pytest.mark.parametrize(("text", "relation", "anchor"), rows(BESIDE))
def test_a_time_relative_to_a_thing_names_the_thing(text: str, relation: str, anchor: str) -> None:
    """S11: what a time is relative to is named, to be looked for."""
    found = window(text, TODAY)

    assert found is not None
    assert (found.relation, found.anchor, found.is_dated) == (Relation(relation), anchor, False)


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("What did she do the week after the offer?", "2024-03-02", "2024-03-09"),
        ("Was tat sie in der Woche nach dem Angebot?", "2024-03-02", "2024-03-09"),
        ("What did she do the month before the offer?", "2024-02-01", "2024-03-01"),
        ("What did she do the day before the offer?", "2024-02-29", "2024-03-01"),
    ],
)
def test_a_unit_beside_a_thing_has_two_ends(text: str, begin: str, end: str) -> None:
    """S11: "the week after the offer", of 1 March, is a week, not all that came since."""
    found = window(text, TODAY)

    assert found is not None
    beside = found.beside(micros("2024-03-01") or 0, None)
    assert (beside.begin, beside.end) == (micros(begin), micros(end))


@pytest.mark.parametrize(("text", "phrase"), rows(PAST))
def test_words_of_the_past_are_a_window_without_dates(text: str, phrase: str) -> None:
    """S11: "used to", "früher", "history of" mean what held before."""
    found = window(text, TODAY)

    assert found is not None
    assert (found.of_past, found.phrase, found.is_dated) == (True, phrase, False)


@pytest.mark.parametrize(
    ("text", "of_past"),
    [
        ("Who led the choir before Jorun?", True),
        ("Wer führte den Verein, bevor Kaspar kam?", True),
        ("Who chaired the club before Ada?", True),
        ("Wer führte den Verein vor Kaspar?", True),
        ("Wer sitzt vor Kaspar?", False),
        ("What do I need before the trip?", False),
        ("What should I pack before the trip?", False),
        ("Was muss ich vor der Reise packen?", False),
        ("What was Piet's old number?", True),
        ("How old was Piet?", False),
        ("What were the old ones like?", False),
        ("What is Piet's old number worth?", False),
    ],
)
def test_before_and_old_ask_for_the_past_beside_a_verb_in_the_past(
    text: str, of_past: bool
) -> None:
    """S11: a plan before a thing, or an age, brings nothing in that has ended."""
    assert any(each.of_past for each in windows(text, TODAY)) is of_past


@pytest.mark.parametrize(("text", "phrase"), rows(UNDATED))
def test_a_time_that_is_not_understood_is_not_dropped(text: str, phrase: str) -> None:
    """S11: no time phrase is dropped unsaid."""
    found = window(text, TODAY)

    assert found is not None
    assert (found.is_dated, found.phrase) == (False, phrase)


@pytest.mark.parametrize(
    "words",
    ["monday ", "the first week of ", "the week of may ", "before ", "1 ", "- ", "in the ", "3. "],
)
def test_no_text_costs_much_or_fails(words: str) -> None:
    """S11: however often phrases stand within one another, a text is read in bounded time."""
    assert len(windows(words * 50_000, TODAY)) <= MOST  # else the test's time limit ends it


@pytest.mark.parametrize("text", NONE.strip().splitlines())
def test_what_names_no_time_is_no_window(text: str) -> None:
    """S11: asking for a time, or a word that may be one, names none."""
    assert windows(text, TODAY) == []


BENCH = Path(__file__).parents[4] / "tests/bench"


def asked() -> Iterator[str]:
    """Every text of the tables of tests, and of the benches' own phrases."""
    for table in (DATED, BESIDE, PAST, UNDATED, NONE):
        yield from (row[0] for row in rows(table))
    for path in sorted(BENCH.glob("time_phrases*.jsonl")):
        yield from (json.loads(line)["text"] for line in path.read_text().splitlines())


def vocabulary() -> list[str]:
    """Every word that the reader knows, in both languages, with signs and figures."""
    found = {"3", "3.", "12", "2024", "2024-05", "03.05.2024", "13/5/2024", "q3", "x", "Ada"}
    found |= set(",.-–/?!'’\"()")
    for language in ("en", "de"):
        known = time_words(language)
        found |= known.opening | known.telling | {*known.known.months, *known.known.weekdays}
        found |= {word for each in known.words.values() for word in each}
        phrases = (
            phrase for each in known.phrases.values() for some in each.values() for phrase in some
        )
        found |= {" ".join(each) for each in phrases}
    return sorted({*found, *(each.capitalize() for each in found)} - {"n", "weekday"})


def read(text: str, today: int = TODAY) -> None:
    """Reads a text; each phrase is a part of it, and each window ends after it begins."""
    for each in windows(text, today):
        assert text[slice(*each.span)] == each.phrase
        assert each.phrase
        if each.begin is not None and each.end is not None:
            assert each.begin < each.end


@pytest.mark.parametrize(
    "text", ["What happened in June", "Was geschah im Mai", "Anfang Mai", "by June", "early June"]
)
def test_a_text_that_ends_in_a_month_has_its_window(text: str) -> None:
    """S11: no full stop behind it is needed."""
    (found,) = windows(text, TODAY)

    assert found.is_dated
    assert found.span.end == len(text)


def test_no_text_fails_wherever_it_ends() -> None:
    """S11: each text of the tables and benches, cut behind, and before, each of its words."""
    texts = list(dict.fromkeys(asked()))
    assert len(texts) > 200
    for text in texts:
        for word in words_in(text):
            read(text[: word.end])
            read(text[word.start :])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(vocabulary()), min_size=1, max_size=9),
    st.sampled_from([TODAY, 0, -(10**17), 2 * 10**17, 253_402_214_400_000_000]),
)
def test_no_row_of_known_words_fails(words: list[str], today: int) -> None:
    """S11: in whatever order the reader's own words come, and whenever they are read."""
    read(" ".join(words), today)
