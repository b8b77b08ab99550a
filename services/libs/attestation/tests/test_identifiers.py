"""Ids that sort by time."""

from uuid import RFC_4122, UUID

from concord_attestation.identifiers import full_ids, new_id, short_ids

NOW = 1_700_000_000_123_456


def test_an_id_is_of_version_seven() -> None:
    """A2 Milliseconds, a fraction of one and randomness, each in bits of its own (RFC 9562)."""
    ids = [UUID(new_id(NOW)) for _ in range(64)]

    assert len(set(ids)) == 64
    assert {(each.version, each.variant) for each in ids} == {(7, RFC_4122)}
    assert {each.int >> 80 for each in ids} == {NOW // 1000}
    assert {each.int >> 64 & 0xFFF for each in ids} == {(456 << 12) // 1000}
    assert new_id(NOW) < new_id(NOW + 1)


def test_an_id_has_a_short_form() -> None:
    """W3 That anybody can write in full again, also within a text; other texts stay as they are."""
    ids = [new_id(NOW) for _ in range(64)]
    short = [short_ids(each) for each in ids]
    other = "_underlined_words_are_n _NzQ1Njc4OTAxMjM0NTY3OA memory:notes/2024-05-01"

    assert {len(each) for each in short} == {22}
    assert [full_ids(each) for each in short] == ids
    assert full_ids(f"Amends: [[memory:{short[0]}]], too.") == f"Amends: [[memory:{ids[0]}]], too."
    assert full_ids(other) == short_ids(other) == other
