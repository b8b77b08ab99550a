"""The contract cases of ChangeFeedService, whose callers are Concord's own services."""

from concord.graph.v1 import feed_pb2 as pb
from concord_chassis.channel.partitions import partition_of
from concord_graph.ports import PARTITIONS
from contract_live import FOLLOWER
from contract_registry import Contract, Refused, invalid
from grpc import StatusCode

(BOTH,) = {partition_of(space, PARTITIONS) for space in "ab"}
"""The partition of both homes."""
FEED = {
    "ListPartitions": Contract(
        request=lambda _: pb.ListPartitionsRequest(
            cursors=[pb.PartitionCursor(partition=BOTH, number=2**40)]
        ),
        success=lambda reply, _: (
            [i for i, each in enumerate(reply.partitions) if each.number] == [BOTH]
            and [i for i, each in enumerate(reply.partitions) if each.lacks_cursor] == [BOTH]
        ),
        bad_input=(
            lambda _: pb.ListPartitionsRequest(cursors=[pb.PartitionCursor(number=-1)]),
            invalid("cursors[0].number"),
        ),
        caller=lambda _: FOLLOWER,
    ),
    "ListSpaces": Contract(
        request=lambda _: pb.ListSpacesRequest(partition=BOTH),
        success=lambda reply, _: [head.space for head in reply.spaces] == ["a", "b"],
        bad_input=(
            lambda _: pb.ListSpacesRequest(partition=PARTITIONS),
            invalid("partition"),
        ),
        caller=lambda _: FOLLOWER,
    ),
    "FindLacking": Contract(
        request=lambda _: pb.FindLackingRequest(
            cursors=[pb.SpaceCursor(space=space, seq=1) for space in ("b", "a", "nowhere")]
        ),
        success=lambda reply, _: [*reply.spaces] == ["nowhere"],
        bad_input=(
            lambda _: pb.FindLackingRequest(cursors=[pb.SpaceCursor(space="a", seq=-1)]),
            invalid("cursors[0].seq"),
        ),
        caller=lambda _: FOLLOWER,
    ),
    "ListChanges": Contract(
        request=lambda home: pb.ListChangesRequest(space=home.space, after_seq=3),
        success=lambda reply, home: (
            reply.changes.space == home.space and reply.changes.changes[0].seq == 4
        ),
        bad_input=(lambda _: pb.ListChangesRequest(space="a", after_seq=-1), invalid("after_seq")),
        caller=lambda _: FOLLOWER,
    ),
    "RegisterSpace": Contract(
        request=lambda home: pb.RegisterSpaceRequest(
            space=f"{home.space}-known", enrolment_digest="0" * 64
        ),
        success=lambda reply, _: reply == pb.RegisterSpaceResponse(),
        bad_input=(
            lambda _: pb.RegisterSpaceRequest(space="a", enrolment_digest="0" * 63),
            invalid("enrolment_digest"),
        ),
        caller=lambda _: FOLLOWER,
    ),
    "EraseSpace": Contract(
        request=lambda home: pb.EraseSpaceRequest(space=f"{home.space}-gone"),
        success=lambda reply, _: reply.complete,
        bad_input=(
            lambda _: pb.EraseSpaceRequest(space="a"),
            Refused(StatusCode.FAILED_PRECONDITION, "DELETION_INVALID"),
        ),
        caller=lambda _: FOLLOWER,
    ),
    "AcquireLease": Contract(
        request=lambda home: pb.AcquireLeaseRequest(space=home.space, name="w", holder="h"),
        success=lambda reply, _: reply.acquired and reply.fencing_number == 1,
        bad_input=(lambda _: pb.AcquireLeaseRequest(space="a", name="w"), invalid("holder")),
        caller=lambda _: FOLLOWER,
    ),
    "RenewLease": Contract(
        request=lambda home: pb.RenewLeaseRequest(
            space=home.space, name="never", holder="h", fencing_number=1
        ),
        success=lambda reply, _: not reply.renewed,
        bad_input=(
            lambda _: pb.RenewLeaseRequest(space="a", name="w", holder="h", fencing_number=-1),
            invalid("fencing_number"),
        ),
        caller=lambda _: FOLLOWER,
    ),
    "WatchChanges": Contract(
        request=lambda _: pb.WatchChangesRequest(cursors=[pb.PartitionCursor(partition=BOTH)]),
        success=lambda reply, _: (reply.partition, reply.changes.changes[0].seq) == (BOTH, 1),
        bad_input=(
            lambda _: pb.WatchChangesRequest(cursors=[pb.PartitionCursor(number=-1)]),
            invalid("cursors[0].number"),
        ),
        caller=lambda _: FOLLOWER,
        replies=1,
    ),
    "GetDigests": Contract(
        request=lambda home: pb.GetDigestsRequest(space=home.space),
        success=lambda reply, _: (
            len(reply.buckets) == 256
            and any(bucket.state_count for bucket in reply.buckets)
            and all(any(b.digest) == bool(b.state_count) for b in reply.buckets)
        ),
        bad_input=(lambda _: pb.GetDigestsRequest(), invalid("space")),
        caller=lambda _: FOLLOWER,
    ),
    "BatchGetRevisions": Contract(
        request=lambda home: pb.BatchGetRevisionsRequest(
            space="a", refs=[pb.RevisionRef(id=home.old_id), pb.RevisionRef(id=home.memory_id)]
        ),
        success=lambda reply, home: (
            [each.memory.id for each in reply.revisions] == [home.old_id, home.memory_id]
        ),
        bad_input=(lambda _: pb.BatchGetRevisionsRequest(space="a"), invalid("refs")),
        caller=lambda _: FOLLOWER,
    ),
}
