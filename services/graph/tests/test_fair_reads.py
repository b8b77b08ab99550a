"""What one space reads does not keep another one waiting."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import neo4j_at_hand
import pytest
from concord.graph.v1 import graph_pb2, space_pb2
from concord_graph.ports import EXPORTERS
from concord_graph.usecases.transfer import exports as reading
from graph_world import SECONDS, World

EXPORTS = 66
FORMS = {
    space_pb2.EXPORT_FORM_STATE: "export_state",
    space_pb2.EXPORT_FORM_FULL: "put_down",
    space_pb2.EXPORT_FORM_DOT: "draw_lineage",
}


class Held:
    """Exports that stand still in the middle of their reading until `go` is set."""

    def __init__(self) -> None:
        self.started, self.go = 0, threading.Event()

    def holding(self, read: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        """Return what reads when it may."""

        async def held(*args: object) -> object:
            self.started += 1
            if neo4j_at_hand.is_chosen():
                await asyncio.to_thread(self.go.wait, SECONDS)
            else:  # in a thread of the store's
                self.go.wait(SECONDS)
            return await read(*args)

        return held


@pytest.mark.parametrize("form", sorted(FORMS))
async def test_exports_do_not_keep_another_spaces_reads_waiting(
    live: World, monkeypatch: pytest.MonkeyPatch, form: space_pb2.ExportForm.ValueType
) -> None:
    """W7 66 exports of one space are under way: a node of another is read meanwhile, and all of
    them end whole, a few at a time."""
    held = Held()
    monkeypatch.setattr(reading, FORMS[form], held.holding(getattr(reading, FORMS[form])))
    home, other = live.calls(), live.calls("other")
    await home.add("text")
    await other.put_node("Ada")

    async def export() -> int:
        request = space_pb2.ExportSpaceRequest(form=form)
        pieces = [piece async for piece in home.space_service.ExportSpace(request, timeout=SECONDS)]
        return sum(len(piece.lines) for piece in pieces)

    exports = [asyncio.ensure_future(export()) for _ in range(EXPORTS)]
    try:
        async with asyncio.timeout(SECONDS):
            while held.started < EXPORTERS:  # noqa: ASYNC110 - in threads of the store's
                await asyncio.sleep(0.005)
        request = graph_pb2.GetNodeRequest(name="Ada")
        assert (await other.graph.GetNode(request, timeout=5)).node.name == "Ada"
        assert held.started == EXPORTERS
    finally:
        held.go.set()
    assert len(set(await asyncio.gather(*exports))) == 1
