"""What texts are judged to be without a model, by what their sentences say (D3, D4, D13)."""

from dataclasses import replace

import pytest
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.judges.text import CONFIDENCE
from concord_dissonance.domain.sides import Kind, Micros, RelationRule, Rules, Side
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    ConflictType,
    Judge,
    Older,
    Reason,
    Verdict,
)

NO_RULES = Rules()


def memory(text: str, **fields: object) -> Side:
    """Return a fact that nobody dated."""
    return replace(Side(text, Kind.FACT, text), **fields)  # type: ignore[arg-type] # as given


def judged(
    first: str | Side, second: str | Side, rules: Rules = NO_RULES
) -> tuple[ConflictClass, Reason, Older] | Abstained:
    """Judge two texts in short, and see that the other order says the same."""
    one, other = (memory(each) if isinstance(each, str) else each for each in (first, second))
    said, swapped = judge(one, other, rules), judge(other, one, rules)
    if isinstance(said, Abstention):
        assert swapped == said
        return said.reason
    assert swapped == said.swapped()
    return said.conflict, said.reason, said.older


def contradicts(reason: Reason) -> tuple[ConflictClass, Reason, Older]:
    """Return what is said of a contradiction."""
    return ConflictClass.CONTRADICTION, reason, Older.NEITHER


def evolves(reason: Reason, older: Older = Older.FIRST) -> tuple[ConflictClass, Reason, Older]:
    """Return what is said of an evolution."""
    return ConflictClass.EVOLUTION, reason, older


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("The server is in Frankfurt.", "The server is not in Frankfurt.", Reason.NEGATION),
        ("Bo has a car.", "Bo has no car.", Reason.NEGATION),
        ("Nobody signs the contract.", "Somebody signs the contract.", Reason.NEGATION),
        ("Anna has never been vegan.", "Anna was vegan.", Reason.NEGATION),
        ("The timeout is 30 seconds.", "The timeout is 45 seconds.", Reason.QUANTITY),
        ("The deadline is one month.", "The deadline is two weeks.", Reason.QUANTITY),
        ("The tower is 30 metres tall.", "The tower is 45 metres tall.", Reason.QUANTITY),
        ("Anna has two children.", "Anna has 3 children.", Reason.NUMBER),
        ("The archive opens at nine.", "The archive opens at ten.", Reason.NUMBER),
        ("The talk is in room 3.", "The talk is in room 4.", Reason.NUMBER),
        ("The review is on 12 March.", "The review is on March 14th.", Reason.DATE),
        ("Ada was born in 1980.", "Ada was born in 1982.", Reason.DATE),
        ("The API is public.", "The API is private.", Reason.ANTONYM),
        ("Bo is alive.", "Bo is dead.", Reason.ANTONYM),
        ("The tea is colder than the soup.", "The soup is colder than the tea.", Reason.ANTONYM),
        ("The fence is red.", "The fence is green.", Reason.EXCLUSIVE_WORDS),
        ('The "main" branch is open.', 'The "main" branch is closed.', Reason.ANTONYM),
    ],
)
def test_contradictions_in_english(first: str, second: str, reason: Reason) -> None:
    """D4 D13 Two frames that say the same but for two words that cannot both hold."""
    assert judged(first, second) == contradicts(reason)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("Anna mag Kaffee.", "Anna mag keinen Kaffee.", Reason.NEGATION),
        ("Bo hat ein Auto.", "Bo hat kein Auto.", Reason.NEGATION),
        ("Die Brücke ist gesperrt.", "Die Brücke ist nicht gesperrt.", Reason.NEGATION),
        ("Die Frist beträgt 30 Tage.", "Die Frist beträgt 60 Tage.", Reason.QUANTITY),
        ("Die Frist beträgt einen Monat.", "Die Frist beträgt zwei Wochen.", Reason.QUANTITY),
        ("Das Archiv öffnet um 9 Uhr.", "Das Archiv öffnet um 10 Uhr.", Reason.QUANTITY),
        ("Der Saal fasst 80 Personen.", "Der Saal fasst 50 Personen.", Reason.NUMBER),
        ("Das Treffen ist am 12. März.", "Das Treffen ist am 14. März.", Reason.DATE),
        ("Die Firma wurde 1999 gegründet.", "Die Firma wurde 2003 gegründet.", Reason.DATE),
        ("Die Tür ist offen.", "Die Tür ist geschlossen.", Reason.ANTONYM),
        ("Der Zaun ist rot.", "Der Zaun ist grün.", Reason.EXCLUSIVE_WORDS),
    ],
)
def test_contradictions_in_german(first: str, second: str, reason: Reason) -> None:
    """D4 D13 As in English; the frames are read by rules."""
    assert judged(first, second) == contradicts(reason)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna is married to Bob.", "Anna is married to Carl."),
        ("Maeve owns the boat.", "Tomas owns the boat."),
        ("The treasurer is Maeve.", "The treasurer is Tomas."),
        ("Der Kassenwart ist Jonas.", "Der Kassenwart ist Lena."),
    ],
)
def test_two_values_of_what_has_one(first: str, second: str) -> None:
    """D4 An owner, an office, a spouse have one value at a time."""
    assert judged(first, second) == contradicts(Reason.TWO_VALUES)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna lives in France.", "Anna lives in Spain."),
        ("Anna lives in Paris.", "Anna lives in Rome."),
        ("The clock was made in Austria.", "The clock was made in Japan."),
        ("Anna wohnt in Italien.", "Anna wohnt in Polen."),
    ],
)
def test_two_values_of_one_kind_of_what_has_many_kinds(first: str, second: str) -> None:
    """D4 A home, an origin have one city and one country, whatever else they are."""
    assert judged(first, second) == contradicts(Reason.EXCLUSIVE_WORDS)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna lives in Bonn.", "Anna lives in Germany."),
        ("Anna wohnt in Bonn.", "Anna wohnt in Deutschland."),
        ("The clock was made in Vienna.", "The clock was made in Austria."),
    ],
)
def test_a_place_may_lie_in_a_country(first: str, second: str) -> None:
    """D4 Two names are two values only where neither can hold the other."""
    assert isinstance(judged(first, second), Abstained)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The timeout is 1 minute.", "The timeout is 60 seconds."),
        ("The run was 1 km.", "The run was 1000 m."),
        ("The ratio is 3.1.", "The ratio is 3.14."),
        ("The run took about 100 seconds.", "The run took 103 seconds."),
        ("At least 5 people came.", "7 people came."),
        ("The review is on 12 March.", "The review is in March."),
        ("Der Preis beträgt 1.000 Euro.", "Der Preis beträgt 1000 €."),
        ("Two dogs bark.", "2 dogs bark."),
        ("No, the server is up.", "The server is up."),
        ("Es kostet 1.234,50 Euro.", "Es kostet 1234,5 Euro."),
        ("Das Treffen ist um 9 Uhr.", "Das Treffen ist um 9:00 Uhr."),
        ("Anna buys a car.", "Anna purchases an automobile."),
        ("The treasurer is Maeve.", "The treasurer is Maeve Byrne."),
        ("Die Flagge ist rot und weiß.", "Die Flagge ist weiß und rot."),
        ("The server is not down.", "The server is up."),
        ("Das Licht ist nicht aus.", "Das Licht ist an."),
    ],
)
def test_the_same_in_other_writing_is_no_conflict(first: str, second: str) -> None:
    """D3 D4 Units, precision, bounds, granularity, synonyms, long and short names."""
    assert isinstance(judged(first, second), Abstained)


def test_the_same_text_of_one_source_is_the_same_statement() -> None:
    """D3 A duplicate is no conflict, and is told as what it is."""
    one = memory("The server is up.", sources=frozenset({"Ada"}))

    assert judged(one, replace(one, id="again", written=Micros(9))) == (
        ConflictClass.NONE,
        Reason.SAME_STATEMENT,
        Older.NEITHER,
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Is the bridge closed?", "The bridge is open."),
        ("Ist die Brücke gesperrt?", "Die Brücke ist nicht gesperrt."),
        ("Bo wants to use Redis.", "Bo does not use Redis."),
        ("The bridge will be closed.", "The bridge is open."),
        ("The bridge may be closed.", "The bridge is open."),
        ("If it storms, the bridge is closed.", "The bridge is open."),
        ("Wenn es stürmt, ist die Brücke gesperrt.", "Die Brücke ist offen."),
        ("Open the bridge!", "The bridge is closed."),
        ("Bo says that the bridge is closed.", "The bridge is open."),
        ("Bo hopes the bridge is closed.", "The bridge is open."),
        ("Apparently the bridge is closed.", "The bridge is open."),
        ("'The bridge is closed', she said.", "The bridge is open."),
        ('He wrote "the bridge is closed".', "The bridge is open."),
        ("In the novel the bridge is closed.", "The bridge is open."),
        ("The claim that the bridge is closed is false.", "The bridge is open."),
        ("Ada sagt, dass die Brücke gesperrt ist.", "Die Brücke ist nicht gesperrt."),
        ("»Die Brücke ist gesperrt«, sagte Ada.", "Die Brücke ist nicht gesperrt."),
        ("Laut Bo ist die Brücke gesperrt.", "Die Brücke ist nicht gesperrt."),
        ("I don't know if the bridge is closed.", "The bridge is open."),
        ("Nobody knows whether the bridge is closed.", "The bridge is open."),
        ("I forgot that the bridge is closed.", "The bridge is open."),
        ("As Bo puts it, the bridge is closed.", "The bridge is open."),
        ("TODO: the bridge is closed.", "The bridge is open."),
        ("The bridge is to be closed.", "The bridge is open."),
        ("When it storms, the bridge is closed.", "The bridge is open."),
        ("It said `the bridge is closed`.", "The bridge is open."),
    ],
)
def test_what_is_not_asserted_is_not_judged(first: str, second: str) -> None:
    """D4 D13 Questions, wishes, plans, conditions, orders, hearsay, quotations, stories, code."""
    assert isinstance(judged(first, second), Abstained)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The museum is open.", "The library is closed."),
        ("Bob likes coffee.", "Anna does not like coffee."),
        ("The north gate is open.", "The south gate is closed."),
        ("The Bonn office opens at nine.", "The Bern office opens at ten."),
        ("Mila's dog is old.", "Milo's dog is young."),
        ("Bo's sister lives in Rome.", "Bo lives in Bonn."),
        ("Hall 3 is open.", "Hall 4 is closed."),
        ("Saal 3 ist offen.", "Saal 4 ist geschlossen."),
        ("Ticket 3: the backup job runs at 4:00.", "Ticket 12: the backup job runs at 4:00."),
        ("Bo likes hot soup.", "Bo likes cold soup."),
        ("The car has four doors.", "The car has five seats."),
        ("Zwei Türen sind offen.", "Drei Türen sind offen."),
        ("The shop sells two cakes.", "The shop sells three cakes."),
        ("Tina Keller is tall.", "Sven Keller is short."),
        ("New York is big.", "York is small."),
        ("The shop opens after 6 pm.", "The shop opens at 7 pm."),
        ("The talk is at 15:00.", "The talk is at 3."),
        ("Das Treffen ist um 15 Uhr.", "Das Treffen ist um 3 Uhr."),
        ("The class is on Monday.", "The class is on Thursday."),
        ("The train arrives at 10.", "The train arrives at 12."),
        ("The minimum age is 16.", "The maximum age is 60."),
        ("Bo works for Siemens.", "Bo works for Tom."),
        ("Ada lives in Berlin.", "Ada lives in Kreuzberg."),
        ("Ada wohnt in Berlin.", "Ada wohnt in einer Wohnung."),
        ("With a cache the site is fast.", "Without a cache the site is slow."),
        ("The front door is open.", "The door is closed."),
        ("The limit is 30 seconds by default.", "The limit is 60 seconds in production."),
        ("The office is open this week.", "The office is closed this week."),
        ("Most users are happy.", "The users are unhappy."),
        ("The soup is too hot.", "The soup is not hot."),
        ("The server that Bo bought is up.", "The server is down."),
        ("Bo buys old bikes.", "Bo sells old bikes."),
        ("Ada owes Bo 5 euros.", "Bo owes Ada 10 euros."),
        ("Ada does not eat much meat.", "Ada eats meat."),
        ("Ada isst nicht viel Fleisch.", "Ada isst Fleisch."),
        ("Der Turm ist noch nicht fertig.", "Der Turm ist fertig."),
        ("The officer's first visit is over.", "The officer's second visit is over."),
        ("The choir sings the second verse.", "The choir sings the third verse."),
        ("The pump moves 20 litres.", "The pump wastes 2 litres."),
        ("Phase 1 costs 3 euros.", "Phase 2 costs 5 euros."),
        ("In Q1 sales were 3 million.", "In Q2 sales were 5 million."),
        ("Data is kept 30 days in Germany.", "Data is kept 60 days in France."),
        ("Some doors are open.", "Some doors are closed."),
        ("Some doors are open.", "The doors are closed."),
        ("Einige Türen sind offen.", "Einige Türen sind geschlossen."),
        ("The bridge is open except on Sundays.", "The bridge is closed."),
        ("Der Laden ist außer sonntags offen.", "Der Laden ist geschlossen."),
        ("In summer the pool opens at six.", "In winter the pool opens at nine."),
        ("Not only Redis is used.", "Redis is used."),
        ("A horse with no rider jumps.", "A horse with a rider jumps."),
        ("Anna did not deny that she is ill.", "Anna is ill."),
        ("The train to Bern does not run daily.", "The train to Basel runs daily."),
    ],
)
def test_of_other_things_or_with_other_limits_is_no_conflict(first: str, second: str) -> None:
    """D4 Other subjects, owners and scopes; names with numbers; some of many; exceptions."""
    assert isinstance(judged(first, second), Abstained)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Bo ate three apples on Monday.", "Bo ate two apples on Tuesday."),
        ("The team won on Monday.", "The team lost on Tuesday."),
        ("Ada visited Lisbon in June.", "Ada visited Lisbon in September."),
        ("Mia won the race in 2019.", "Mia won the race in 2022."),
        ("The build took 12 minutes.", "The build took 15 minutes."),
        ("The door was open.", "The door was closed."),
        ("The build failed on 3 May.", "The build passed on 3 May."),
        ("In 2019 Anna lived in Rome.", "In 2020 Anna lived in Bonn."),
        ("The bridge was closed on 3 May.", "The bridge was open on 4 May."),
        ("Two kids are playing with a dog.", "The kids have never played with a dog."),
        ("A man is lifting a box.", "A man is lowering a box."),
    ],
)
def test_what_happened_at_other_times_is_no_conflict(first: str, second: str) -> None:
    """D4 Events of different days, states of different years, moments."""
    assert isinstance(judged(first, second), Abstained)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ada owns a dog.", "Ada owns a cat."),
        ("Ada likes tea.", "Ada likes coffee."),
        ("Bo speaks Dutch.", "Bo speaks Greek."),
        ("Bo has been to Rome.", "Bo has been to Bonn."),
        ("Das Haus hat eine Küche.", "Das Haus hat ein Bad."),
        ("Bo spricht Dänisch.", "Bo spricht Polnisch."),
    ],
)
def test_what_admits_both_is_no_contradiction(first: str, second: str) -> None:
    """D4 Words that exclude one another do so where something is only one of them."""
    assert isinstance(judged(first, second), Abstained)


def test_i_is_whoever_speaks() -> None:
    """D13 Of two people "I" is two; of one it is one; of nobody it is not judged."""
    rome, bonn = "I live in Rome.", "I live in Bonn."
    ada, bob = frozenset({"Ada"}), frozenset({"Bob"})

    assert judged(memory(rome, sources=ada), memory(bonn, sources=ada)) == contradicts(
        Reason.EXCLUSIVE_WORDS
    )
    assert isinstance(judged(memory(rome, sources=ada), memory(bonn, sources=bob)), Abstained)
    assert isinstance(judged(rome, bonn), Abstained)


def test_whose_brother_it_is_must_be_known() -> None:
    """D13 "My" is the speaker's; of an owner whom nobody knows nothing is judged."""
    mine, hers = "My brother lives in Rome.", "My brother lives in Bonn."
    ada, bob = frozenset({"Ada"}), frozenset({"Bob"})

    assert judged(memory(mine, sources=ada), memory(hers, sources=ada)) == contradicts(
        Reason.EXCLUSIVE_WORDS
    )
    assert isinstance(judged(memory(mine, sources=ada), memory(hers, sources=bob)), Abstained)
    for other in ("Your brother lives in Bonn.", "His brother lives in Bonn."):
        assert isinstance(judged(memory(mine, sources=ada), memory(other, sources=ada)), Abstained)
        assert isinstance(judged(mine, other), Abstained)


def test_links_are_not_what_a_text_says() -> None:
    """M3 D4 Nor is the label before one."""
    assert judged(
        "The door is open. Supersedes: [[memory:a]]", "The door is shut. Amends: [[memory:b]]"
    ) == contradicts(Reason.ANTONYM)


def test_a_plan_and_a_fact_do_not_meet() -> None:
    """D3 D4 Two plans do."""
    first, second = (
        memory(f"The archive opens at {hour}.", kind=Kind.PLAN) for hour in ("nine", "ten")
    )

    assert judged(first, second) == contradicts(Reason.NUMBER)
    assert judged(first, replace(second, kind=Kind.FACT)) is Abstained.NOT_ASSERTED


@pytest.mark.parametrize(
    ("former", "later"),
    [
        ("Anna works at Acme.", "Anna no longer works at Acme."),
        ("Anna used to be vegan.", "Anna is vegan."),
        ("The office is in Bonn.", "The office is now in Bern."),
        ("Ada works at Ferro.", "Ada left Ferro in March."),
        ("Ada lived in Rome.", "Ada lives in Bonn."),
        ("Ada was the treasurer.", "Ada is not the treasurer."),
        ("Anna arbeitet bei Siemens.", "Anna arbeitet nicht mehr bei Siemens."),
        ("Früher wohnte Anna in Köln.", "Anna wohnt in Köln."),
        ("Der Laden war offen.", "Der Laden ist geschlossen."),
    ],
)
def test_words_of_change_phases_and_tense_make_an_evolution(former: str, later: str) -> None:
    """D4 With later time or with none; order of arrival is nothing beside them."""
    assert judged(former, later) == evolves(Reason.WORDS_OF_CHANGE)
    assert judged(former, memory(later, written=Micros(9))) == evolves(Reason.WORDS_OF_CHANGE)


def test_later_stated_time_and_restating_make_an_evolution() -> None:
    """D4 The later valid_from, or the same source; order of arrival alone never does."""
    first, second = memory("The archive opens at nine."), memory("The archive opens at ten.")
    arrived = [replace(first, written=Micros(1)), replace(second, written=Micros(2))]
    said = [replace(each, sources=frozenset({"Anna"})) for each in arrived]
    begun = replace(second, valid_from=Micros(2))

    assert judged(replace(first, valid_from=Micros(5)), begun) == evolves(
        Reason.LATER_STATE, Older.SECOND
    )
    assert judged(arrived[0], arrived[1]) == contradicts(Reason.NUMBER)
    assert judged(said[0], said[1]) == evolves(Reason.RESTATED)
    assert judged(replace(first, valid_until=Micros(2)), begun) is Abstained.OTHER_TIME


def test_never_denies_all_that_was_before_it() -> None:
    """D4 "I have never": later a contradiction, earlier a first time; of habits neither."""
    done, never = "I have climbed the Zugspitze.", "I have never climbed the Zugspitze."
    early, late = ({"valid_from": Micros(time), "sources": frozenset({"me"})} for time in (1, 2))

    assert judged(memory(done, **early), memory(never, **late)) == contradicts(Reason.NEGATION)
    assert judged(memory(never, **early), memory(done, **late)) == evolves(Reason.LATER_STATE)
    assert judged(
        memory("Bo smokes at home.", **early), memory("Bo never smokes at home.", **late)
    ) == evolves(Reason.LATER_STATE)


def test_what_a_space_declares_counts_in_texts() -> None:
    """D4 Exclusive sets, containers and names."""
    rules = Rules(
        {"ROLE": RelationRule(exclusive=(frozenset({"lead", "trainee"}),))},
        {"Berlin": frozenset({"Germany"})},
        {"Robert": "Bob", "Bob": "Bob", "Charlie": "Carl", "Carl": "Carl"},
    )

    assert judged("Anna is lead.", "Anna is trainee.", rules) == contradicts(
        Reason.EXCLUSIVE_VALUES
    )
    assert judged("Anna lives in Berlin.", "Anna lives in Germany.", rules) == (
        ConflictClass.NUANCE,
        Reason.CONTAINED,
        Older.NEITHER,
    )
    assert judged("Bob has 2 cars.", "Robert has 3 cars.", rules) == contradicts(Reason.NUMBER)
    assert judged("Bob hat 2 Autos.", "Robert hat 3 Autos.", rules) == contradicts(Reason.NUMBER)
    assert isinstance(judged("Bob has 2 cars.", "Robert has 3 cars."), Abstained)
    assert isinstance(
        judged("The treasurer is Charlie.", "The treasurer is Carl.", rules), Abstained
    )


def test_the_type_says_what_they_disagree_about() -> None:
    """D2 Changes over time are TEMPORAL; law and method by the words of both."""
    pairs = {
        ConflictType.FACTUAL: ("The door is open.", "The door is closed."),
        ConflictType.LEGAL: ("The contract is legal.", "The contract is not legal."),
        ConflictType.METHODOLOGICAL: ("The method is safe.", "The method is dangerous."),
        ConflictType.TEMPORAL: ("Anna works here.", "Anna no longer works here."),
    }

    for kind, (first, second) in pairs.items():
        said = judge(memory(first), memory(second), NO_RULES)
        assert isinstance(said, Verdict)
        assert (said.type, said.judge, said.confidence) == (kind, Judge.LEXICAL, CONFIDENCE)


def test_the_reason_points_into_the_texts() -> None:
    """D2 D11 It holds spans and no words."""
    first = memory("Hello. We met.  The door is open. Bye.")
    second = memory("It rains. The door is closed.")
    said = judge(first, second, NO_RULES)

    assert isinstance(said, Verdict)
    (one,), (other,) = said.first, said.second
    assert first.text[slice(*one)].rstrip(".") == "The door is open"
    assert second.text[slice(*other)].rstrip(".") == "The door is closed"
