"""Words in any script, and the spellings by which they are asked for (S11)."""

import pytest
from concord_search.adapters.bm25 import Bm25

WORDS = Bm25()


def share(asked: str, text: str) -> float:
    """The share of a query's terms that a text holds."""
    weights = WORDS.of_query(asked)
    terms = set() if weights is None else set(weights.indices)
    return len(terms & set(WORDS.of_document(text).indices)) / max(len(terms), 1)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("กาแฟ", "ผมชอบกาแฟเย็น"),  # no blanks, and marks inside of words
        ("서울", "민수는 서울로 이사했다"),  # a particle follows
        ("차", "차를 마셔요"),
        ("प्याज", "वह प्याज नहीं खाता"),
        ("猫", "我们家的猫叫豆豆"),
        ("誕生日", "田中さんの誕生日は五月"),
        ("ガス", "ｶﾞｽを止める"),  # half width
        ("Москве", "Анна живёт в Москве"),
        ("🔥", "deploy 🚀, undo 🔥"),
        ("👍", "👍🏽"),  # whatever the tone of the skin
        ("Größe", "Groesse"),
        ("Groesse", "Größe"),
        ("Strasse", "Straße"),
        ("Bjorn", "Björn"),
        ("Bjo\u0308rn", "Björn"),
        ("cafe", "café"),
        ("Tomas", "Tomás"),
        ("Tomás", "Tomas"),
        ("hôtel", "L'hôtel est fermé"),
        ("l’hôtel", "un hotel"),
        ("IT", "The IT department"),
        ("v2.10.1", "since 2.10.1"),
        ("2.10", "v2.10.1"),
        ("v2.10", "v2.10.1"),
    ],
)
def test_every_spelling_of_a_word_finds_it(asked: str, text: str) -> None:
    """S11 All that the query holds is in the text."""
    assert share(asked, text) == 1.0


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("IT", "It is late, and so it goes."),
        ("it", "The IT department"),
        ("🚀", "🔥"),
        ("2.1", "2.10"),
        ("กาแฟ", "แมวของเรา"),
    ],
)
def test_another_word_does_not(asked: str, text: str) -> None:
    """S11 Capitals, signs and whole versions differ."""
    assert share(asked, text) < 1.0


def test_a_text_in_capitals_names_nothing_by_them() -> None:
    """S11 A stop word stays one."""
    assert WORDS.of_query("WHAT IS IT") is None


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("Wo hat Priya gearbeitet?", "Tarek hat wo ein Boot"),
        ("Was hat Priya gemacht?", "Tarek hat ein Boot"),
        ("Wer ist die Chefin?", "Wer die Hitze nicht mag, ist hier falsch"),
    ],
)
def test_german_stop_words_are_not_asked_for(asked: str, text: str) -> None:
    """S11 As English ones are not."""
    assert share(asked, text) == 0.0


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("Where is my red hat?", "a red hat"),
        ("Did the man die in the war?", "the man died in the war"),
        ("Was Mira a war hero?", "Mira, hero of the war"),
        ("die cast hat", "die cast hat"),
        ("Wer leitet die IM GmbH?", "IM GmbH leitet"),
    ],
)
def test_words_of_english_and_names_are_asked_for(asked: str, text: str) -> None:
    """S11 Some German stop words are English words, or names in capitals."""
    assert share(asked, text) == 1.0


def test_plain_english_is_left_as_it_is() -> None:
    """S1 No term is added: nothing but the engine's own tokenizer reads it."""
    text = "Don't deploy on Fridays; the cluster's keys rotate every 30 days."
    own = WORDS._model.embed_document(text)

    assert dict(zip(own.indices, own.values, strict=True)) == dict(
        zip(WORDS.of_document(text).indices, WORDS.of_document(text).values, strict=True)
    )
