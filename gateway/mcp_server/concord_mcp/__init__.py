"""Concord's tools for agents, by the Model Context Protocol (MCP).

A tool is one RPC with fewer words: `tools` says which of its fields an agent may fill and sees. Who
makes the calls, and with which key, is up to the door that serves the tools: see `calls`.
"""
