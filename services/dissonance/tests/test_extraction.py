"""Facts that texts state, by reading (D13)."""

from datetime import UTC, datetime

import pytest
from concord_dissonance.domain.extraction.by_reading import extract
from concord_dissonance.domain.extraction.candidate import TAKEN_FROM, Candidate, Said, dialogue
from concord_dissonance.domain.sides import Micros

TIME = Micros(int(datetime(2024, 5, 15, 14, tzinfo=UTC).timestamp()) * 1_000_000)
"""A Wednesday."""

STATED = {
    "the attribute of a verb with its preposition": (
        "Ada works for Airbus in Munich.",
        ("Ada", "EMPLOYER", "Airbus"),
    ),
    "a verb with its preposition": ("Ada went to a fair.", ("Ada", "GO_TO", "fair")),
    "who speaks": ("I live in Bonn.", ("Eve", "HOME", "Bonn")),
    "what belongs to who speaks": ("I sold my old car.", ("Eve", "SELL", "Eve's old car")),
    "a noun": ("The depot is located in Ulm.", ("depot", "PLACE", "Ulm")),
    "whom a pronoun means": (
        "Ada moved to Paris. She works for Airbus.",
        ("Ada", "EMPLOYER", "Airbus"),
    ),
    "a passive": ("Bob was hired by Siemens.", ("Bob", "HIRED_BY", "Siemens")),
    "what somebody wants": ("I want to open a studio.", ("Eve", "WANT", "to open a studio")),
    "a clause as its object": (
        "I love running my studio.",
        ("Eve", "LOVE", "running Eve's studio"),
    ),
    "no address": ("I sold the shop, Bob.", ("Eve", "SELL", "shop")),
    "German": ("Anna Müller arbeitet bei Siemens.", ("Anna Müller", "EMPLOYER", "Siemens")),
    "a German attribute": (
        "Das Büro liegt in der Bachstraße 5.",
        ("Büro", "PLACE", "Bachstraße 5"),
    ),
}


def facts(text: str, speaker: str = "Eve") -> list[Candidate]:
    """What Eve, who speaks to Bob, states on that Wednesday."""
    turns = [Said(text, speaker, time=TIME), Said("Fine.", "Bob")]
    return [each for each in extract(dialogue(turns)) if each.text == 0]


@pytest.mark.parametrize(("text", "fact"), STATED.values(), ids=STATED.keys())
def test_a_sentence_is_a_fact_with_its_words(text: str, fact: tuple[str, str, str]) -> None:
    """D13 Subject, relation and object of what a clause asserts, and where it stands."""
    found = [each for each in facts(text) if each.confidence >= TAKEN_FROM]

    assert (found[-1].subject, found[-1].relation, found[-1].object) == fact
    quote = text[slice(*found[-1].span)]
    assert quote
    assert fact[2].split()[-1] in quote


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Bonn?",
        "I will move to Bonn.",
        "If I win, I buy a car.",
        "Sell the car!",
        "I don't eat meat.",
        "Maybe I live in Bonn.",
        "They sold it.",
        "Some people like tea.",
        "# Ada lives in Bonn",
        "`Ada lives in Bonn`",
        "Thanks, Bob!",
        "",
    ],
)
def test_what_is_not_asserted_is_no_fact(text: str) -> None:
    """D13 Questions, plans, conditions, orders, denials and what is no sentence give none."""
    assert [each for each in facts(text) if each.confidence >= TAKEN_FROM] == []


@pytest.mark.parametrize(
    "text",
    [
        "I mostly eat fish.",
        "I can play the harp.",
        "I used to live in Bonn.",
        "I sold it to him.",
        "This depot has a crane.",
        "Next month I'm having a show.",
        "You're a great teacher.",
        "One of my shops is shut.",
        "The idea of selling the shop is old.",
        "I have to sell the shop.",
        "Each shop has a door.",
        "Red Hammer\nCopper Wire holds the board.",
        "I bought a car that I had seen at that place which my brother had told me of when we"
        " met at the fair which took place in the town in which both of us had been at school.",
    ],
)
def test_what_says_less_or_more_than_a_fact_is_not_sure(text: str) -> None:
    """D13 What is limited, hedged, past, pointed at, to come or cut is shown, and not taken."""
    assert [each for each in facts(text) if each.confidence >= TAKEN_FROM] == []


@pytest.mark.parametrize(
    "text",
    [
        "Angenommen, ich wohne in Bonn.",
        "Vielleicht, so hieß es, wohne ich in Bonn.",
        "Ich habe gehört, dass Dora umgezogen ist.",
        "My dentist is, I believe, Dr. Weber.",
        "I was supposed to work at Airbus.",
        "My dog's name is Bello and my cat's name is Mimi.",
        "Her aunt told her: I am ill. I live in Bonn.",
        "2024-01-03 12:00:01 ERROR disk is full",
        "WARN pool: worker lives in Bonn",
        "user=bob host=alpha is in Bonn",
    ],
)
def test_what_is_told_supposed_or_logged_is_not_sure(text: str) -> None:
    """D13 Hearsay, suppositions, what others say of themselves, and lines of logs."""
    assert not [each for each in facts(text) if each.confidence >= TAKEN_FROM]


TIMES = {
    "I sold the car yesterday.": ("2024-05-14", "2024-05-15"),
    "Last Friday I sold the car.": ("2024-05-10", "2024-05-11"),
    "I sold the car three weeks ago.": ("2024-04-22", "2024-04-29"),
    "I sold the car about three weeks ago.": (None, None),
    "I sold the car last year.": ("2023-01-01", "2024-01-01"),
    "I sold the car in March 2020.": ("2020-03-01", "2020-04-01"),
    "I sold the car on 3 March.": (None, None),
    "I sold the car.": (None, None),
    "I have worked for Airbus since 2019.": ("2019-01-01", None),
    "The fair is on 3 May 2024.": (None, None),
    "Anna leitet seit gestern den Einkauf.": ("2024-05-14", None),
}


@pytest.mark.parametrize(("text", "period"), TIMES.items(), ids=TIMES.keys())
def test_a_time_is_what_the_sentence_states(
    text: str, period: tuple[str | None, str | None]
) -> None:
    """D13 Dates with a year, and phrases by the text's own day; all else stays unstated."""
    (found,) = facts(text)

    assert (_day(found.valid_from), _day(found.valid_until)) == period


def test_without_a_time_of_the_text_yesterday_is_no_time() -> None:
    """D13 A phrase alone dates nothing."""
    (found,) = extract([Said("Ada sold the car yesterday.")])

    assert (found.valid_from, found.valid_until) == (None, None)


def test_one_verb_is_one_relation() -> None:
    """D13 In whatever form it stands."""
    text = "I took a car. I started a blog. I have studied law. I was hoping for rain. I wanna go."

    assert {"TAKE", "START", "STUDY", "HOPE_FOR"} <= {each.relation for each in facts(text)}
    assert facts("I wanna see the sea.")[0].relation == "WANT"


def _day(time: Micros | None) -> str | None:
    return None if time is None else datetime.fromtimestamp(time / 1e6, UTC).date().isoformat()
