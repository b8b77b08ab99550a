"""Refusals: a status, and the sentence that a server would say."""

from typing import Any

import grpc


class Refusal(Exception):
    """A call that is refused."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def unimplemented(what: str) -> Refusal:
    """Of what a server has and the stand-in has not."""
    return Refusal(grpc.StatusCode.UNIMPLEMENTED, f"the stand-in has no {what}")


def of_engine(error: Exception) -> Refusal:
    """Of an error of the engine, which has one type for all and a server's sentences."""
    text = str(error)
    if "No point with id" in text:
        return Refusal(grpc.StatusCode.NOT_FOUND, text)
    if text.startswith("Service runtime error"):
        return Refusal(grpc.StatusCode.INTERNAL, text)
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, text)


def only(message: Any, *known: str) -> None:
    """Raises `Refusal` if a message says anything beyond the known fields."""
    for field, _ in message.ListFields():
        if field.name not in known:
            raise unimplemented(f"{message.DESCRIPTOR.name}.{field.name}")
