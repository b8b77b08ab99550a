"""Concord's tools for agents, by the Model Context Protocol (MCP).

Most tools are one RPC, reduced to the fields that an agent fills and sees: see `tools`. The server
of the tools (the gateway, or `concord mcp`) makes the calls with its caller's key: see `calls`.
"""
