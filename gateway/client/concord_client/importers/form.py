"""The forms of an import, without imports of our own: so `concord --help` starts at once."""

from enum import StrEnum


class Format(StrEnum):
    """The form of an imported file or folder."""

    AUTO = "auto"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    CHAT = "chat"
    CSV = "csv"


class Origin(StrEnum):
    """The other memory system that an export is from."""

    MEM0 = "mem0"
    GRAPHITI = "graphiti"
    MCP_MEMORY = "mcp-memory"
    LETTA = "letta"
    HINDSIGHT = "hindsight"
