"""The MCP server: lists the tools that a key may call, calls them, and serves the briefing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import mcp_types as types
from concord.governance.v1 import access_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_attestation.visible import visible, visible_values
from google.protobuf.message import Message
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from concord_mcp import answer, arguments, briefing, schema
from concord_mcp.brief import with_full_ids, with_short_ids
from concord_mcp.calls import Calls, Refusal
from concord_mcp.mending import mend
from concord_mcp.sending import sent
from concord_mcp.tool import ComposedTool, Json, Tool

INSTRUCTIONS = (
    "Concord is this agent's memory. Search it before you answer from memory; add what you learn; "
    "correct by superseding. What defines the agent (edge_type CONSTITUTIVE) changes by proposal "
    "and consent alone."
)
SETTLED = 5.0
"""Seconds that a write waits for the index, so that the next search finds it."""
UNSETTLED = "It is kept, but search does not find it yet: ask again in a moment."
MEND = (
    "Nothing was done. Give each argument that `fields` names its `example` (null: none), and "
    "the name `instead` if there is one. Then call again."
)
_NEEDS_CONSENT = "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"
_PROPOSE = "smf_propose"

Context = ServerRequestContext[Any, Any]
Caller = Callable[[Context], Awaitable[Calls]]
"""Returns the calls for a request, with its caller's key. Raises `Refusal`."""


class Tools:
    """Answers MCP's requests for one profile's tools."""

    def __init__(
        self,
        tools: Sequence[Tool | ComposedTool],
        caller: Caller,
        own: Sequence[ComposedTool] = (),
    ) -> None:
        """`own`: the server's own tools, which replace those of the same names."""
        self._tools = {tool.name: tool for tool in (*tools, *own)}
        self._called_so = {
            name: tool for tool in tools if isinstance(tool, Tool) for name in tool.other_names
        }
        self._caller = caller

    def server(self, instructions: str = INSTRUCTIONS) -> Server[Any]:
        """The SDK's server with these tools, the briefing as a resource and as a prompt."""
        return Server(
            "concord",
            version="0.1.0",
            title="Concord",
            instructions=instructions,
            on_list_tools=self._listed,
            on_call_tool=self._called,
            on_list_resources=_resources,
            on_read_resource=self._read,
            on_list_prompts=_prompts,
            on_get_prompt=self._prompt,
        )

    async def _listed(
        self, context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        with _mcp_errors():
            calls = await self._caller(context)
            own = await calls.call(
                "/concord.governance.v1.AccessService/GetOwnAccess",
                access_pb2.GetOwnAccessRequest(),
                access_pb2.GetOwnAccessResponse,
            )
        may = {"", *own.permissions}
        listed = [
            described(tool)
            for tool in self._tools.values()
            if not may.isdisjoint({tool.permission, *tool.lesser})
        ]
        return types.ListToolsResult(tools=listed)

    async def _called(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            answered = await self._answer(await self._caller(context), params)
        except Refusal as refusal:
            return types.CallToolResult(
                content=[_text(self._error(refusal, params))], is_error=True
            )
        result = visible_values(with_short_ids(answered))
        return types.CallToolResult(content=[_text(result)], structured_content=result)

    def _error(self, refusal: Refusal, params: types.CallToolRequestParams) -> dict[str, Json]:
        """A refusal as JSON: how to mend the arguments, or which tool proposes the write."""
        result = _refused(refusal)
        tool, given = self._named(params.name), params.arguments or {}
        if tool is not None:
            for each in result["error"].get("fields", ()):
                etag = refusal.present_etag
                each.update({"example": etag} if etag else mend(tool, given, each["argument"]))
        if refusal.reason == _NEEDS_CONSENT:
            where = "." if _PROPOSE in self._tools else ", a tool of the profile governance."
            result["error"]["next"] = f"Propose it with {_PROPOSE}{where}"
        return result

    def _named(self, name: str) -> Tool | ComposedTool | None:
        return self._tools.get(name) or self._called_so.get(name)

    async def _answer(self, calls: Calls, params: types.CallToolRequestParams) -> dict[str, Json]:
        given = params.arguments or {}
        arguments.demand_whole(given)
        given = with_full_ids({name: each for name, each in given.items() if each is not None})
        tool = self._named(params.name)
        if tool is None:
            known = ", ".join(self._tools)
            raise Refusal(
                "ERROR_REASON_METHOD_UNKNOWN", f"There is no tool {params.name}: there are {known}."
            )
        if isinstance(tool, ComposedTool):
            return await tool.run(calls, arguments.texts_of(tool, given))
        request = arguments.request_of(tool, given)
        room, details = arguments.max_tokens(given), arguments.details(given)
        named = {tool.aliases.get(name, name): value for name, value in given.items()}
        try:
            notes = [*await tool.before(calls, named, request)] if tool.before else []
            reply = await sent(calls, tool, request)
        except Refusal as refusal:
            fields = [
                (arguments.argument_at(tool, given, path), why) for path, why in refusal.fields
            ]
            etag = refusal.present_etag
            raise Refusal(refusal.reason, refusal.message, fields, present_etag=etag) from None
        if tool.refused and (failure := tool.refused(reply)):
            raise failure
        result = answer.answer_of(tool, reply, room, details=details)
        if (token := getattr(reply, "token", "")) and not await _settled(calls, token):
            notes.append(UNSETTLED)
        if tool.notes:
            with suppress(Refusal, TimeoutError):
                async with asyncio.timeout(SETTLED):
                    notes += await tool.notes(calls, named, reply)
        if notes:
            result["note"] = " ".join(notes)
        return result

    async def _read(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if str(params.uri) != briefing.URI:
            raise MCPError(
                types.INVALID_PARAMS,
                f"There is one resource: {briefing.URI}.",
                {"uri": str(params.uri)},
            )
        text = await self._briefing(context)
        contents = types.TextResourceContents(uri=briefing.URI, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[contents])

    async def _prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != briefing.NAME:
            raise MCPError(types.INVALID_PARAMS, f"There is one prompt: {briefing.NAME}.")
        text = types.TextContent(type="text", text=await self._briefing(context))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def _briefing(self, context: Context) -> str:
        with _mcp_errors():
            return await briefing.text_of(await self._caller(context))


def described(tool: Tool | ComposedTool) -> types.Tool:
    """The tool's entry in MCP's list of tools."""
    destroys = isinstance(tool, Tool) and tool.destroys
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema.of_arguments(tool),
        output_schema=schema.of_answer(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads,
            destructive_hint=None if tool.reads else destroys,
            open_world_hint=False,
        ),
    )


async def _resources(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    resource = types.Resource(
        uri=briefing.URI, name=briefing.NAME, description=briefing.DESCRIPTION
    )
    return types.ListResourcesResult(resources=[resource])


async def _prompts(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    prompt = types.Prompt(name=briefing.NAME, description=briefing.DESCRIPTION)
    return types.ListPromptsResult(prompts=[prompt])


async def _settled(calls: Calls, token: str) -> bool:
    """Wait until search finds a write; return False if it does not in `SETTLED` seconds or fails.

    A failure of search never fails the write.
    """
    seen: Message = search_pb2.SearchRequest(
        query="index",
        consistency=type_pb2.Consistency(at_least_as_fresh=token),
        page_size=1,
        peek=True,
    )
    try:
        async with asyncio.timeout(SETTLED):
            await calls.call(
                "/concord.search.v1.SearchService/Search", seen, search_pb2.SearchResponse
            )
    except (Refusal, TimeoutError):
        return False
    return True


def _refused(refusal: Refusal) -> dict[str, Json]:
    """A refusal as JSON: what is wrong with an argument stands there, and there alone."""
    error: dict[str, Json] = {"reason": refusal.reason, "message": refusal.message}
    if refusal.fields:
        if any(why.rstrip(".") in refusal.message for _, why in refusal.fields):
            error["message"] = MEND
        error["fields"] = [{"argument": name, "problem": why} for name, why in refusal.fields]
    return {"error": error}


@contextmanager
def _mcp_errors() -> Iterator[None]:
    """Raise `MCPError` for a refusal where MCP has no answer that carries one."""
    try:
        yield
    except Refusal as refusal:
        reason = {"reason": refusal.reason}
        raise MCPError(types.INTERNAL_ERROR, visible(refusal.message), reason) from None


def _text(value: Json) -> types.TextContent:
    """JSON as a text for a model: nothing in it is hidden."""
    line = json.dumps(visible_values(value), ensure_ascii=False, separators=(",", ":"))
    return types.TextContent(type="text", text=line)
