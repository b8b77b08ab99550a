"""Synthesis without a model: theses, contradictions, what resolves them, and the words for it."""

import random

import pytest
from concord_dissonance.domain.dialectic.contradictions import (
    Ambiguity,
    Clash,
    compare,
    compare_all,
    pairs_of,
)
from concord_dissonance.domain.dialectic.extraction import extend, extract, sentences_of
from concord_dissonance.domain.dialectic.resolutions import Contradiction, Strategy, resolve
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.synthesis import Conclusions, Synthesis
from concord_dissonance.domain.dialectic.theses import Batch, Claim, Source, WhyAside
from concord_dissonance.domain.dialectic.wording import Wording
from concord_dissonance.domain.sides import Micros, Rules
from concord_dissonance.domain.verdicts import ConflictType, Severity

YEAR = 31_557_600_000_000
C, T, S, H, R = (
    Strategy.CONTEXTUALIZATION,
    Strategy.TEMPORAL_ORDERING,
    Strategy.SYNTHESIS,
    Strategy.HIERARCHIZATION,
    Strategy.REGIONAL_DIFFERENTIATION,
)
LEGAL, FACTUAL, TEMPORAL, REGIONAL, METHOD = (
    ConflictType.LEGAL,
    ConflictType.FACTUAL,
    ConflictType.TEMPORAL,
    ConflictType.REGIONAL,
    ConflictType.METHODOLOGICAL,
)


def theses(*claims: Claim) -> list[Scoped]:
    """Return the theses of claims of two agents in turn."""
    batches = [extract(Source("AB"[at % 2], [each])) for at, each in enumerate(claims)]
    return [Scoped(thesis) for batch in batches for thesis in batch.theses]


def contradiction(one: Claim, other: Claim) -> Contradiction | None:
    """Return what contradicts, resolved by rule."""
    pair = theses(one, other)
    found = compare(pair[0], pair[1], Rules())
    return resolve(found, pair) if isinstance(found, Clash) else None


def synthesis(*claims: Claim, language: str = "en") -> Synthesis:
    """Synthesize claims."""
    scoped = theses(*claims)
    found = compare_all(scoped, pairs_of(scoped), Rules())
    conclusions = Conclusions(
        [each.thesis for each in scoped],
        contradictions=[resolve(each, scoped) for each in found if isinstance(each, Clash)],
        ambiguities=[each for each in found if isinstance(each, Ambiguity)],
    )
    return Wording(language, scoped).synthesis("", conclusions)


@pytest.mark.parametrize(
    ("one", "other", "type_", "strategy", "prevailing"),
    [
        ("Seit 2020 gilt der Wert 40 mg.", "Bis 2019 galt der Wert 60 mg.", TEMPORAL, T, 0),
        ("The fee was 300 euros in 2019.", "The fee is 450 euros in 2023.", TEMPORAL, T, 1),
        ("In Bayern ist ein Antrag nötig.", "In Hessen ist kein Antrag nötig.", REGIONAL, R, None),
        ("In Texas the fee is 5 euros.", "In Oregon the fee is 9 euros.", REGIONAL, R, None),
        (
            "Nach BayBO ist eine Baugenehmigung erforderlich.",
            "Im vereinfachten Verfahren ist keine Baugenehmigung nötig.",
            LEGAL, C, None,
        ),
        (
            "Nach §10 BauGB ist für den Neubau eine Baugenehmigung erforderlich.",
            "Im vereinfachten Verfahren ist keine Baugenehmigung nötig.",
            LEGAL, C, None,
        ),
        ("The noise limit is 55 dB.", "The noise limit at night is 40 dB.", FACTUAL, C, None),
        (
            "Measured at noon, the road carries 5,000 cars.",
            "Measured at noon, the road carries 8,000 cars.",
            METHOD, None, None,
        ),
        ("Einige Wege wurden gebaut.", "Die Wege wurden nicht gebaut.", FACTUAL, None, None),
        ("A permit is required.", "No permit is needed.", LEGAL, None, None),
        ("The drug is safe for children.", "The drug is unsafe for children.", FACTUAL, None, None),
        ("Die Frist endet am 3. Mai.", "Die Frist endet am 9. Juni.", TEMPORAL, None, None),
        ("The contract ended in 2021.", "The contract ended in 2023.", TEMPORAL, None, None),
        ("Das Werk liegt in Deutschland.", "Das Werk liegt in Frankreich.", FACTUAL, None, None),
        ("The limit used to be 50 km/h.", "The limit is 30 km/h.", TEMPORAL, T, 1),
        ("The shop used to open at 8.", "The shop opens at 9.", TEMPORAL, T, 1),
        ("Früher betrug die Gebühr 100 Euro.", "Die Gebühr beträgt 150 Euro.", TEMPORAL, T, 1),
        ("Die Gebühr betrug 2019 300 Euro.", "2023 betrug die Gebühr 450 Euro.", TEMPORAL, T, 1),
        ("In Ulm kostet die Karte 3 Euro.", "In Trier kostet die Karte 4 Euro.", REGIONAL, R, None),
        ("In Bavaria a permit is needed.", "In Bayern no permit is needed.", LEGAL, None, None),
        ("Nach BayBO ist Lärm erlaubt.", "Nach HBO ist Lärm verboten.", REGIONAL, R, None),
        ("Das Gesetz verbietet Werbung.", "Die Satzung erlaubt Werbung.", LEGAL, H, 0),
        ("The bylaw allows pigs.", "Federal law does not allow pigs.", LEGAL, H, 1),
        ("Dogs may enter the hall.", "Dogs may not enter the hall.", FACTUAL, None, None),
        ("Die Frist beträgt einen Monat.", "Die Frist beträgt zwei Wochen.", FACTUAL, None, None),
    ],
)  # fmt: skip
def test_a_contradiction_is_typed_and_resolved_by_what_the_claims_say(
    one: str, other: str, type_: ConflictType, strategy: Strategy | None, prevailing: int | None
) -> None:
    """D2 D8 What two claims differ in besides decides; what is disputed itself decides nothing."""
    found = contradiction(Claim(one), Claim(other))

    assert found is not None
    assert (found.type, found.strategy, found.prevailing) == (type_, strategy, prevailing)


YES, NO = "The permit is required.", "The permit is not required."
STATUTES = ("Art. 59 BayBO", "§ 10 BauGB")


@pytest.mark.parametrize(
    ("one", "other", "strategy", "prevailing"),
    [
        (Claim(YES, valid_from=Micros(2 * YEAR)), Claim(NO, valid_from=Micros(YEAR)), T, 0),
        (Claim(YES, region="North"), Claim(NO, region="South"), R, None),
        (Claim(YES, authority=0.4), Claim(NO, authority=0.6), H, 1),
        (Claim(YES, authority=0.5), Claim(NO, authority=0.6), None, None),
        (
            Claim(YES, (STATUTES[0],), legal_basis=STATUTES[:1]),
            Claim(NO, (STATUTES[1],), legal_basis=STATUTES[1:]),
            H, 1,
        ),
        (Claim(YES, context="new houses"), Claim(NO, context="sheds"), C, None),
        (Claim(YES, context="Sheds"), Claim(NO, context="sheds"), None, None),
        (Claim(YES), Claim(NO), None, None),
    ],
)  # fmt: skip
def test_a_contradiction_is_resolved_by_what_is_stated_of_the_claims(
    one: Claim, other: Claim, strategy: Strategy | None, prevailing: int | None
) -> None:
    """D8 Time, region, authority or legal rank, and context; swapped, the same one prevails."""
    found, swapped = contradiction(one, other), contradiction(other, one)

    assert found is not None
    assert swapped is not None
    assert (found.strategy, found.prevailing) == (strategy, prevailing)
    assert swapped.strategy is strategy
    assert swapped.prevailing == (None if prevailing is None else 1 - prevailing)
    assert found.severity is (Severity.CRITICAL if strategy is None else Severity.MODERATE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Aus Sicht der Stadt ist der Bau gut.", "Aus Sicht der Vögel ist der Bau schlecht."),
        (
            "From an economic point of view the plan is good.",
            "From an ecological point of view the plan is bad.",
        ),
        (
            "Measured by counts, the road carries 5,000 cars.",
            "Estimated from maps, the road carries 8,000 cars.",
        ),
        ("Einige Wege wurden gebaut.", "Einige Wege wurden nicht gebaut."),
        ("The house is green.", "The tree is tall."),
        ("The permit is required.", "The permit is required."),
        ("All employees must wear helmets.", "Visitors do not have to wear helmets."),
        ("The fee in district 5 is 30 euros.", "The fee in district 7 is 40 euros."),
        ("Room 1 is red.", "Room 2 is blue."),
        ("Phase 1 costs 300 euros.", "Phase 2 costs 500 euros."),
    ],
)  # fmt: skip
def test_another_point_of_view_is_no_contradiction(one: str, other: str) -> None:
    """D8 Nor is another method, what holds of some, of other things, or says the same."""
    first, second = theses(Claim(one), Claim(other))
    assert compare(first, second, Rules()) is False


AMBIGUOUS = Claim("Zuständig ist das Bauamt."), Claim("Zuständig ist das Landratsamt.")


def test_what_may_both_hold_is_ambiguous_and_no_contradiction() -> None:
    """D8 Ambiguity is a finding of its own, and leaves the synthesis complete."""
    found = synthesis(*AMBIGUOUS)

    assert not found.conclusions.contradictions
    assert found.conclusions.ambiguities == [Ambiguity(0, 1)]
    assert "Landratsamt" in found.ambiguities[0]
    assert "Unbestritten" not in synthesis(*AMBIGUOUS, language="de").text


def batch(text: str = "", *claims: Claim) -> Batch:
    """Return what becomes of an agent's result."""
    return extract(Source("A", claims, text))


@pytest.mark.parametrize(
    "text",
    [
        "Vielleicht hilft ein Anwalt.",
        "The permit might be required.",
        "Is a permit required?",
        "Reportedly the mine is closed.",
        "Hoffentlich bleibt die Mine offen.",
        "Die Mine wird wohl geschlossen.",
    ],
)
def test_what_is_supposed_is_no_thesis(text: str) -> None:
    """D8 It is set aside, in its own words, whether claimed or written."""
    for found in (batch(text), batch("", Claim(text))):
        assert not found.theses
        assert [(each.text, each.reason) for each in found.set_aside] == [
            (text, WhyAside.SPECULATION)
        ]


def test_a_legal_basis_counts_where_its_source_states_it() -> None:
    """D8 In its words or in its field; what a model adds to a text is set aside by name."""
    claim = Claim("Ein Antrag ist nötig.", legal_basis=("§ 10 BauGB", "Art. 59 BayBO"))
    source = Source("A", text="Nach §10 BauGB ist ein Antrag nötig.")
    said = Claim("Ein Antrag ist nötig.", ("ein Antrag nötig",), legal_basis=claim.legal_basis)
    found = extend(source, extract(source), [], [said])

    assert batch("", claim).theses[0].legal_basis == claim.legal_basis
    assert found.theses[0].legal_basis == ("§ 10 BauGB",)
    assert [each.text for each in found.set_aside] == ["Art. 59 BayBO"]
    assert batch("", Claim("Nach § 10 BauGB gilt es.")).theses[0].legal_basis == ("§ 10 BauGB",)


def test_an_agent_that_contradicts_itself_gives_both_theses() -> None:
    """D8 Three of a text: what is denied first, then what has a statute or a number; more where
    more is denied."""
    found = batch(
        "Viele Bürger fragen nach. Ein Antrag ist nötig. Die Akten sind alt. "
        "Nach Art. 59 Abs. 1 BayBO entscheidet das Amt. Kein Antrag ist nötig."
    )

    assert [each.claim for each in found.theses] == [
        "Ein Antrag ist nötig.",
        "Nach Art. 59 Abs. 1 BayBO entscheidet das Amt.",
        "Kein Antrag ist nötig.",
    ]
    assert found.theses[1].legal_basis == ("Art. 59 Abs. 1 BayBO",)
    twice = (
        "The museum is open on Mondays. The cafe is closed in winter. "
        "The cafe is not closed in winter. The museum is not open on Mondays."
    )
    assert len(batch(twice).theses) == 4


def test_what_says_nothing_by_itself_is_no_thesis() -> None:
    """D8 Headings, links, code and replies are passed over, and what is said again counts once."""
    found = batch(
        "# The bridge over the river is new\n\nSounds good to me, let's do it.\n"
        "Thanks, that helps!\nKlingt gut, mache ich.\nSee also [[memory:a]] and [[memory:b]]\n"
        "Related: [[memory:c|the old bridge is shut]]\nMore: https://a.example/bridge/is/open\n"
        "```\nthe bridge is code\n```\nTea is hot.\n- tea is hot!\n"
        "Use `uv`, not pip ([[memory:d]])."
    )

    claims = [each.claim for each in found.theses]
    assert claims == ["Tea is hot.", "Use `uv`, not pip ([[memory:d]])."]
    assert not found.set_aside


@pytest.mark.parametrize(
    ("claim", "quote", "is_thesis"),
    [
        ("A bridge is opened to lorries.", "open to lorries", True),
        ("The bridge is open to tractors.", "The bridge is open", False),
        ("The bridge is not open to lorries.", "open to lorries", False),
        ("The bridge is green.", "The bridge", False),
    ],
)
def test_a_models_thesis_has_the_words_of_its_source(
    claim: str, quote: str, is_thesis: bool
) -> None:
    """D8 In any form; what it invents, or turns round, is set aside for all its quotes."""
    source = Source("A", text="The bridge is open to lorries. Tea is hot.")
    found = extend(source, extract(source), [], [Claim(claim, (quote,))])

    assert (claim in [each.claim for each in found.theses]) == is_thesis
    aside = [] if is_thesis else [(claim, WhyAside.UNSUPPORTED)]
    assert [(each.text, each.reason) for each in found.set_aside] == aside


def test_sentences_end_where_they_do() -> None:
    """D8 A full stop of an abbreviation or a date ends none, one after a number does."""
    text = "Nach Art. 6 Abs. 1 DSGVO gilt es ab dem 3. Mai. Der Wert ist 5. Z.B. hier:\n- nur so"

    assert sentences_of(text) == [
        "Nach Art. 6 Abs. 1 DSGVO gilt es ab dem 3. Mai.",
        "Der Wert ist 5.",
        "Z.B. hier:",
        "nur so",
    ]


def test_what_is_to_be_found_out_is_what_the_claims_leave_open() -> None:
    """D8 Who does not say from when is asked that, and bases are compared where there are any."""
    dated = synthesis(
        Claim("The fee is 300 euros."), Claim("The fee is 400 euros.", valid_from=Micros(YEAR))
    )
    plain = synthesis(Claim(YES), Claim(NO))

    (found,) = dated.described
    assert found.resolutions[0].startswith("Ask A from when its claim holds: that of B holds from")
    assert not any("rest on" in each for each in plain.described[0].resolutions)


def test_a_region_is_shown_as_its_claim_names_it() -> None:
    """D8 It is compared by its first name, and told in the source's own word."""
    found = synthesis(
        Claim("In Bayern kostet es 3 Euro."), Claim("In Hessen kostet es 4 Euro."), language="de"
    )
    assert "Nach der Region: Bayern" in found.text


def test_confidence_is_what_is_resolved_times_what_is_kept() -> None:
    """D8 What gives way to a higher rank is not kept, and the reply says how it comes about."""
    found = synthesis(
        Claim(YES, confidence=0.9, authority=0.9),
        Claim(NO, confidence=0.1, authority=0.1),
        Claim("The fee is 30 euros.", confidence=0.6),
        Claim("The fee is 40 euros.", confidence=0.6),
    )
    concluded = found.conclusions

    assert concluded.kept == [0, 2, 3]
    assert concluded.confidence == pytest.approx(0.5 * 0.7)
    assert "0.35 = 0.50" in found.reasoning
    assert "1 of 2" in found.reasoning
    assert concluded.unresolved == [1]
    assert found.summary == (
        "Dialectical synthesis: 4 theses, 2 contradictions, 1 unresolved, confidence 0.35"
    )


def test_braces_and_placeholders_of_a_claim_stay_text() -> None:
    """D11 The words of a source are data for the templates."""
    found = synthesis(Claim("{a} is {confidence.__class__}."), Claim(YES), language="de")

    assert "{a} is {confidence.__class__}." in found.text
    assert found.text.startswith("Unbestritten:")


CLAIMS = (
    YES,
    NO,
    "The fee is 30 euros.",
    "The fee is 40 euros.",
    "Perhaps it rains.",
    "Tea is hot.",
)


@pytest.mark.parametrize("seed", range(10))
def test_every_thesis_is_kept_and_every_contradiction_ends(seed: int) -> None:
    """D8 Whatever is claimed: all of it is there, resolved or unresolved, and in the text."""
    chance = random.Random(seed)
    claims = [
        Claim(
            chance.choice(CLAIMS),
            confidence=chance.random(),
            region=chance.choice(("", "North", "South")),
            authority=chance.choice((None, 0.1, 0.9)),
        )
        for _ in range(chance.randrange(8))
    ]
    found = synthesis(*claims)
    concluded, asserted = found.conclusions, [c.text for c in claims if "Perhaps" not in c.text]

    assert [each.claim for each in concluded.theses] == asserted
    assert all(each in found.text for each in asserted)
    ended = [each.strategy is not None for each in concluded.contradictions]
    assert concluded.unresolved == [at for at, resolved in enumerate(ended) if not resolved]
    assert all(described.resolutions for described in found.described)
    assert 0 <= concluded.confidence <= 1
