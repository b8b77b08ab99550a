"""Forgeries of what was written and of what was done, each with the rule that alone refuses it."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import datetime, timedelta
from typing import Any

from concord_client.trust import signing
from forger import Forger, Forgery, Leaf, etag

DIGEST = "ab" * 32


def _blocked_write(it: Forger) -> None:
    it.write("made")["blocked"] = True


def _refusal_let_through(it: Forger) -> None:
    attempt = next(leaf for leaf in it.leaves if leaf["action"] == "DELETE_ATTEMPT")
    attempt["blocked"] = False


def _genesis(it: Forger, item: str, **told: Any) -> None:
    it.add_write(it.genesis(), item, **told)


def _enrolled_again(it: Forger) -> None:
    _genesis(it, it.genesis()["item"]["id"])


def _two_geneses(it: Forger) -> None:
    it.genesis(2)["properties"]["request_id"] = "another"


def _written_by_nobody(it: Forger) -> None:
    _write_of(it, it.write("added"), "another", request_id="nobody")


def _written_by_the_agent_alone(it: Forger) -> None:
    decision = it.of("alone", "SMF_DECIDE")["properties"]["decision_id"]
    it.cut(it.of("alone", "SMF_DECIDE"))
    _write_of(it, it.write("made"), "another", request_id=decision)


def _write_of(it: Forger, like: Leaf, item: str, **told: Any) -> None:
    """Append the write of something new."""
    it.add_write(like, item, **({"revision": 1, "before_digest": "", "digest": DIGEST} | told))


def _on(it: Forger, name: str, like: str) -> None:
    """Write once more on what a decision wrote, in another's name."""
    decision = it.of(name, "SMF_DECIDE")["properties"]["decision_id"]
    last = it.write(like)
    told = last["properties"]
    following = {"before_digest": told["digest"], "revision": told["revision"] + 1}
    it.add_write(last, last["item"]["id"], digest=DIGEST, request_id=decision, **following)


def _written_again_when_done(it: Forger) -> None:
    """Change what is constitutive under a finished decision: the repro of the review."""
    _on(it, "back", "back")


def _written_again_when_undone(it: Forger) -> None:
    it.cut(it.of("made", "SMF_UNDO"))
    last = it.write("made")
    gone = it.write("unmade")["properties"]
    following = {"before_digest": gone["digest"], "revision": gone["revision"] + 1}
    it.add_write(last, last["item"]["id"], digest=DIGEST, **following)


def _written_when_failed(it: Forger) -> None:
    decision = it.of("failed", "SMF_DECIDE")["properties"]["decision_id"]
    _write_of(it, it.write("added"), "another", request_id=decision)


def _opened(it: Forger, name: str) -> Leaf:
    """Let the log end before a decision's write; return that."""
    written = it.write(name)
    it.cut(it.of(name, "SMF_DECIDE"))
    return written


def _principal_written(it: Forger) -> None:
    """Let both consent, without a new key's proof, to a write of what stands for a principal."""
    written, edge = it.write("changed"), it.genesis(1)
    item = edge["item"]["id"]
    it.of("changed", "SMF_PROPOSE")["properties"]["etags"][item] = etag(item, 1)
    it.sign_again("changed")
    it.cut(it.of("changed", "SMF_DECIDE"))
    told = {"request_id": written["properties"]["request_id"], "revision": 2, "digest": DIGEST}
    it.add_write(edge, item, **told, before_digest=edge["properties"]["digest"]).update(
        action="WRITE_SUCCESS", actor=written["actor"], principal=written["principal"]
    )


def _written_beside(it: Forger) -> None:
    """Let an open decision write on an item that nobody consented to: it is known from before."""
    written, old = _opened(it, "added"), it.write("unmade")
    told = old["properties"]
    following = {"revision": told["revision"] + 1, "before_digest": told["digest"]}
    request_id = written["properties"]["request_id"]
    it.add_write(written, old["item"]["id"], digest=DIGEST, request_id=request_id, **following)


def _more_made_than_signed(it: Forger) -> None:
    written = _opened(it, "added")
    for number in range(4):
        _write_of(it, written, f"new {number}")


def _pending(it: Forger, name: str = "again", **told: Any) -> None:
    """Change a write whose decision the log does not yet say to be executed."""
    written = it.write(name)
    it.cut(written)
    written["properties"] |= told


def _an_end_moved(it: Forger) -> None:
    ends = it.write("again")["properties"]["ends"]
    _pending(it, ends=dict.fromkeys(ends, DIGEST))


def _removed_with_ends(it: Forger) -> None:
    _pending(it, "unmade", ends={})


def _edge_without_ends(it: Forger) -> None:
    """Let no end of it be told, so that the ends could be anything later."""
    _pending(it, "again", ends={})


def _written_late(it: Forger) -> None:
    """Carry out what both signed when their consents have run out."""
    _pending(it, "again", record_time=it.time(2))


def _written_as_the_consents_ended(it: Forger) -> None:
    """Carry it out in the very instant in which the time to do so is over."""
    envelopes = [it.of("again", "SMF_APPROVE", place)["properties"]["consent"] for place in (0, 1)]
    said = [json.loads(b64decode(envelope["payload"]))["expire_time"] for envelope in envelopes]
    end = min(map(datetime.fromisoformat, said)) + timedelta(minutes=5)
    _pending(it, "again", record_time=signing.format_time(end))


def _effects(it: Forger, name: str) -> list[Leaf]:
    effects: list[Leaf] = it.of(name, "SMF_EXECUTE")["properties"]["effects"]
    return effects


def _effect(it: Forger, **said: Any) -> None:
    """Tell of one more effect of what the agent decided alone."""
    _effects(it, "alone").append({"id": "another", "kind": 2, "governed": [], **said})


def _taken_along(it: Forger, count: int, digest: str) -> None:
    told = it.of("alone", "SMF_EXECUTE")["properties"]
    told["cascaded"] = {"count": count, "digest": digest}


def _effect_of_nothing(it: Forger) -> None:
    _effects(it, "alone")[0]["after"] = 0


def _made_what_was_known(it: Forger) -> None:
    """Call new what the log has told of before."""
    _effects(it, "alone")[0]["id"] = it.write("made")["item"]["id"]


def _back_in_time(it: Forger) -> None:
    """Let an old consent, to a version that is gone, be what a write was made by."""
    it.cut(it.of("again", "SMF_EXECUTE"))
    (effect,) = _effects(it, "again")
    effect["before"] = 1
    etags = it.of("again", "SMF_PROPOSE")["properties"]["etags"]
    etags[effect["id"]] = etag(effect["id"], 1)
    it.sign_again("again")


def _executed_without_its_write(it: Forger) -> None:
    it.cut(it.of("again", "SMF_EXECUTE"))
    it.drop(it.write("again"))


def _nothing_executed(it: Forger) -> None:
    _executed_without_its_write(it)
    it.of("again", "SMF_EXECUTE")["properties"]["effects"] = []


def _one_effect_left_out(it: Forger) -> None:
    """Let a decision be silent about one of the items that it wrote."""
    executed = it.of("added", "SMF_EXECUTE")
    it.cut(executed)
    it.leaves.pop()
    _write_of(it, it.write("added"), "another")
    it.leaves.append(executed)


def _revision_beyond(it: Forger) -> None:
    """Let a write make another revision than the decision came to."""
    it.cut(it.of("again", "SMF_EXECUTE"))
    it.write("again")["properties"]["revision"] = 9
    _effects(it, "again")[0]["governed"] = [9]


def _undone_in_part(it: Forger) -> None:
    effects = _effects(it, "unmade")
    effects[:] = [each for each in effects if each["governed"]]


def _undone_to_something_else(it: Forger) -> None:
    it.cut(it.of("again", "SMF_UNDO"))
    it.write("back")["properties"]["digest"] = DIGEST


def _further_than_told(it: Forger) -> None:
    """Say that a decision came to a revision that nobody told of."""
    it.cut(it.of("again", "SMF_EXECUTE"))
    _effects(it, "again")[0]["after"] = 9


def _by_another(it: Forger) -> None:
    """Let a decided write be the agent's, at graph's own door."""
    it.write("made").update(actor="AGENT", principal="agent")


def _commanded(it: Forger, told: dict[str, str], *actions: str) -> None:
    """Tell of commands on keys or spaces."""
    for action in actions:
        nobody = {"proposal": {"id": "", "revision": 0}, "item": {"id": "", "kind": 0}}
        it.add(it.of("small", "SMF_PROPOSE"), action=action, properties=told, **nobody)


def _refusal_of_an_item(it: Forger) -> None:
    """Let a refusal name an item, which none does: nothing was proposed."""
    nobody, item = {"id": "", "revision": 0}, {"id": "x", "kind": 2}
    refused: Leaf = {"action": "SAFEGUARD_VIOLATION", "blocked": True, "properties": {}}
    it.add(it.of("small", "SMF_PROPOSE"), proposal=nobody, item=item, **refused)


WRITE_FORGERIES: dict[str, tuple[Forgery, str]] = {
    "a write that was blocked": (_blocked_write, "blocked"),
    "a refusal that was let through": (_refusal_let_through, "blocked"),
    "a refusal that names an item": (_refusal_of_an_item, "item"),
    "a key that was revoked made again": (
        lambda it: _commanded(it, {"key": "k"}, "KEY_CREATE", "KEY_REVOKE", "KEY_CREATE"),
        "key",
    ),
    "a key revoked that was never made": (
        lambda it: _commanded(it, {"key": "k"}, "KEY_REVOKE"),
        "key",
    ),
    "a deleted space's name used again": (
        lambda it: _commanded(it, {"space": "s"}, "SPACE_CREATE", "SPACE_DELETE", "SPACE_CREATE"),
        "space",
    ),
    "a decided write by somebody else": (_by_another, "writer"),
    "a principal enrolled twice": (_enrolled_again, "enrolled_again"),
    "a second genesis": (_two_geneses, "one_genesis"),
    "a write dressed as genesis": (lambda it: _genesis(it, "another"), "genesis_edges"),
    "a write that nobody decided": (_written_by_nobody, "undecided_write"),
    "a write by the agent alone": (_written_by_the_agent_alone, "undecided_write"),
    "a second write under a finished decision": (_written_again_when_done, "finished_write"),
    "a write under an undone decision": (_written_again_when_undone, "finished_write"),
    "a write under a failed decision": (_written_when_failed, "finished_write"),
    "a principal's edge written without proof": (_principal_written, "principal_write"),
    "a write beside the signed ones": (_written_beside, "unsigned_write"),
    "more made than was signed for": (_more_made_than_signed, "unsigned_write"),
    "a revision before the last": (lambda it: _pending(it, revision=2), "write_revision"),
    "a first revision of what was there": (
        lambda it: _pending(it, "added", revision=2),
        "first_write",
    ),
    "a change between two entries": (
        lambda it: _pending(it, before_digest="0" * 64),
        "before_digest",
    ),
    "an end changed between two entries": (_an_end_moved, "ends"),
    "graph's entries out of order": (lambda it: _pending(it, graph_seq=1), "graph_seq"),
    "graph's time goes back": (lambda it: _pending(it, record_time=it.time(-1)), "record_time"),
    "a write when the consents had run out": (_written_late, "written_late"),
    "a write in the instant the consents ended": (_written_as_the_consents_ended, "written_late"),
    "a removal that leaves it standing": (_removed_with_ends, "removed"),
    "an effect that undoes nothing": (_effect_of_nothing, "effect_revisions"),
    "an effect told twice": (
        lambda it: _effects(it, "again").append(_effects(it, "again")[0]),
        "effect_revisions",
    ),
    "an effect of a consent to an older version": (_back_in_time, "effect_revisions"),
    "an effect that nobody consented to": (
        lambda it: _effect(it, before=1, after=2),
        "unsigned_effect",
    ),
    "more effects made than were signed for": (lambda it: _effect(it, before=0, after=1), "made"),
    "an item made that was known": (_made_what_was_known, "made"),
    "executed without its write": (_executed_without_its_write, "effects_logged"),
    "a write that no effect names": (_one_effect_left_out, "effects_logged"),
    "executed without an effect": (_nothing_executed, "no_effect"),
    "a write beyond its effect": (_revision_beyond, "governed_revisions"),
    "a constitutive edge without ends": (_edge_without_ends, "edge_ends"),
    "an effect beyond the last write": (_further_than_told, "newest_revision"),
    "others taken along, with nothing that names them": (
        lambda it: _taken_along(it, 2, ""),
        "cascaded",
    ),
    "no others taken along, with their digest": (
        lambda it: _taken_along(it, 0, "0" * 64),
        "cascaded",
    ),
    "undone in part": (_undone_in_part, "undone_effects"),
    "undone to something else": (_undone_to_something_else, "undone_state"),
}
