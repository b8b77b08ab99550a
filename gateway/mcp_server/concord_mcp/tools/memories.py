"""Tools that list, change and forget memories, and say whether a search helped."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from concord.graph.v1 import memory_pb2
from concord.search.v1 import feedback_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask

from concord_mcp.arguments import at_path, refused
from concord_mcp.calls import Calls, Refusal
from concord_mcp.tool import Argument, Json, Tool
from concord_mcp.tools.notes import GET_MEMORY
from concord_mcp.tools.parts import CLAIMS, ETAG, GAVE_WAY, MEMORY, as_of, limit, part_of

LISTED = part_of(MEMORY, "id", "content", "kind", "tags", "domain", "created", "superseded")
_LINKS = re.compile(r"Supersedes: \[\[memory:")

LIST_MEMORIES = Tool(
    "list_memories",
    memory_pb2,
    "MemoryService.ListMemories",
    "Use when you want to go through what is remembered, the newest first, rather than find it.",
    (
        Argument("kinds", "filter.kinds"),
        Argument("tag", "filter.tag"),
        Argument("domain", "filter.domain"),
        Argument("session_id", "filter.session_id"),
        Argument("include_superseded", "include_superseded"),
        limit(default=20),
        Argument("page_token", "page_token", hint="next_page_token of the page before"),
        as_of(),
    ),
    {
        "memories": ("memories", LISTED),
        "next_page_token": "next_page_token",
    },
    lists="memories",
    brief=("memories", part_of(LISTED, "id", "content", "created", "superseded")),
    aliases={"include_obsolete": "include_superseded"},
)


def _changing(name: str) -> Callable[[Any, Json], None]:
    """Sets a field of the memory, and names it in the mask."""

    def put(request: memory_pb2.UpdateMemoryRequest, value: Json) -> None:
        at_path(request, f"memory.{name}", value)
        request.update_mask.MergeFrom(FieldMask(paths=[name]))

    return put


def _changed(name: str, hint: str = "") -> Argument:
    return Argument(name, f"memory.{name}", put=_changing(name), hint=hint)


async def _present(calls: Calls, request: Any) -> str:
    """The etag of the memory that a request names. Raises `Refusal`."""
    update = isinstance(request, memory_pb2.UpdateMemoryRequest)
    name = request.memory.id if update else request.id
    asked = memory_pb2.GetMemoryRequest(id=name, peek=True)
    found = await calls.call(GET_MEMORY, asked, memory_pb2.GetMemoryResponse)
    if found.status == type_pb2.LOOKUP_STATUS_NOT_FOUND and not found.memory.id:
        near = f" Similar: {', '.join(found.near_names)}." if found.near_names else ""
        raise Refusal("ERROR_REASON_ITEM_NOT_FOUND", f"There is no memory {name}.{near}")
    if update and "content" in request.update_mask.paths and "[[" not in request.memory.content:
        _keep_links(request.memory, found.memory.content)
    etag: str = found.memory.etag
    return etag


def _keep_links(memory: type_pb2.Memory, former: str) -> None:
    """Add the lines of links that `add_memory` wrote: searches do not show them."""
    lines = [line for line in former.splitlines() if _LINKS.match(line)]
    if lines:
        memory.content = "\n".join([memory.content.rstrip(), "", *lines])


def _demand_change(given: Mapping[str, Json]) -> None:
    changing = [each.name for each in UPDATE_MEMORY.arguments if each.put]
    if not any(given.get(name) is not None for name in changing):
        raise refused("content", f"State what changes: {', '.join(changing)}.")


UPDATE_MEMORY = Tool(
    "update_memory",
    memory_pb2,
    "MemoryService.UpdateMemory",
    "Use when a memory was written down wrongly. What has changed since is a new memory that "
    "supersedes it.",
    (
        Argument("id", "memory.id", required=True),
        Argument("etag", "memory.etag", hint=ETAG),
        _changed("content", "all of it; its links stay, unless you name others or an etag"),
        _changed("tags", "all of them"),
        _changed("importance"),
        _changed("kind"),
        _changed("domain"),
        _changed("valid_from"),
        _changed("valid_until"),
        _changed("surfaces_when", "all of them: when to surface unasked, as in add_memory"),
    ),
    {"memory": ("memory", MEMORY), "gave_way": GAVE_WAY, "claims": CLAIMS, "token": "token"},
    etag="memory.etag",
    present=_present,
    demand=_demand_change,
    reads=False,
)

FORGET_MEMORY = Tool(
    "forget_memory",
    memory_pb2,
    "MemoryService.ForgetMemory",
    "Use when a memory should not be remembered: reads leave it out, its history stays. What was "
    "true once is superseded instead.",
    (Argument("id", "id", required=True), Argument("etag", "etag", hint=ETAG)),
    {"id": "memory.id", "gave_way": GAVE_WAY, "claims": CLAIMS, "token": "token"},
    etag="etag",
    present=_present,
    reads=False,
    destroys=True,
)

SUBMIT_FEEDBACK = Tool(
    "submit_feedback",
    feedback_pb2,
    "FeedbackService.SubmitFeedback",
    "Use when you know whether an integrative search helped: votes move what weight values have.",
    (
        Argument("query_id", "query_id", required=True, hint="from integrative_search"),
        Argument("helpfulness", "helpfulness", required=True),
        Argument("reason", "reason"),
    ),
    {"constitutive_weight": "constitutive_weight", "new_votes": "new_vote_count"},
    reads=False,
)

TOOLS = (LIST_MEMORIES, UPDATE_MEMORY, FORGET_MEMORY, SUBMIT_FEEDBACK)
