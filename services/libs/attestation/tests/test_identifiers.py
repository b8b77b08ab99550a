"""Ids that sort by time."""

from uuid import RFC_4122, UUID

from concord_attestation.identifiers import new_id

NOW = 1_700_000_000_123_456


def test_an_id_is_of_version_seven() -> None:
    """A2 Milliseconds, a fraction of one and randomness, each in bits of its own (RFC 9562)."""
    ids = [UUID(new_id(NOW)) for _ in range(64)]

    assert len(set(ids)) == 64
    assert {(each.version, each.variant) for each in ids} == {(7, RFC_4122)}
    assert {each.int >> 80 for each in ids} == {NOW // 1000}
    assert {each.int >> 64 & 0xFFF for each in ids} == {(456 << 12) // 1000}
    assert new_id(NOW) < new_id(NOW + 1)
