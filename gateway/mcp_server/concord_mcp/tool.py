"""What a tool is: an RPC, the arguments that fill its request, and the shape of its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from concord.rules.v1 import rules_pb2
from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message import Message

from concord_mcp.calls import Calls, Refusal

Json = Any
"""What JSON can hold."""

Shape = Mapping[str, "str | tuple[str, Shape]"]
"""The fields of an object in an answer: by name the path of a field of the reply, and for a message
or a list of messages the shape of each."""


@dataclass(frozen=True)
class Argument:
    """An argument. Its type, range and values are those of the request's field at `path`."""

    name: str
    path: str = ""
    hint: str = ""
    required: bool = False
    default: Json = None
    schema: Mapping[str, Json] | None = None
    """In the place of the field's own."""
    put: Callable[[Any, Json], None] | None = None
    """Writes the value into the request, in the place of the field at `path`."""


@dataclass(frozen=True)
class ComposedTool:
    """A tool of several calls, or of one door alone, such as one that signs with a key of its own.

    It takes texts, required unless `optional` names them. `run` raises `Refusal`.
    """

    name: str
    description: str
    arguments: Mapping[str, str]
    """Name to hint."""
    run: Callable[[Calls, Mapping[str, str]], Awaitable[dict[str, Json]]]
    reads: bool = False
    optional: frozenset[str] = frozenset()
    permission: str = ""
    """What a key must have to call it; empty: nothing."""
    answer: Mapping[str, Json] | None = None
    """The schemas of its answer's fields."""


@dataclass(frozen=True)
class Tool:
    """A tool. `lists` names the list of the answer that `max_tokens` shortens."""

    name: str
    contract: ModuleType
    """The generated module with its service."""
    rpc: str
    """Service and method: "SearchService.Search"."""
    description: str
    arguments: tuple[Argument, ...]
    answer: Shape
    lists: str = ""
    fixed: Callable[[Any], None] | None = None
    """Fills what no caller chooses, before the arguments."""
    refused: Callable[[Any], Refusal | None] | None = None
    """What the reply of a stream that ended without a result says instead."""
    reads: bool = True
    destroys: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names under which an argument is taken, but not listed."""

    @cached_property
    def method(self) -> MethodDescriptor:
        """The descriptor of its RPC."""
        service, _, name = self.rpc.partition(".")
        found: MethodDescriptor = self.contract.DESCRIPTOR.services_by_name[
            service
        ].methods_by_name[name]
        return found

    @property
    def path(self) -> str:
        """Where its RPC is called."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"

    @property
    def request(self) -> Descriptor:
        """The request's descriptor."""
        request: Descriptor = self.method.input_type
        return request

    @property
    def permission(self) -> str:
        """What a key must have to call it."""
        rules: str = self.method.GetOptions().Extensions[rules_pb2.method].permission
        return rules

    def new_request(self) -> Message:
        """An empty request."""
        return message_factory.GetMessageClass(self.method.input_type)()

    @property
    def answered(self) -> Descriptor:
        """The reply's descriptor."""
        reply: Descriptor = self.method.output_type
        return reply

    @property
    def reply(self) -> type[Message]:
        """The reply's class."""
        return message_factory.GetMessageClass(self.method.output_type)
