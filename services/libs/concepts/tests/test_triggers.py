"""When a memory surfaces by itself (spec S9): triggers, and patterns that never go back."""

import random
import re
import string

import pytest
from concord_concepts.patterns import (
    KEPT_STATES,
    MOST_STATES,
    OutOfTime,
    Pattern,
    PatternMalformed,
    unhurried,
)
from concord_concepts.triggers import Situation, TriggerMalformed, is_telling, trigger


@pytest.mark.parametrize("seed", range(40))
def test_a_pattern_matches_what_the_standard_library_says(seed: int) -> None:
    """S9 On random patterns and texts of a small alphabet, anchors and lines among them."""
    chance = random.Random(seed)
    atoms = [
        "a",
        "b",
        "c",
        ".",
        "[ab]",
        "[^a]",
        "[a-b]",
        "\\d",
        "\\w",
        "\\W",
        "(?:ab|c)",
        "(b|)",
        "\\.",
    ]
    for _ in range(40):
        counts = ["", "", "*", "+", "?", "{1,2}", "{2}", "{1,}"]
        parts = [chance.choice(atoms) + chance.choice(counts)
                 for _ in range(chance.randint(1, 4))]  # fmt: skip
        text = chance.choice(["", "^"]) + "".join(parts) + chance.choice(["", "$"])
        if chance.random() < 0.3:
            text = f"{text}|{chance.choice(atoms)}c"
        known = re.compile(text, re.IGNORECASE)
        pattern = Pattern(text)
        for _ in range(8):
            line = "".join(chance.choices("abcABC1. ", k=chance.randint(0, 6)))

            assert pattern.is_in(line) == bool(known.search(line)), (text, line)


def test_anchors_are_of_lines() -> None:
    """S9 An error has many lines, and nothing matches over the end of one."""
    assert Pattern("^second$").is_in("first\nsecond\nthird")
    assert not Pattern("first.*second").is_in("first\nsecond")


@pytest.mark.parametrize(
    "text", ["", "(", "a)", "[a", "*a", "a{2", "a{x}", "a{1000}", "(a{100}){100}", "(?=a)", "a\\1",
             "a\\", "[z-a]", "a|*", "(?P<n>a)", "a{3,2}"]
)  # fmt: skip
def test_a_malformed_pattern_is_refused(text: str) -> None:
    """S9 Features of other engines that need backtracking are refused, too."""
    with pytest.raises(PatternMalformed):
        Pattern(text)


def test_no_pattern_makes_the_automaton_grow_beyond_its_bound() -> None:
    """S9 What makes others run for hours: each character is one step of bounded work."""
    pattern = Pattern("(a*)*(a|a)*(a|b)*a{20}b{20}c")

    assert not pattern.is_in("a" * 5_000)
    assert pattern.is_in("a" * 50 + "b" * 20 + "c")


def slow(states: int) -> tuple[Pattern, str]:
    """A pattern, and a text every character of which is a step of its own."""
    chance = random.Random(states)
    return Pattern(f"(.*a){{{states}}}.{{90}}z"), "".join(chance.choices("ab", k=2_000))


def test_a_pattern_stops_when_its_time_is_over() -> None:
    """S9 Only steps that are not remembered ask for the time."""
    pattern, text = slow(20)
    left = iter([True] * 10)

    with pytest.raises(OutOfTime):
        pattern.is_in(text, lambda: next(left, False))
    assert not pattern.is_in(text[:10], lambda: False)


def test_a_pattern_remembers_no_more_states_than_it_may() -> None:
    """S9 A trigger is kept as long as the process lives."""
    pattern, text = slow(20)
    pattern.is_in(text)

    kept = sum(map(len, pattern._steps.values()))

    assert 0 < kept <= KEPT_STATES + MOST_STATES


@pytest.mark.parametrize(
    ("text", "situation", "expected"),
    [
        ("file:*.toml", Situation(path="/home/ada/repo/pyproject.toml"), True),
        ("file:*.toml", Situation(path="notes.tom"), False),
        ("file:src/*.py", Situation(path="/home/ada/src/deep/x.py"), True),
        ("file:src/*.py", Situation(path="/home/ada/resrc/x.py"), False),
        ("file:*", Situation(error="boom"), False),
        ("error:timeout .* (db|cache)", Situation(error="x\nTimeout after 3s on DB"), True),
        ("error:timeout", Situation(said="a timeout"), False),
        ("error:.*", Situation(error="\n"), True),
        ("error:.*", Situation(path="notes.txt"), False),
        ("deploy staging", Situation(said="How do I Deploy: staging?"), True),
        ("deploy staging", Situation(said="redeploy staging"), False),
        ("toml", Situation(path="a/pyproject.toml"), True),
        ("Straße", Situation(said="die STRASSE"), True),
    ],
)
def test_a_trigger_matches(text: str, situation: Situation, expected: bool) -> None:
    """S9 Paths by globs, errors by patterns, else words at their boundaries."""
    assert trigger(text)(situation, unhurried) == expected


@pytest.mark.parametrize(
    "text", ["file:", "file: ", "file:[z-a]*", "error:", "error:(", "***", "error:(?=x)"]
)
def test_a_malformed_trigger_is_refused(text: str) -> None:
    """S9 At the write, before anybody waits for it to fire."""
    with pytest.raises(TriggerMalformed):
        trigger(text)


def test_a_long_path_is_matched_without_going_back() -> None:
    """S9 As many stars as a trigger has room for."""
    glob = "file:" + "*a" * 100 + "*b"

    assert not trigger(glob)(Situation(path="a" * 2_000), unhurried)
    assert trigger("file:*x*")(Situation(path=string.ascii_lowercase), unhurried)


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("file:*", False),
        ("file:**/*.*", False),
        ("file:[a-z]?", False),
        ("file:*.c", True),
        ("file:docs/*", True),
        ("error:.*", False),
        (r"error:\w+", False),
        ("error:e", False),
        ("error:404", True),
        ("error:time ?out.*pool", True),
        ("e", False),
        ("the", False),
        ("what is it", False),
        ("deploy", True),
        ("404", True),
        ("배포", True),
    ],
)
def test_a_trigger_tells_something_if_it_names_anything(text: str, *, tells: bool) -> None:
    """S9 One that every situation meets is told apart."""
    assert is_telling(text) is tells
