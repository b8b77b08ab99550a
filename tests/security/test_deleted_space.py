"""A deleted space is gone from every service, and the other is as it was."""

import asyncio
import time
from pathlib import Path

from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from contract_cases import CONTRACTS
from contract_homes import Template
from contract_live import OPERATOR, Live, member
from contract_search import whole_live

DELETE = "concord.governance.v1.AccessService.DeleteSpace"


async def found(live: Live, space: str) -> list[str]:
    """Return the ids of what a search for what both homes know finds."""
    request = search_pb2.SearchRequest(query="Ada likes coffee", page_size=20, peek=True)
    reply = await live.tell(member(space), "Search", request)
    return [each.memory.id for each in reply.results]


async def confirmed(live: Live, memory_id: str) -> None:
    """Wait until search has confirmed that it holds nothing more of a memory."""
    asked, until = memory_pb2.GetEraseReceiptRequest(memory_id=memory_id), time.monotonic() + 30
    while True:
        receipt = (await live.tell(member("a"), "GetEraseReceipt", asked)).receipt
        if any(
            e.confirmer == "search" and e.HasField("confirm_time") for e in receipt.confirmations
        ):
            return
        assert time.monotonic() < until
        await asyncio.sleep(0.02)


async def test_search_finds_nothing_of_a_deleted_space(template: Template, tmp_path: Path) -> None:
    """W7 M4 Search confirms that it holds nothing more; the other space is found."""
    home = template.a
    async with whole_live(template.copy(tmp_path), template.enrolment) as live:
        assert home.memory_id in await found(live, "a")
        others = await found(live, "b")

        deleted = (await live.ask(OPERATOR, DELETE, CONTRACTS[DELETE].request(home))).reply
        assert deleted.space.erased
        await confirmed(live, home.memory_id)

        assert await found(live, "a") == []
        assert await found(live, "b") == others != []
