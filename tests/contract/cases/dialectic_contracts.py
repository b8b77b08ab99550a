"""The contract cases of DialecticService."""

from concord.dissonance.v1 import dialectic_pb2 as pb
from concord.dissonance.v1 import review_pb2
from contract_registry import Contract, invalid


def _synthesize(*memory_ids: str, question: str = "") -> pb.SynthesizeRequest:
    claims = ["The permit is required.", "The permit is not required."]
    results = [
        pb.AgentResult(agent=f"agent {at}", theses=[pb.ThesisInput(claim=claim)])
        for at, claim in enumerate(claims)
    ]
    return pb.SynthesizeRequest(
        request_id="r", question=question, results=results, memory_ids=memory_ids
    )


def begun(space: str) -> pb.SynthesizeRequest:
    """Return the request of the run that each home has behind it."""
    return pb.SynthesizeRequest(request_id=f"run of {space}", question=space, query="Ada")


def _review(
    question: str = "Is a permit needed?", quorum: int = 0
) -> review_pb2.ReviewAnswerRequest:
    return review_pb2.ReviewAnswerRequest(
        request_id="r", question=question, answer="Always.", quorum=quorum
    )


DIALECTIC = {
    "Synthesize": Contract(
        request=lambda home: _synthesize(home.memory_id),
        success=lambda replies, home: (
            [each.event.number for each in replies] == [*range(1, len(replies) + 1)]
            and replies[-1].event.done.synthesis.unresolved == [0]
            and home.memory_id in str(replies[-1].event.done.synthesis.theses)
        ),
        bad_input=(
            lambda _: pb.SynthesizeRequest(request_id="r", question="Is it?"),
            invalid("results"),
        ),
        other=lambda home: _synthesize(home.memory_id, question="Is it?"),
        on_record=frozenset(),
    ),
    "ReviewAnswer": Contract(
        request=lambda _: _review(),
        success=lambda replies, _: (
            [each.event.number for each in replies] == [*range(1, len(replies) + 1)]
            and sum(each.event.HasField("review") for each in replies) == 3
            and replies[-1].event.done.review.verdict.status == review_pb2.APPROVAL_STATUS_APPROVED
        ),
        bad_input=(lambda _: _review(quorum=21), invalid("quorum")),
        other=lambda _: _review("Is it?"),
        on_record=frozenset(),
    ),
    "ResumeRun": Contract(
        request=lambda home: pb.ResumeRunRequest(run_id=f"run of {home.space}", after_number=1),
        success=lambda replies, home: (
            replies[0].event.number == 2 and home.space in replies[-1].event.done.synthesis.text
        ),
        bad_input=(lambda _: pb.ResumeRunRequest(), invalid("run_id")),
    ),
}
