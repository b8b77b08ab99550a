"""Clients of the tools for agents, over HTTP and over stdio, and what they are told."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from concord_embedded import Running
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def over_http(system: Running, path: str = "/mcp") -> AsyncIterator[Any]:
    """A client of the gateway's own address."""
    key = system.keys["default"]
    headers = {"authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        address = f"{system.http_url}{path}"
        async with Client(streamable_http_client(address, http_client=http)) as client:
            yield client


@asynccontextmanager
async def over_stdio(system: Running, *arguments: str) -> AsyncIterator[Any]:
    """A client that starts `concord mcp`, as agents do."""
    environ = {
        "CONCORD_URL": system.url,
        "CONCORD_API_KEY": system.keys["default"],
    }
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "concord_client", "mcp", *arguments], env=environ
    )
    async with Client(stdio_client(started)) as client:
        yield client


def told(result: Any) -> dict[str, Any]:
    """The structured answer, which the text repeats."""
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


def error(result: Any) -> dict[str, Any]:
    """The refusal."""
    assert result.is_error
    found: dict[str, Any] = json.loads(result.content[0].text)["error"]
    return found
