"""How far a space was judged, or its changes followed, in graph's records."""

from concord_chassis.channel.records import Record, SmallRecords

from concord_dissonance.adapters.service_calls import own
from concord_dissonance.ports.feed import Judged, Position

JUDGED = "judged_position"
FOLLOWED = "triggers_position"


async def read_position(records: SmallRecords, space: str, kind: str) -> Judged:
    """The stored position. Raises `ServiceUnavailable` or `ServiceRefused`."""
    (stored,) = await own("graph", records.get(space, (kind, "")))
    seq, _, epoch = stored.body.get("token", "").partition(" ")
    position = Position(epoch, int(seq)) if seq.isdecimal() else None
    return Judged(position, stored.body.get("judge_version", ""), stored.etag)


async def put_position(records: SmallRecords, space: str, kind: str, judged: Judged) -> str:
    """Store a position; return its etag. Raises `ServiceUnavailable` also after a lost race."""
    at = judged.position
    body = {"token": f"{at.seq} {at.epoch}" if at else "", "judge_version": judged.version}
    (etag,) = await own("graph", records.put(space, Record((kind, ""), body, judged.etag)))
    return etag
