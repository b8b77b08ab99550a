"""Syntheses of claims that answer one question: contradictions, regions and strategies."""

import pytest
from concord_dissonance.domain.dialectic.contradictions import Clash, compare_all, pairs_of
from concord_dissonance.domain.dialectic.extraction import extract
from concord_dissonance.domain.dialectic.legal import rank, regions
from concord_dissonance.domain.dialectic.numerals import in_figures
from concord_dissonance.domain.dialectic.questions import asked
from concord_dissonance.domain.dialectic.resolutions import Strategy, resolve
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.synthesis import Conclusions
from concord_dissonance.domain.dialectic.theses import Claim, Source
from concord_dissonance.domain.sides import Rules

C, T, S, H, R = (
    Strategy.CONTEXTUALIZATION,
    Strategy.TEMPORAL_ORDERING,
    Strategy.SYNTHESIS,
    Strategy.HIERARCHIZATION,
    Strategy.REGIONAL_DIFFERENTIATION,
)


def concluded(question: str, *claims: str | Claim) -> Conclusions:
    """Synthesize claims of as many agents as answers to a question."""
    stated = [each if isinstance(each, Claim) else Claim(each) for each in claims]
    batches = [extract(Source(str(at), [each])) for at, each in enumerate(stated)]
    theses = [Scoped(each, asked(question)) for batch in batches for each in batch.theses]
    found = compare_all(theses, pairs_of(theses), Rules())
    return Conclusions(
        [each.thesis for each in theses],
        contradictions=[resolve(each, theses) for each in found if isinstance(each, Clash)],
    )


def based(text: str, basis: str, region: str = "") -> Claim:
    """Return a claim with a legal basis in its field."""
    return Claim(text, legal_basis=(basis,), region=region)


@pytest.mark.parametrize(
    ("question", "one", "other", "strategy"),
    [
        (
            "Wie hoch darf ein Zaun an der Grenze sein?",
            based("Zäune sind bis 2 m verfahrensfrei.", "§ 62 BauO NRW"),
            based("Bis zu einer Höhe von 1,5 m braucht er nichts.", "§ 50 LBO Baden-Württemberg"),
            R,
        ),
        (
            "Ist ein Windrad im Außenbereich zulässig?",
            based("Windräder sind dort privilegiert zulässig.", "§ 35 BauGB"),
            based("Windräder sind dort unzulässig.", "Satzung der Gemeinde"),
            H,
        ),
        (
            "Wie weit muss der Stall vom Wohnhaus entfernt sein?",
            based("Der Abstand muss mindestens 50 m betragen.", "Satzung der Gemeinde"),
            based("Ein Abstand von 20 m genügt.", "BayBO"),
            H,
        ),
        (
            "How long must invoices be kept?",
            "Until 2024 invoices had to be kept for ten years.",
            "Since 2025 they must be kept for eight years.",
            T,
        ),
        (
            "How many seats does the app allow?",
            "Up to version 4.2 the app allowed 10 seats.",
            "Since version 5 the app allows 25 seats.",
            T,
        ),
        (
            "At what temperature should yoghurt ferment?",
            "It ferments at 43 degrees.",
            "With the Bulgarian culture it ferments at 38 degrees.",
            C,
        ),
        (
            "Wie lange ist die Kündigungsfrist?",
            "Die Kündigungsfrist beträgt drei Monate.",
            "Nach fünf Jahren beträgt die Kündigungsfrist sechs Monate.",
            C,
        ),
        (
            "How tall is the tower?",
            "The tower is 42 metres tall.",
            "Its height is 45 metres.",
            None,
        ),
        (
            "Is the reservoir water safe to drink?",
            "The water of the reservoir is safe to drink, without exception.",
            "Nobody should drink the water of the reservoir.",
            None,
        ),
        (
            "Wer bezahlt den Winterdienst?",
            "Den Winterdienst bezahlt der Vermieter.",
            "Den Winterdienst bezahlen die Mieter.",
            None,
        ),
        ("When does the bank close?", "The bank closes on 3 May.", "It closes on 9 May.", None),
    ],
)
def test_two_answers_exclude_each_other_in_whatever_words(
    question: str, one: str | Claim, other: str | Claim, strategy: Strategy | None
) -> None:
    """D8 The question says what both speak of; region, rank, time or circumstance resolves it."""
    for claims in ((one, other), (other, one)):
        (found,) = concluded(question, *claims).contradictions

        assert found.strategy is strategy


@pytest.mark.parametrize(
    ("question", "claims"),
    [
        ("What does the camp cost?", ("Children pay 40 euros.", "Adults pay 70 euros.")),
        (
            "What does a season ticket cost?",
            ("Holders pay 250 euros.", "Each holder is charged two hundred and fifty euros."),
        ),
        (
            "Zahlen die Mieter pauschal?",
            ("Manche Mieter zahlen pauschal.", "Manche zahlen nicht pauschal."),
        ),
        (
            "How many people live in Oakford?",
            ("A census counted 4,200 people.", "A survey by phone estimated 4,900 people."),
        ),
        (
            "Ist der neue Fahrplan gut?",
            ("Für Pendler ist der Fahrplan gut.", "Für Schüler ist der Fahrplan schlecht."),
        ),
        (
            "Wie funktioniert die Pumpe?",
            ("Der Verdichter bringt 30 bar.", "Nach der Drossel bleiben dem Kältemittel 5 bar."),
        ),
        ("How deep is the well?", ("The well is at least 30 m deep.", "The well is 34 m deep.")),
    ],
)
def test_parts_of_one_answer_are_united(question: str, claims: tuple[str, ...]) -> None:
    """D8 Parts, methods, points of view and equal values are no contradictions."""
    found = concluded(question, *claims)

    assert not found.contradictions
    assert found.strategies == [S]


def test_one_thesis_is_united_with_nothing() -> None:
    """D8 Nor has a synthesis without any thesis a strategy."""
    assert concluded("How deep is the well?", "The well is 30 m deep.").strategies == []
    assert concluded("How deep is the well?").strategies == []


@pytest.mark.parametrize(
    ("basis", "region"),
    [
        ("Art. 57 BayBO", "bavaria"),
        ("Bauordnung NRW", "north rhine-westphalia"),
        ("§ 8 LBauO M-V", "mecklenburg-vorpommern"),
        ("§ 8 LBauO", "rhineland-palatinate"),
        ("Sächsisches Wassergesetz", "saxony"),
        ("§ 35 BauGB", ""),
    ],
)
def test_a_statute_tells_its_land(basis: str, region: str) -> None:
    """D8 By the Land's name, its adjective or its abbreviation; federal law tells none."""
    assert regions([basis]) == ({region} if region else set())


def test_law_has_levels() -> None:
    """D8 The Union's goes before federal law, that before a Land's, that before a town's."""
    levels = (
        "Art. 6 Regulation (EU) 2016/679",
        "§ 35 BauGB",
        "§ 4 BauNVO",
        "Straßengesetz Hessen",
        "Satzung der Stadt Ulm",
    )
    ranks = [rank([each]) for each in levels]

    assert None not in ranks
    assert ranks == sorted(ranks, key=lambda each: -(each or 0))
    assert len({*ranks}) == len(levels)


@pytest.mark.parametrize(
    ("language", "text", "written"),
    [
        ("en", "one hundred and forty euros", "140 euros"),
        ("en", "four and a half of twenty-one", "4.5 of 21"),
        ("en", "two thousand five hundred and six", "2506"),
        ("en", "two three and one hundred and then", "two three and 100 and then"),
        ("de", "viereinhalb von zweihundertfünfunddreißig", "4,5 von 235"),
        ("de", "ein Hund im Jahrhundert, anderthalb", "ein Hund im Jahrhundert, 1,5"),
    ],
)
def test_numbers_of_several_words_are_figures(language: str, text: str, written: str) -> None:
    """D8 One amount is the same however it is written."""
    assert in_figures(text, language) == written
