"""What graph asks of parsers, clocks and whoever verifies papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from concord_attestation.consent import Answer, GenesisRecord, Grant, RestoreGrant, SlotKey

from concord_graph.domain.links import Link

LinkParser = Callable[[str], Sequence[Link]]
ConceptExtractor = Callable[[str], Sequence[str]]
Clock = Callable[[], int]
GrantVerifier = Callable[..., Grant]
GenesisVerifier = Callable[[bytes, str], GenesisRecord]
RevocationVerifier = Callable[[bytes, GenesisRecord], Answer]
KeyVerifier = Callable[[bytes, GenesisRecord], tuple[str, SlotKey]]
RestoreVerifier = Callable[..., RestoreGrant]
