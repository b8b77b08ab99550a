"""The forms of an import. Imports nothing, so that the command line's help starts at once."""

from enum import StrEnum


class Format(StrEnum):
    """What a file or folder holds."""

    AUTO = "auto"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    CHAT = "chat"
    CSV = "csv"


class Origin(StrEnum):
    """Which other memory an export is from."""

    MEM0 = "mem0"
    GRAPHITI = "graphiti"
