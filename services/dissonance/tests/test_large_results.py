"""A result that is larger than a message may be."""

from concord.dissonance.v1 import dialectic_pb2 as pb
from concord_dissonance.domain.dialectic.theses import Batch, SetAside, WhyAside
from concord_dissonance.servicer import dialectic_outgoing
from concord_dissonance.usecases.dialectic.runs import Event, Stage


def test_a_result_too_large_to_send_ends_the_stream_with_its_reason() -> None:
    """D10 The one terminal event is there all the same, and says what to do."""
    aside = SetAside("A", "x" * dialectic_outgoing.MOST_BYTES, WhyAside.SPECULATION)
    told = Event(1, Stage.THESES, 10, Batch("A", set_aside=[aside]))
    event = dialectic_outgoing.event("run", told)

    assert isinstance(event, pb.DialecticEvent)
    assert event.failed.reason == "ERROR_REASON_MESSAGE_TOO_LARGE"
    assert event.ByteSize() < 1_000
