"""Translates requests for a review into tasks."""

from concord.dissonance.v1 import review_pb2 as pb

from concord_dissonance.domain.language.reading import DEFAULT_LANGUAGE, read
from concord_dissonance.domain.peer_review.criteria import WHOLE, Criterion, checked, criteria_set
from concord_dissonance.domain.peer_review.review import ReviewTask

_SETS = {
    pb.CRITERIA_SET_UNSPECIFIED: "general",
    pb.CRITERIA_SET_GENERAL: "general",
    pb.CRITERIA_SET_LEGAL: "legal",
    pb.CRITERIA_SET_TECHNICAL: "technical",
}


def task(request: pb.ReviewAnswerRequest) -> ReviewTask:
    """The task of a review. Raises `FieldInvalid`."""
    language = request.language or _language(request.question, request.answer)
    criteria = (
        checked(
            [
                Criterion(each.name, round(each.weight * WHOLE), each.description)
                for each in request.criteria
            ]
        )
        if request.criteria
        else criteria_set(_SETS[request.criteria_set], language)
    )
    return ReviewTask(request.question, request.answer, tuple(request.sources), criteria, language)


def _language(*texts: str) -> str:
    """Return the language of the first text whose words show one; English if none does."""
    readings = map(read, texts)
    return next((each.language for each in readings if each.is_language_known), DEFAULT_LANGUAGE)
