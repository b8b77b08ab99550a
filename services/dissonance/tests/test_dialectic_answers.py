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
        ("How deep is the port?", "The chart gives 8 metres.", "The port is 6 metres deep.", None),
        (
            "Wie hoch ist die Kurtaxe?",
            "Die Kurtaxe beträgt 2 Euro.",
            "Der Rat hat die Kurtaxe auf 3 Euro festgesetzt.",
            None,
        ),
        (
            "Wie weit müssen Bäume von der Grenze entfernt sein?",
            based("Bäume über 2 m müssen 2 m Abstand halten.", "Art. 47 AGBGB", "Bayern"),
            based("Bäume über 2 m müssen 4 m Abstand halten.", "§ 38 NachbG", "Hessen"),
            R,
        ),
        (
            "How many people died in the flood?",
            "According to the official report 12 people died in the flood.",
            "By hearsay 40 people died in the flood.",
            H,
        ),
        (
            "Was kostet die Parzelle?",
            based("Die Parzelle kostet höchstens 90 Euro.", "§ 5 BKleingG"),
            based("Die Parzelle kostet 120 Euro.", "Vereinbarung der Firma Ott"),
            H,
        ),
        (
            "Muss die Bank ein Konto einrichten?",
            based("Ein Konto ist einzurichten.", "§ 31 ZKG"),
            based("Konten werden nicht eingerichtet.", "Hausordnung"),
            H,
        ),
        (
            "Where is the bell kept?",
            "The bell is kept in the tower.",
            "The bell is kept in the museum.",
            None,
        ),
        (
            "Wo stehen die Maschinen?",
            "Die Maschinen stehen ausschließlich in Halle Nord.",
            "Die Maschinen stehen in einem Zelt.",
            None,
        ),
        (
            "Who winds the clock?",
            "The clock is wound by Ryan alone.",
            "The clock is wound by Otto.",
            None,
        ),
        (
            "Is fishing allowed in the pond?",
            "Fishing is allowed in the pond.",
            "From March to May fishing is not allowed in the pond.",
            C,
        ),
        (
            "May guests use the sauna?",
            "Guests may not use the sauna.",
            "Guests with a wristband may use the sauna.",
            C,
        ),
        (
            "Is the bridge safe?",
            "The old bridge is safe.",
            "The bridge is not safe.",
            None,
        ),
        (
            "Who has the map?",
            "The map is with Ms Ode.",
            "Mr Lund alone holds the map.",
            None,
        ),
        (
            "Wie lange gilt die Garantie?",
            "Die Garantie gilt zwei Jahre.",
            "Ist das Gerät gebraucht, gilt die Garantie ein Jahr.",
            C,
        ),
        (
            "When is the report due?",
            "The report is due on 3 May.",
            "For small firms the report is due on 9 June.",
            C,
        ),
        (
            "Wie viele Sitze hat das Boot?",
            "Das Boot hat zwei Sitze.",
            "Das Boot hat einen Sitz.",
            None,
        ),
        (
            "How often is the well tested?",
            "The well is tested twice a year.",
            "The well is tested once a year.",
            None,
        ),
        (
            "Wie oft wird bei festen Böden gepflügt?",
            "Es wird einmal im Jahr gepflügt.",
            "Bei nassen Böden wird dreimal im Jahr gepflügt.",
            C,
        ),
        (
            "How many birds nest here?",
            "200 birds nest here.",
            "By a census 260 birds nest here.",
            C,
        ),
        (
            "Wie viele Betten hat das Heim?",
            "Im Jahr 2015/16 hatte das Heim 80 Betten.",
            "Heute stehen im Heim 60 Betten.",
            T,
        ),
        (
            "How wide must the doors be?",
            "The 2004 guideline asks for doors of 80 cm.",
            "The 2019 guideline asks for doors of 90 cm.",
            T,
        ),
        (
            "Müssen Hunde zahlen?",
            "Hunde müssen zahlen.",
            "Jagdhunde müssen nicht zahlen.",
            C,
        ),
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
        ("Do the pupils swim?", ("Most pupils swim.", "Some pupils do not swim.")),
        ("Was sagen die Leser?", ("Einige sind zufrieden.", "Andere sind nicht zufrieden.")),
        (
            "Must drivers carry a blanket?",
            ("There is no duty to carry a blanket.", "The club recommends carrying a blanket."),
        ),
        (
            "Welche Temperatur hat der Schrank?",
            ("Der Kühlschrank hat 7 Grad.", "Der Gefrierschrank hat 18 Grad."),
        ),
        (
            "Does the law ban the sale?",
            ("The law bans the sale of fireworks.", "The law allows the sale of candles."),
        ),
        (
            "Is a permit needed for a kiln?",
            (
                based("A small kiln needs no permit.", "§ 63 HBO"),
                based("The act on emissions may require a permit.", "§ 4 BImSchG"),
            ),
        ),
        (
            "Müssen Kajaks angemeldet werden?",
            (
                based("Nein, Kajaks werden nicht angemeldet.", "BayBO"),
                based("Eine Anmeldung ist nicht nötig.", "HBO"),
            ),
        ),
        (
            "Darf die Praxis Befunde weitergeben?",
            (
                based("Die Praxis darf Rechnungen weitergeben.", "§ 301 SGB V"),
                based("Für Befunde braucht die Praxis eine Einwilligung.", "Art. 9 DSGVO"),
            ),
        ),
        ("Where do the storks nest?", ("Storks nest on roofs.", "Storks nest in trees.")),
        (
            "How many guests may stay?",
            ("Not more than 9 guests may stay.", "8 guests may stay."),
        ),
    ],
)
def test_parts_of_one_answer_are_united(question: str, claims: tuple[str | Claim, ...]) -> None:
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
        "Betriebsvereinbarung der Spedition",
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
