"""The forms that an import can have. Imports nothing: the command line's help names them."""

from enum import StrEnum


class Format(StrEnum):
    """What a file or folder holds."""

    AUTO = "auto"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    CHAT = "chat"
