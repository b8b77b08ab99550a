"""What presses is refused, however it is spelt; what tells is not (V3)."""

import pytest
from concord_governance.domain.exceptions import FramingViolation
from concord_governance.domain.framing import demand_neutral, from_template
from concord_governance.domain.lexicon import is_quiet, violations
from concord_governance.domain.proposals import Affected, Framing, Kind, Trigger

PRESSING = [
    "Approve this now!",
    "please kindly approve",
    "It is imperative that you approve.",
    "It is essential and crucial to approve.",
    "This is vital.",
    "You'd better approve",
    "Only a fool would reject this.",
    "Rejecting this is a mistake.",
    "This has been approved 5 times before.",
    "Bitte stimme zu.",
    "Stimme unbedingt zu!",
    "Es ist unbedingt erforderlich.",
    "Wichtig: das ist notwendig.",
    "Sie muessten zustimmen",
    "muessen",
    "Rec\u043emmend",
    "I highly rec\u200bommend it",
    "You should approve this.",
    "Please approve.",
    "Everyone agrees with this; you approved similar ones before.",
    "Es ist höchste Zeit",
    "Ich empfehle es.",
    "\uff35\uff52\uff47\uff45\uff4e\uff54",
    "URGENT!!!",
    "u r g e n t",
    "sh0uld",
    "This is good for you.",
    "Das ist gut für dich.",
    "Bitte genehmigen Sie das.",
    "Bitte genehmige das.",
    "Du solltest zustimmen",
    "Man müßte zustimmen",
    "empfehlenswert",
    "Das wäre schlimm.",
    "It would be terrible",
    "Nur Dumme lehnen ab.",
    "re\u00adcommend",
    "recommend\u0301",
    "rec\u0336ommend",
    "Approve.",
    "Approve both changes today.",
    "Sign it and move on.",
    "A note was added. Accept it without delay.",
    "Just confirm the change.",
    "Agree to this.",
    "Vote yes.",
    "Say yes to the new value.",
    "You can go ahead and sign.",
    "You will regret a refusal.",
    "Let us approve this together.",
    "Do not reject it.",
    "Don't hesitate.",
    "Give your consent today.",
    "Nobody would refuse such a change.",
    "Everyone has accepted the earlier ones.",
    "Most users agree with it.",
    "It was already approved last week.",
    "The same edge was accepted three times already.",
    "You approved many of these.",
    "As always, the value is kept.",
    "This is clearly right.",
    "It is very important.",
    "That would be wrong.",
    "Declining would be an error.",
    "It is in your best interest.",
    "There is no reason not to sign.",
    "I ask you to sign.",
    "We strongly suggest the change.",
    "We count on you.",
    "Time is running out.",
    "Now or never.",
    "Important: the edge changes.",
    "It is necessary that both sign.",
    "This is the only option.",
    "The change is harmless.",
    "A sensible choice.",
    "This simply makes sense.",
    "must\nnot be rejected",
    "you_must_approve",
    "s\u043eon you mu\u0455t sign",
    "d\u0435adline",
    "\u03b1pprove, this is urg\u03b5nt",
    "y o u  m u s t  s i g n",
    "p.l.e.a.s.e approve",
    "4pprove pl3ase",
    "rec0mmended",
    "M\u2060ust",
    "m\u034fust",
    "YouShouldApprove",
    "Stimmen Sie jetzt zu.",
    "Genehmige das.",
    "Genehmigen Sie die Änderung.",
    "Bestätige es jetzt.",
    "Lehne das nicht ab.",
    "Unterschreib!",
    "Stimm doch zu.",
    "Eine Ablehnung wäre ein Fehler.",
    "Zustimmen ist richtig.",
    "Es wäre falsch, abzulehnen.",
    "Das ist sehr wichtig.",
    "Dies ist notwendig.",
    "Es ist noetig.",
    "Das liegt in Ihrem Interesse.",
    "Niemand würde das ablehnen.",
    "Alle haben schon zugestimmt.",
    "Das wurde bereits fünfmal genehmigt.",
    "Schon oft bestätigt.",
    "Wie immer bleibt alles gleich.",
    "Wir raten zur Annahme.",
    "Die Zeit drängt.",
    "Jetzt zustimmen.",
    "Zögern Sie nicht.",
    "Sie koennen ruhig zustimmen.",
    "Nur ein Narr lehnt das ab.",
    "Das ist harmlos.",
    "Es ist überfällig.",
    "Ich zaehle auf dich.",
    "So schnell wie moeglich.",
    "Auf keinen Fall ablehnen.",
    "Sonst verlierst du alles.",
    "fuerchterlich",
    "Es waere schrecklich.",
    "Das ist die einzige Wahl.",
    "Sign here before you leave.",
    "I would approve it if I were you.",
    "It would be foolish to say no.",
    "A yes costs you nothing.",
    "Any sane person would sign.",
    "You owe it to Ada to accept.",
    "The sooner this is signed the better.",
    "All previous requests of this kind were granted.",
    "This needs to happen today.",
    "Do it.",
    "Time to sign.",
    "No need to read the details, just approve.",
    "Quick approval is appreciated.",
    "This is a no-brainer.",
    "Trust me on this one.",
    "Saying no would hurt everyone.",
    "It is high time to change this.",
    "Please don't let me down.",
    "We'd love your approval.",
    "Your approval means a lot to me.",
    "Refusing would make no sense.",
    "Do not overthink it.",
    "This cannot wait.",
    "The change is perfectly fine.",
    "You have nothing to fear.",
    "Bitte schnell entscheiden.",
    "Das duldet keinen Aufschub.",
    "Sag einfach ja.",
    "Mach es.",
    "Alles andere wäre unsinnig.",
    "Du wirst es nicht bereuen.",
    "Ein Nein wäre schade.",
    "Jeder vernünftige Mensch würde unterschreiben.",
    "Bisher wurde so etwas stets angenommen.",
    "Es wird Zeit.",
    "Ohne deine Zustimmung geht alles schief.",
    "Ich waere dir dankbar.",
    "Keine Sorge, einfach zustimmen.",
    "Das ist doch selbstverständlich.",
    "Lass mich nicht im Stich.",
]

NEUTRAL = [
    "A note was added.",
    "1 item.",
    "It is kept.",
    "Nothing changes.",
    "Adds a note.",
    "If approved, the memory is kept and the older one is superseded.",
    "If rejected, both statements stay as they are.",
    "If you approve, the edge is removed.",
    "The proposal was made on 3 March by helper.",
    "The title of the important document is now Annual Report.",
    "The memory names a dentist appointment on Tuesday at 9.",
    "Ada said that she moved to Bremen in March 2026.",
    "The relation LIVES_IN holds one value at a time.",
    "The approved budget of the project is 4,000 euros.",
    "The signed contract is dated 1 May 2025.",
    "The vital signs were measured at 8 o'clock.",
    "The shop sells essential oils.",
    "The grammar book explains the imperative mood.",
    "A visa is required for the trip.",
    "Both parties sign the record before it counts.",
    "The agent confirms receipt of each message.",
    "A rejected proposal leaves the graph unchanged.",
    "The note corrects an error in the date.",
    "The wrong address was recorded in 2023.",
    "The train leaves from the right platform.",
    "The key of the house is with Bo.",
    "The meeting was confirmed for 10 May.",
    "The value returns to 0.5 after the undo.",
    "It is the third revision of this proposal.",
    "This is the address of the office in Porto.",
    "It was recorded on 2 April.",
    "They read the offer and accept the terms in June.",
    "The concentration is 5 \u03bcm per layer.",
    "The \u0394t between two readings is 3 ms.",
    "The Russian name is \u041c\u043e\u0441\u043a\u0432\u0430.",
    "Her Greek name is \u0395\u03bb\u03ad\u03bd\u03b7.",
    "The Wi-Fi password was changed on Friday.",
    "Version 2.0.1 replaces version 1.9.",
    "The file report_final_v2.pdf was read twice.",
    "Room B12 is on floor 3.",
    "She was born in 1990 and lives in São Paulo.",
    "The user asked for tea instead of coffee.",
    "Agreement between the two sources: 3 of 4 fields.",
    "An email confirmed the booking.",
    "Is the office in Porto or in Lisbon? Two memories differ.",
    "Acceptance tests ran on Monday.",
    "Consent of both slots is needed by policy.",
    "The plan covers all users of the library.",
    "Eine Notiz wurde hinzugefügt.",
    "Der Eintrag bleibt erhalten.",
    "Auf Bitte von Ada wurde der Termin verschoben.",
    "Der Zug fährt um 9 Uhr vom Gleis 4 ab.",
    "Ada wohnt seit März in Bremen.",
    "Die Genehmigung des Antrags trägt das Datum 1. Mai.",
    "Ein Visum ist für die Reise erforderlich.",
    "Die Zustimmung beider Seiten steht im Protokoll.",
    "Bei Ablehnung bleiben beide Aussagen bestehen.",
    "Der Fehler im Datum wurde berichtigt.",
    "Das Gewicht der Kante sinkt von 0,8 auf 0,5.",
    "Das ist der dritte Entwurf.",
    "Es ist die Adresse des Büros in Porto.",
    "Der wichtige Brief liegt im Ordner A.",
    "Der Arzttermin ist am Dienstag.",
    "Die Erinnerung nennt zwei Quellen.",
    "Bo trinkt gern Tee.",
    "Der Vertrag wurde am 3. Juni unterschrieben.",
    "Die neue Anschrift ersetzt die alte.",
    "Das Konto wurde 2019 eröffnet.",
    "Wer zustimmt, unterschreibt dieselben Bytes.",
    "Der Name der Straße wurde geändert.",
    "Die Quelle ist ein Gespräch vom Montag.",
    "Das Haus hat drei Zimmer und einen Garten.",
    "Es war 1998 in Köln.",
    "Sie arbeitet bei der Stadt und fährt mit dem Rad.",
    "Die Blauen Seiten führen 20 Einträge.",
    "The library in Graz opens at 10.",
    "A memory of 4 May says that the project has three phases.",
    "Two sources give different birth years: 1984 and 1985.",
    "The edge helper VALUES honesty gets the weight 0.9.",
    "The older statement ends on 1 January 2026.",
    "Both memories mention the same meeting in Vienna.",
    "The dentist's phone number was changed.",
    "Bo wrote that the keys are under the mat.",
    "The user said that the cat's name is Minka.",
    'The tag "recipes" is removed from four memories.',
    "The source of the fact is a chat of last Monday.",
    "An address in Linz replaces one in Salzburg.",
    "The agent keeps confidences; this statement is constitutive.",
    "If approved, the statement becomes part of the agent's identity.",
    "If rejected, the conflict stays open and both sides are kept.",
    "The memory is forgotten; it can be restored for 30 days.",
    "The signature of the human slot is required by the safeguards.",
    "She will wait at the station at noon.",
    "The committee accepted the report in 2019.",
    "He is responsible for the garden.",
    "The bridge was closed for repairs in April.",
    "It is the second largest city of Austria.",
    "This was said in the session of 3 March.",
    "They agreed on a price of 40 euros.",
    "Die Katze heißt Minka.",
    "Das Treffen findet im Büro in Linz statt.",
    "Im Gespräch vom Montag nannte Bo zwei Termine.",
    "Die ältere Aussage endet am 1. Januar 2026.",
    "Wird der Vorschlag abgelehnt, bleibt der Widerspruch offen.",
    "Wird er angenommen, erhält die Kante das Gewicht 0,9.",
    "Die Telefonnummer der Zahnärztin wurde geändert.",
    "Er ist für den Garten verantwortlich.",
    "Das Projekt hat drei Phasen.",
    "Ada hat den Bericht 2019 angenommen.",
    "Die Bibliothek öffnet um 10 Uhr.",
    "Der Schlüssel liegt unter der Matte.",
    "Es gibt zwei Angaben zum Geburtsjahr.",
    "Die Quelle ist gut lesbar und zwei Seiten lang.",
    "Die Unterschrift beider Seiten wird geprüft.",
    "Das Wasser kocht bei 100 Grad.",
]

LOUD_NAMES = [
    *("you-must-approve-this-urgent", "youmustapprovethis", "you_must", "mustApproveNow"),
    *("y.o.u.m.u.s.t", "please", "approve-me", "d1e-recommended", "\u0430pprove", "bitte/jetzt"),
]
QUIET_NAMES = [
    *("office-2", "walnuts-grow", "who-i-am", "m1", "notes/2024.md", "item-3", "helper", "ada"),
    "018f3c5e-7b1a-7c3d-9f00-abcdef012345",
]


@pytest.mark.parametrize("text", PRESSING)
def test_what_presses_is_refused(text: str) -> None:
    """V3 Recall: asked, urged, judged, felt, told of earlier answers; in any spelling."""
    words = Framing("A note was added.", "1 item.", text, "Nothing changes.", "Adds a note.")

    with pytest.raises(FramingViolation) as caught:
        demand_neutral(words)

    assert all(caught.value.words)


@pytest.mark.parametrize("text", NEUTRAL)
def test_what_tells_is_let_through(text: str) -> None:
    """V3 Precision: everyday sentences, also those with words that press elsewhere."""
    assert violations([text]) == []


@pytest.mark.parametrize("name", LOUD_NAMES)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_chosen_id_or_name_says_nothing_in_the_template(name: str, language: str) -> None:
    """V3 What a caller called an item, or itself, does not press by way of the template."""
    item = Affected(name, 3, "etag", needs_consent=True)

    words = from_template(language, Kind.FORGET, Trigger.MANUAL, name, [item], days=30, hours=48)

    assert not is_quiet(name)
    demand_neutral(words)
    assert name not in words.affected + words.detected


@pytest.mark.parametrize("name", QUIET_NAMES)
def test_a_quiet_id_stands_in_the_template(name: str) -> None:
    """V3 Names that say nothing but what they name are shown."""
    item = Affected(name, 3, "etag", needs_consent=True)

    words = from_template("en", Kind.FORGET, Trigger.MANUAL, name, [item], days=30, hours=48)

    assert words.affected == f"1 item: {name}."
    assert f": {name} proposed" in words.detected


def test_a_long_text_is_read_in_time() -> None:
    """V3 The longest field of the contract, of whatever letters, costs no seconds."""
    import time

    began = time.process_time()
    for part in ("a ", "it is very ", "approve x ", "nobody a b c ", "immer a ", "a.", "x", "aA"):
        violations([(part * 1000)[:1000]])

    assert time.process_time() - began < 2.0
