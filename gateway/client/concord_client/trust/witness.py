"""The witness: pins a space's genesis, log key and checkpoints, and checks later answers (V5, A2).

The first answer is believed and printed; a later one that contradicts it is refused. If another
genesis is known for a space of that name, even the first answer is refused until the user names
its digest with `--trust`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from concord.governance.v1 import audit_pb2, principal_pb2
from concord.governance.v1.audit_pb2_grpc import AuditServiceStub
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND
from concord_attestation.checkpoint import Checkpoint
from concord_attestation.tree import EMPTY_ROOT, ProofInvalid, verify_consistency

from concord_client.trust.keyfiles import encoded
from concord_client.trust.pins import PinFile, Seen, WitnessError, now, state_file

__all__ = ["Meeting", "Seen", "Witness", "WitnessError", "state_file"]

MOST_REVIEWED = 1_000
"""The newest so many proposals shown to a principal are remembered; older ones are shown again."""


@dataclass(frozen=True)
class Meeting:
    """The pins after an answer, and the sentences to print about new pins."""

    seen: Seen
    news: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Shown:
    """The genesis ("" without one), log key and log origin that a system shows."""

    genesis: str
    log_key: str
    log_origin: str

    @classmethod
    def of(cls, reply: principal_pb2.GetPrincipalsResponse) -> _Shown:
        genesis = reply.genesis_digest if reply.status == LOOKUP_STATUS_FOUND else ""
        return cls(genesis, encoded(reply.log_key), reply.log_origin)

    def contradiction(self, seen: Seen) -> tuple[str, str, str] | None:
        """The first pin that differs: its name, before, now."""
        compared = (
            ("genesis", seen.genesis_digest, self.genesis),
            ("audit log's key", seen.log_key, self.log_key),
            ("audit log's origin", seen.log_origin, self.log_origin),
        )
        return next((each for each in compared if each[1] and each[1] != each[2]), None)


class Witness:
    """The pins of one space of the system that the client's owner calls `name`."""

    def __init__(self, path: Path, name: str, space: str) -> None:
        self._file = PinFile(path)
        self._name = name
        self._space = space

    @property
    def seen(self) -> Seen:
        """The pins so far. Raises `WitnessError` for a damaged file."""
        return next(filter(self._is_it, self._file.read()), Seen())

    def meet(self, reply: principal_pb2.GetPrincipalsResponse, trusted: str = "") -> Meeting:
        """Compare the genesis and the log's key with the pins, and pin new ones.

        `trusted`: the genesis digest that its owners named, or that was signed here.
        Raises `WitnessError`.
        """
        shown = _Shown.of(reply)
        if trusted and shown.genesis != trusted:
            raise WitnessError(
                f"{self._place} shows the genesis {shown.genesis or 'none'}, not {trusted}, which "
                "is the one to trust: nothing was kept."
            )
        known = [each for each in self._file.read() if each.space == self._space]
        news: list[str] = []
        seen = self._file.change(
            self._finder(known, shown), lambda seen: self._met(seen, shown, known, trusted, news)
        )
        return Meeting(seen, tuple(news))

    def follow(self, audit: AuditServiceStub) -> Seen:
        """Fetch the newest checkpoint, demand that it extends the last one seen, and pin it.

        Raises `WitnessError` if it does not, if it is older, or if it is another log's.
        """
        return self.accept(audit.GetCheckpoint(audit_pb2.GetCheckpointRequest()).checkpoint, audit)

    def accept(self, note: str, audit: AuditServiceStub) -> Seen:
        """As `follow`, for a checkpoint's note that was fetched before."""
        seen = self.seen
        now = seen.read(note)
        before = seen.read(seen.checkpoint) if seen.checkpoint else None
        if before is not None and not self._extends(before, now, audit):
            raise WitnessError(
                f"THE AUDIT LOG WAS REWRITTEN: what {self._place} shows now (size {now.size}) does "
                f"not extend the checkpoint seen before (size {before.size}), which is kept in "
                f"{self._file.path}. Nothing that this log says is to be believed."
            )
        return self._change(lambda newest: self._advanced(newest, seen, note))

    def keep_consent(self, proposal_id: str, slot: str, envelope: bytes) -> None:
        """Store a consent that is about to be given, since a revocation names its nonce."""

        def kept(seen: Seen) -> Seen:
            given = {**seen.consents.get(proposal_id, {}), slot: envelope.decode()}
            return replace(seen, consents={**seen.consents, proposal_id: given})

        self._change(kept)

    def consent(self, proposal_id: str, slot: str) -> bytes | None:
        """Return the consent that this client gave; None without one."""
        found = self.seen.consents.get(proposal_id, {}).get(slot)
        return None if found is None else found.encode()

    def keep_reviewed(self, principal: str, proposal_id: str, digest: str) -> None:
        """Store the digest of the bytes shown to a principal, who signs no others unasked."""

        def kept(seen: Seen) -> Seen:
            before = dict(seen.reviewed.get(principal, {}))
            before.pop(proposal_id, None)
            newest = dict([*before.items(), (proposal_id, digest)][-MOST_REVIEWED:])
            return replace(seen, reviewed={**seen.reviewed, principal: newest})

        self._change(kept)

    def reviewed(self, principal: str, proposal_id: str) -> str | None:
        """Return the digest of the bytes last shown to a principal; None without any."""
        return self.seen.reviewed.get(principal, {}).get(proposal_id)

    @property
    def _place(self) -> str:
        return f"the space {self._space!r} of {self._name}"

    def _is_it(self, seen: Seen) -> bool:
        return seen.space == self._space and self._name in seen.names

    def _finder(self, known: list[Seen], shown: _Shown) -> Callable[[Seen], bool]:
        """Return a filter for the system: by its name, or by equal pins if the name is new."""
        if any(map(self._is_it, known)):
            return self._is_it
        return lambda seen: (
            seen.space == self._space
            and seen.log_key == shown.log_key
            and shown.contradiction(seen) is None
        )

    def _met(
        self, seen: Seen, shown: _Shown, known: list[Seen], trusted: str, news: list[str]
    ) -> Seen:
        if found := shown.contradiction(seen):
            name, before, after = found
            raise WitnessError(
                f"ANOTHER {name.upper()}: {self._place} shows {after or 'none'}, not "
                f"{before}, which {self._file.path} remembers. Another system answers there, or "
                f"this one was replaced. If you replaced it yourself, remove its entry there."
            )
        others = [each for each in known if each.genesis_digest not in ("", shown.genesis)]
        fresh = shown.genesis and not seen.genesis_digest
        if fresh and others and not trusted:
            raise WitnessError(self._unlike(shown, others))
        news += self._news(seen, shown, others, trusted)
        names = seen.names if self._name in seen.names else (*seen.names, self._name)
        return replace(
            seen,
            space=self._space,
            names=names,
            met_time=seen.met_time or now(),
            genesis_digest=shown.genesis,
            genesis_time=now() if fresh else seen.genesis_time,
            genesis_confirmed=seen.genesis_confirmed or bool(trusted),
            log_key=shown.log_key,
            log_origin=shown.log_origin,
        )

    def _unlike(self, shown: _Shown, others: list[Seen]) -> str:
        return (
            f"ANOTHER GENESIS than the known one: {self._place} was never met before and shows "
            f"{shown.genesis}. {_known(others)} If this is meant to be that one, it is not: sign "
            f"nothing. If it is a system of its own, ask its owners for their genesis and say "
            f"`concord principal show --trust DIGEST`."
        )

    def _news(self, seen: Seen, shown: _Shown, others: list[Seen], trusted: str) -> list[str]:
        """The sentences about new pins, which are believed because they were shown first."""
        advice = "Compare it, through another channel, with what the other principal has."
        if not seen.log_key:
            genesis = f"its genesis {shown.genesis}" if shown.genesis else "no genesis yet"
            first = (
                f"FIRST CONTACT with {self._place}: {genesis}, and its audit log's key "
                f"{shown.log_key}, are believed and kept from now on. {advice}"
            )
            return [f"{first} {_known(others)}".rstrip()]
        if self._name not in seen.names:
            return [f"{self._place} is what was met as {seen.names[0]}: its pins count here, too."]
        if shown.genesis and not seen.genesis_digest and not trusted:
            return [f"FIRST CONTACT with the genesis of {self._place}: {shown.genesis}. {advice}"]
        return []

    @staticmethod
    def _extends(before: Checkpoint, now: Checkpoint, audit: AuditServiceStub) -> bool:
        if now.size < before.size:
            return False
        proof: list[bytes] = []
        if 0 < before.size < now.size:
            request = audit_pb2.GetConsistencyProofRequest(old_size=before.size, new_size=now.size)
            proof = list(audit.GetConsistencyProof(request).hashes)
        try:
            verify_consistency(before.size, before.root, now.size, now.root, proof)
        except ProofInvalid:
            return False
        return now.size > 0 or now.root == EMPTY_ROOT

    def _advanced(self, newest: Seen, judged_by: Seen, note: str) -> Seen:
        """Add a checkpoint, unless another process added a later one meanwhile."""
        if newest.checkpoint != judged_by.checkpoint:
            kept = newest.read(newest.checkpoint)
            if kept.size >= newest.read(note).size:
                return newest
        return newest.with_checkpoint(note)

    def _change(self, change: Callable[[Seen], Seen]) -> Seen:
        def named(seen: Seen) -> Seen:
            return change(replace(seen, space=self._space, names=seen.names or (self._name,)))

        return self._file.change(self._is_it, named)


def _known(others: list[Seen]) -> str:
    """The sentences about known systems with a space of the same name."""
    lines = [
        f"This client knows the genesis {each.genesis_digest} for a space of that name, pinned "
        f"{each.genesis_time} at {each.names[0]}."
        for each in others
    ]
    return " ".join(lines)
