"""MCP tools that use the keys of this machine."""
