"""Uploads many memories in few calls: in atomic batches, with a list of refused items."""

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import grpc
from concord.graph.v1 import memory_pb2
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.type.v1.type_pb2 import (
    WRITE_OUTCOME_CLAIMED,
    WRITE_OUTCOME_UNSPECIFIED,
    ClaimNote,
    GaveWay,
)

from concord_client.importers.outcome import Defect, Draft, LeftOut, Outcome, Remark
from concord_client.refusal import Refused

BATCH_SIZE = 200
BATCH_FACTS = 50
"""Facts of a batch's memories together; graph refuses more."""
BATCH_TIMEOUT = 120.0
UNREADABLE = "ERROR_REASON_FIELD_INVALID"

_OWN_WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\S*\d\S*")
"""The parts of a message that are about one item: quotations, ids and numbers."""

# Failures that one item can cause; any other failure ends the import.
_OF_AN_ITEM = frozenset(
    [
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    ]
)


@dataclass(frozen=True)
class Refusal:
    """An item that was not added."""

    index: int
    """Its position in the import, from 0."""
    place: str
    """File and line."""
    reason: str
    message: str
    text: str = ""
    """The item's own words; empty if the file cannot be read."""

    @property
    def kind(self) -> tuple[str, str]:
        """A key to group refusals: the reason, and the message without the item's own parts."""
        return self.reason, _OWN_WORDS.sub("…", self.message)

    def line(self) -> str:
        """The refusal as one line."""
        return f"{self.place}: {self.reason}: {self.message}"


@dataclass(frozen=True)
class _Item:
    index: int
    draft: Draft

    def refused(self, reason: str, message: str) -> Refusal:
        return Refusal(self.index, self.draft.place, reason, message, self.draft.memory.content)


class Upload:
    """One import: the items sent, their outcomes, and the token of its newest write.

    An import may be repeated after a crash at any point, since graph recognises a memory by its
    id, its external id or its content (spec M5). Request ids are new in each import: with ids
    derived from the content, graph would answer a later import of the same file with the outcome
    of the first, even if the memories changed in between.
    """

    def __init__(
        self,
        *,
        update_existing: bool = False,
        stop_on_error: bool = False,
        extracted: bool = False,
    ) -> None:
        """`stop_on_error`: only the items before the first refused one are written. `extracted`: a
        program or model took the texts from elsewhere, so no link in them is lineage."""
        self.refusals: list[Refusal] = []
        self.left_out: list[LeftOut] = []
        """The parts of the files that the importer left out; they are no items."""
        self.remarks: list[Remark] = []
        self.token = ""
        self.finished = False
        """Whether the import is over: all items were sent, or it stopped at a refused one."""
        self.gave_way = GaveWay()
        self.claims: list[ClaimNote] = []
        """What gave way by all batches; of each, the first thousand are listed."""
        self._update = update_existing
        self._extracted = extracted
        self._stop = stop_on_error
        self._results: list[tuple[int, memory_pb2.BatchResult]] = []
        self.import_id = secrets.token_hex(8)
        """Names this import among the space's operations, and for an undo."""
        self._numbers = count(1)

    def send(self, memories: MemoryServiceStub, outcomes: Iterable[Outcome]) -> Iterator[int]:
        """Sends the drafts in batches; yields the number of finished items after each batch.

        Raises `Refused` for a failure that no item caused; earlier batches stay written.
        """
        done = 0
        for chunk in _chunks(self._items(outcomes)):
            items, unreadable = self._divided(chunk)
            self._send(memories, items)
            if not self.stopped:
                self.refusals += unreadable
            done += len(chunk)
            yield done
            if self.stopped:
                break
        self.finished = True

    @property
    def stopped(self) -> bool:
        """Whether an item was refused and nothing after it is sent."""
        return self._stop and bool(self.refusals)

    def counts(self) -> Counter[str]:
        """The numbers of memories by what became of them: "created", "unchanged", "updated",
        "erased", or "claimed": put beside one that stands above the key."""
        names = memory_pb2.BatchOutcome.Name
        counted = Counter({"created": 0, "unchanged": 0, "updated": 0})
        for _, result in self._results:
            counted[names(result.outcome).removeprefix("BATCH_OUTCOME_").lower()] += 1
        return counted

    def reply(self) -> memory_pb2.BatchAddMemoriesResponse:
        """The replies of all batches as one; indexes of errors are positions in the import."""
        return memory_pb2.BatchAddMemoriesResponse(
            results=[result for _, result in sorted(self._results, key=lambda pair: pair[0])],
            errors=[
                memory_pb2.BatchError(index=each.index, reason=each.reason, message=each.message)
                for each in sorted(self.refusals, key=lambda refusal: refusal.index)
            ],
            token=self.token,
            gave_way=self.gave_way if self.gave_way.count else None,
            outcome=WRITE_OUTCOME_CLAIMED if self.claims else WRITE_OUTCOME_UNSPECIFIED,
            claims=self.claims,
        )

    def _items(self, outcomes: Iterable[Outcome]) -> Iterator[Draft | Defect]:
        for outcome in outcomes:
            if isinstance(outcome, LeftOut):
                self.left_out.append(outcome)
            elif isinstance(outcome, Remark):
                self.remarks.append(outcome)
            else:
                yield outcome

    def _divided(
        self, chunk: Iterable[tuple[int, Draft | Defect]]
    ) -> tuple[list[_Item], list[Refusal]]:
        """The drafts to send, and the defects as refusals; with `stop_on_error` up to the first."""
        items, unreadable = [], []
        for index, outcome in chunk:
            if isinstance(outcome, Draft):
                items.append(_Item(index, outcome))
                continue
            unreadable.append(
                Refusal(index, outcome.place, UNREADABLE, outcome.reason, outcome.text)
            )
            if self._stop:
                break
        return items, unreadable

    def _send(self, memories: MemoryServiceStub, items: Sequence[_Item]) -> None:
        """Writes `items` except the refused ones."""
        while items:
            try:
                reply = memories.BatchAddMemories(self._messages(items), timeout=BATCH_TIMEOUT)
            except Refused as refused:
                self._divide(memories, items, refused)
                return
            if not reply.errors:
                self._keep(items, reply)
                return
            errors = sorted(reply.errors, key=lambda error: error.index)[
                : 1 if self._stop else None
            ]
            self.refusals += [
                items[error.index].refused(error.reason, error.message) for error in errors
            ]
            wrong = {error.index for error in errors}
            last = min(wrong) if self._stop else len(items)
            items = [item for at, item in enumerate(items[:last]) if at not in wrong]

    def _divide(
        self, memories: MemoryServiceStub, items: Sequence[_Item], refused: Refused
    ) -> None:
        """Finds, by halving, the item that broke a rule of the contract, which no refusal names."""
        if refused.code not in _OF_AN_ITEM or refused.retry_after is not None:
            raise refused
        if len(items) == 1:
            details = "; ".join(f"{each.field}: {each.description}" for each in refused.violations)
            self.refusals.append(items[0].refused(refused.reason, details or refused.message))
            return
        middle = len(items) // 2
        self._send(memories, items[:middle])
        if not self.stopped:
            self._send(memories, items[middle:])

    def _keep(self, items: Sequence[_Item], reply: memory_pb2.BatchAddMemoriesResponse) -> None:
        self._results += [
            (item.index, result) for item, result in zip(items, reply.results, strict=True)
        ]
        self.token = reply.token or self.token
        self.gave_way.count += reply.gave_way.count
        self.gave_way.items.extend(reply.gave_way.items)
        self.gave_way.truncated |= reply.gave_way.truncated
        self.claims.extend(reply.claims)

    def _messages(self, items: Sequence[_Item]) -> Iterator[memory_pb2.BatchAddMemoriesRequest]:
        header = memory_pb2.BatchHeader(
            request_id=f"import-{self.import_id}-{next(self._numbers)}",
            update_existing=self._update,
            memory_count=len(items),
            extracted=self._extracted,
        )
        yield memory_pb2.BatchAddMemoriesRequest(header=header)
        for item in items:
            yield memory_pb2.BatchAddMemoriesRequest(memory=item.draft.memory)


def _chunks(outcomes: Iterable[Draft | Defect]) -> Iterator[list[tuple[int, Draft | Defect]]]:
    """The outcomes with their positions, as many together as one batch takes."""
    chunk: list[tuple[int, Draft | Defect]] = []
    facts = 0
    for index, outcome in enumerate(outcomes):
        stated = len(outcome.memory.facts) if isinstance(outcome, Draft) else 0
        if chunk and facts + stated > BATCH_FACTS:
            yield chunk
            chunk, facts = [], 0
        chunk.append((index, outcome))
        facts += stated
        if len(chunk) == BATCH_SIZE:
            yield chunk
            chunk, facts = [], 0
    if chunk:
        yield chunk
