"""Pairs that a caller gives to judge."""

from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.type.v1 import type_pb2
from concord_dissonance.servicer import incoming


def test_a_statement_of_many_pairs_is_one_side() -> None:
    """S6 So it is read once: ten results beside 25 values took eight times their reading."""
    results = [pb.Statement(text=f"Result {number}") for number in range(3)]
    values = [
        pb.Statement(text=f"agent VALUES {name}", fact=fact(name)) for name in ("honesty", "peace")
    ]
    given = [pb.StatementPair(first=one, second=other) for one in results for other in values]

    pairs = incoming.pairs(pb.ClassifyPairsRequest(pairs=given))

    assert [(one.text, other.text) for one, other in pairs] == [
        (each.first.text, each.second.text) for each in given
    ]
    assert len({id(side) for pair in pairs for side in pair}) == len(results) + len(values)


def test_what_differs_in_its_speaker_is_another_side() -> None:
    """D2 The same words of another are another's."""
    said = [pb.Statement(text="It is open", speaker=name) for name in ("Ada", "Bo")]
    pairs = [pb.StatementPair(first=each, second=each) for each in said]

    found = incoming.pairs(pb.ClassifyPairsRequest(pairs=pairs))

    assert [(one.sources, other.sources) for one, other in found] == [
        (frozenset({name}), frozenset({name})) for name in ("Ada", "Bo")
    ]
    assert all((one.id, other.id) == ("1", "2") for one, other in found)


def fact(name: str) -> type_pb2.Fact:
    """What the agent values."""
    return type_pb2.Fact(subject="agent", relation="VALUES", object=name)
