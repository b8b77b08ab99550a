"""The user's situation, as options of commands that suggest memories by it."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from concord.search.v1.suggestion_pb2 import SuggestProactivelyRequest

FileOption = Annotated[
    str, typer.Option("--file", metavar="PATH", help="Suggest by the path of the file at hand.")
]
ErrorOption = Annotated[
    str, typer.Option("--error", metavar="TEXT", help="Suggest by the text of an error.")
]
TextOption = Annotated[
    str, typer.Option("--text", metavar="TEXT", help="Suggest by what is being said.")
]
SessionOption = Annotated[
    str, typer.Option("--session", help="Leave out what this session was suggested before.")
]


def situation(
    path: str, error: str, said: str, session_id: str
) -> "SuggestProactivelyRequest | None":
    """The request for suggestions; None without a path, error or text."""
    from concord.search.v1.suggestion_pb2 import SuggestProactivelyRequest

    if not (path or error or said):
        return None
    return SuggestProactivelyRequest(
        file_path=path, error_message=error, snippet=said, session_id=session_id
    )
