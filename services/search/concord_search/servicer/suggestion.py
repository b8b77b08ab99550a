"""SuggestionService."""

from typing import cast

from concord.search.v1 import suggestion_pb2, suggestion_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.call import Context
from concord_chassis.call.identity import caller
from concord_concepts.triggers import Situation

from concord_search.domain.errors import SituationEmpty
from concord_search.servicer import incoming
from concord_search.usecases.suggest import SuggestionQuery, SuggestProactively

DEFAULT_LIMIT = 3


class SuggestionServicer(suggestion_pb2_grpc.SuggestionServiceServicer):
    """Suggests memories of the caller's space."""

    def __init__(self, suggest: SuggestProactively) -> None:
        self._suggest = suggest

    async def SuggestProactively(
        self, request: suggestion_pb2.SuggestProactivelyRequest, context: Context
    ) -> suggestion_pb2.SuggestProactivelyResponse:
        found, all_tried = await self._suggest(caller().space, _query(request))
        return suggestion_pb2.SuggestProactivelyResponse(
            suggestions=[
                suggestion_pb2.Suggestion(
                    memory=cast(type_pb2.Memory, each.memory.shown),
                    composite_score=each.composite,
                    trigger=each.trigger,
                    shared_concepts=each.shared,
                )
                for each in found
            ],
            all_triggers_tried=all_tried,
        )


def _query(request: suggestion_pb2.SuggestProactivelyRequest) -> SuggestionQuery:
    situation = Situation(request.file_path, request.error_message, request.snippet)
    if not situation.words.strip():
        raise SituationEmpty
    return SuggestionQuery(
        situation,
        session_id=request.session_id,
        limit=request.limit or DEFAULT_LIMIT,
        repeat=request.repeat,
        demand=incoming.demand(request.consistency),
    )
