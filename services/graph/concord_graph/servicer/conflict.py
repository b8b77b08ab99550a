"""ConflictService."""

from __future__ import annotations

from concord.graph.v1 import conflict_pb2, conflict_pb2_grpc
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor

from concord_graph.domain.conflicts import ConflictClass, ConflictState
from concord_graph.domain.items import AsOf, ItemKind
from concord_graph.ports import EntryFilter, Reads, Written
from concord_graph.servicer import calls, conflict_messages, incoming
from concord_graph.servicer.actions import Actions
from concord_graph.usecases.read.conflicts import (
    ShownConflict,
    dependents,
    get_conflict,
    list_conflicts,
    shown_conflicts,
)
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.records import CheckSettings, Records
from concord_graph.usecases.write.commands import Commands, Done


class ConflictServicer(conflict_pb2_grpc.ConflictServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self, commands: Commands, reader: Reader, actions: Actions, records: Records
    ) -> None:
        self._commands = commands
        self._reader = reader
        self._records = records
        self._actions = actions

    async def RecordConflicts(
        self, request: conflict_pb2.RecordConflictsRequest, context: calls.Context
    ) -> conflict_pb2.RecordConflictsResponse:
        done = await calls.execute(self._commands, request, self._actions.record_conflicts(request))
        return calls.reply(
            conflict_pb2.RecordConflictsResponse,
            done,
            findings=map(conflict_messages.recorded, done.result.findings),
        )

    async def GetConflict(
        self, request: conflict_pb2.GetConflictRequest, context: calls.Context
    ) -> conflict_pb2.GetConflictResponse:
        asked = incoming.as_of(request)
        pair = (request.pair.first_id, request.pair.second_id)
        found = await self._reader.read(
            caller().space,
            lambda tx, now: get_conflict(tx, asked.at(now), conflict_id=request.id, pair=pair),
        )
        if found is None:
            return conflict_pb2.GetConflictResponse(status=calls.NOT_FOUND)
        return conflict_pb2.GetConflictResponse(
            status=calls.FOUND, conflict=conflict_messages.conflict(found)
        )

    async def ListConflicts(
        self, request: conflict_pb2.ListConflictsRequest, context: calls.Context
    ) -> conflict_pb2.ListConflictsResponse:
        filter_ = EntryFilter(
            ItemKind.CONFLICT,
            shelf=None,
            shelves=tuple(ConflictState(state).name for state in request.states),
            classes=tuple(map(ConflictClass, request.classes)),
            sides=tuple(request.item_ids),
            run_id=request.run_id,
            ids=tuple(request.conflict_ids),
        )
        asked, before = incoming.as_of(request), page_cursor(request, (int, int))
        found, total = await self._reader.read(
            caller().space,
            lambda tx, now: list_conflicts(
                tx, filter_, asked.at(now), before, calls.page_limit(request)
            ),
        )
        page, token = calls.one_page(request, found, lambda last: calls.rank_of(last.entry))
        return conflict_pb2.ListConflictsResponse(
            conflicts=map(conflict_messages.conflict, page),
            next_page_token=token,
            total_count=total,
        )

    async def ReviewConflict(
        self, request: conflict_pb2.ReviewConflictRequest, context: calls.Context
    ) -> conflict_pb2.ReviewConflictResponse:
        done = await calls.execute(self._commands, request, self._actions.review_conflict(request))
        shown = await self._decided(done)
        known = shown.conflict
        evolved = known.state == ConflictState.CONFIRMED and known.older_id
        return calls.reply(
            conflict_pb2.ReviewConflictResponse,
            done,
            conflict=conflict_messages.conflict(shown),
            dependent_ids=await self._dependents(shown, known.older_id if evolved else ""),
        )

    async def ResolveConflict(
        self, request: conflict_pb2.ResolveConflictRequest, context: calls.Context
    ) -> conflict_pb2.ResolveConflictResponse:
        done = await calls.execute(self._commands, request, self._actions.resolve_conflict(request))
        shown = await self._decided(done)
        resolution = shown.conflict.resolution
        superseded_id = resolution.superseded_id if resolution else ""
        return calls.reply(
            conflict_pb2.ResolveConflictResponse,
            done,
            conflict=conflict_messages.conflict(shown),
            dependent_ids=await self._dependents(shown, superseded_id),
        )

    async def ReopenConflict(
        self, request: conflict_pb2.ReopenConflictRequest, context: calls.Context
    ) -> conflict_pb2.ReopenConflictResponse:
        done = await calls.execute(self._commands, request, self._actions.reopen_conflict(request))
        return calls.reply(
            conflict_pb2.ReopenConflictResponse,
            done,
            conflict=conflict_messages.conflict(await self._decided(done)),
        )

    async def DismissConflicts(
        self, request: conflict_pb2.DismissConflictsRequest, context: calls.Context
    ) -> conflict_pb2.DismissConflictsResponse:
        done = await calls.execute(self._commands, request, self._actions.dismiss(request))
        return calls.reply(
            conflict_pb2.DismissConflictsResponse,
            done,
            dismissed_count=done.result.dismissed,
            left_count=done.result.left,
            is_complete=done.result.is_complete,
        )

    async def EndFormerFindings(
        self, request: conflict_pb2.EndFormerFindingsRequest, context: calls.Context
    ) -> conflict_pb2.EndFormerFindingsResponse:
        done = await calls.execute(
            self._commands, request, self._actions.end_former_findings(request)
        )
        return calls.reply(
            conflict_pb2.EndFormerFindingsResponse,
            done,
            ended_count=done.result.dismissed,
            is_complete=done.result.is_complete,
        )

    async def GetCheckSettings(
        self, request: conflict_pb2.GetCheckSettingsRequest, context: calls.Context
    ) -> conflict_pb2.GetCheckSettingsResponse:
        found = await self._records.check_settings(caller().space)
        return conflict_pb2.GetCheckSettingsResponse(settings=_settings(found))

    async def SetCheckSettings(
        self, request: conflict_pb2.SetCheckSettingsRequest, context: calls.Context
    ) -> conflict_pb2.SetCheckSettingsResponse:
        wanted = CheckSettings(request.settings.records_text_findings)
        await self._records.set_check_settings(caller().space, wanted)
        return conflict_pb2.SetCheckSettingsResponse(settings=_settings(wanted))

    async def _decided(self, done: Done[Written]) -> ShownConflict:
        """Return the conflict that a decision wrote, with its sides as they are now."""

        async def work(tx: Reads, now: int) -> ShownConflict:
            return (await shown_conflicts(tx, done.entries, AsOf().at(now)))[0]

        return await self._reader.read(caller().space, work)

    async def _dependents(self, shown: ShownConflict, item_id: str) -> list[str]:
        if not item_id:
            return []
        kind, other_id = shown.conflict.first.kind, shown.conflict.other(item_id)

        async def work(tx: Reads, now: int) -> list[str]:
            return list(await dependents(tx, item_id, other_id, kind, AsOf().at(now)))

        return await self._reader.read(caller().space, work)


def _settings(found: CheckSettings) -> conflict_pb2.CheckSettings:
    return conflict_pb2.CheckSettings(records_text_findings=found.records_text_findings)
