"""The lexicon and the template: what urges is found, what is neutral passes (V3)."""

import itertools

import pytest
from concord_governance.domain import framing
from concord_governance.domain.framing import LANGUAGES, demand_neutral, from_template
from concord_governance.domain.lexicon import LEXICON, violations
from concord_governance.domain.proposals import Affected, Kind, Trigger

NEUTRAL = [
    "Two statements name different cities.",
    "The city of Ada is Graz since 2024.",
    "After approval the edge has the weight 0.5.",
    "Without an answer in 48 hours nothing changes.",
    "Zwei Aussagen nennen verschiedene Städte.",
    "Der Wohnort von Ada ist seit 2024 Graz.",
    "Nach Zustimmung hat die Kante das Gewicht 0,5.",
    "Ohne Antwort binnen 48 Stunden bleibt alles, wie es ist.",
    "Die Sollbruchstelle und der Musskatalog sind Namen.",
    "Die Befristung endet im Mai.",
    "A bestiary and a mustard seed are listed.",
    "Greatham is a village.",
]


@pytest.mark.parametrize("text", NEUTRAL)
def test_neutral_sentences_pass(text: str) -> None:
    """V3 Precision: words that only contain others, names and figures are left alone."""
    assert violations([text]) == []


def test_every_listed_word_is_found() -> None:
    """V3 Recall: each word of the list is found in a sentence, in any case."""
    for word in itertools.chain.from_iterable(LEXICON.values()):
        said = word.removesuffix("*")

        assert violations([f"It is said: {said.upper()}, and so on."]), word


def test_words_are_named_once_and_in_order() -> None:
    """V3 The refusal names the words."""
    assert violations(["You must act now.", "You must."]) == ["must", "act now"]


@pytest.mark.parametrize(
    ("language", "kind", "trigger"), list(itertools.product(LANGUAGES, Kind, Trigger))
)
@pytest.mark.parametrize("count", [0, 1, 9])
def test_the_template_passes_its_own_check(
    language: str, kind: Kind, trigger: Trigger, count: int
) -> None:
    """V3 Every template of every action, in both languages, is neutral by the lexicon."""
    items = [
        Affected(f"item-{n}", 2, "etag" if n else "", needs_consent=True) for n in range(count)
    ]

    words = from_template(
        language, kind, trigger, "agent", items, taken_along=count, days=30, hours=48
    )

    demand_neutral(words)
    assert words.affected.count(f"; {count} ") == bool(count)
    assert "48" in words.if_rejected
    assert "30" in words.if_approved


def test_both_languages_say_the_same_things() -> None:
    """V3 No action and no trigger is without words in a language."""
    for table in (framing._KINDS, framing._TRIGGERS, framing._WORDS):
        assert table["en"].keys() == table["de"].keys()
