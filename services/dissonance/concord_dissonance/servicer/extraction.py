"""Translates texts, and the facts that they state."""

from unicodedata import normalize

from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.type.v1 import type_pb2

from concord_dissonance.clients.graph.messages import enum_number, micros, span
from concord_dissonance.domain.extraction.candidate import (
    TAKEN_FROM,
    Arm,
    Candidate,
    Extracted,
    Said,
)


def said(request: pb.ExtractFactsRequest) -> list[Said]:
    """The texts of a request."""
    return [
        Said(
            each.text,
            normalize("NFC", each.speaker).strip(),
            time=micros(each.time) if each.HasField("time") else None,
        )
        for each in request.texts
    ]


def reply(request: pb.ExtractFactsRequest, found: Extracted) -> pb.ExtractFactsResponse:
    """The candidates of a request, with what was covered."""
    by_model = sum(each.arm is Arm.MODEL for each in found.candidates)
    counts = pb.ExtractionCounts(
        texts=found.texts,
        texts_left=found.texts_left,
        by_reading=len(found.candidates) - by_model,
        by_model=by_model,
        dropped=found.dropped,
        budget_spent=found.budget_spent,
        invalid_replies=found.invalid_replies,
        model_calls=found.cost.calls,
        model_tokens=found.cost.tokens,
        model_micros=found.cost.micros,
    )
    return pb.ExtractFactsResponse(
        candidates=[_candidate(each, request.texts[each.text].text) for each in found.candidates],
        outcome=enum_number(pb, "EXTRACTION_OUTCOME", found.outcome),
        counts=counts,
    )


def _candidate(each: Candidate, text: str) -> pb.FactCandidate:
    message = pb.FactCandidate(
        text=each.text,
        fact=type_pb2.Fact(
            subject=each.subject, relation=each.relation, object=each.object, extracted=True
        ),
        span=span(each.span),
        quote=text[slice(*each.span)],
        confidence=each.confidence,
        arm=enum_number(pb, "EXTRACTION_ARM", each.arm),
        sure=each.confidence >= TAKEN_FROM,
    )
    if each.valid_from is not None:
        message.valid_from.FromMicroseconds(each.valid_from)
    if each.valid_until is not None:
        message.valid_until.FromMicroseconds(each.valid_until)
    return message
