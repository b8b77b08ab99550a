"""A tool: an RPC, the arguments that fill its request, and the shape of its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
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
"""Any value of JSON."""

Shape = Mapping[str, "str | tuple[str, Shape]"]
"""An object in an answer: its fields' names, each with the path of a field of the reply. A message
or a list of messages has a pair of its path and its own shape. Of a list on the way the first
counts; a path that begins with "#" counts the list that it ends at. Of two paths with "|" between
them, the second counts where the first one's message is absent."""


@dataclass(frozen=True)
class Argument:
    """An argument. Its type, range and values are those of the request's field at `path`."""

    name: str
    path: str = ""
    hint: str = ""
    required: bool = False
    default: Json = None
    or_path: str = ""
    """The field that it fills instead, where the message of that field is set already."""
    schema: Mapping[str, Json] | None = None
    """The JSON Schema of the argument, instead of the field's own."""
    put: Callable[[Any, Json], None] | None = None
    """Writes the value into the request, instead of setting the field at `path`."""


_LESSER = {
    rules_pb2.LESSER_ADDS: ("append", "own"),
    rules_pb2.LESSER_CHANGES: ("append", "own"),
    rules_pb2.LESSER_OWN: ("own",),
}
"""The lesser forms of a permission that let a call in, by what the contract says."""


@dataclass(frozen=True)
class ComposedTool:
    """A tool that makes several calls, or that only one server has, such as one that signs.

    Its arguments are texts, required unless `optional` names them. `run` raises `Refusal`.
    """

    name: str
    description: str
    arguments: Mapping[str, str]
    """The arguments' names with their hints."""
    run: Callable[[Calls, Mapping[str, str]], Awaitable[dict[str, Json]]]
    reads: bool = False
    optional: frozenset[str] = frozenset()
    permission: str = ""
    """The permission that a key needs to call it; empty: none."""
    lesser: frozenset[str] = frozenset()
    answer: Mapping[str, Json] | None = None
    """The JSON Schemas of the answer's fields."""


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
    instead: tuple[str, str] | None = None
    """The answer's field that stands for the list where the reply has it, and the reply's list of
    what is not in it: that is counted as `left_out`."""
    brief: tuple[str, Shape] | None = None
    """The list's path and its items' shape, unless the caller asks for `details`."""
    fixed: Callable[[Any], None] | None = None
    """Sets the fields that no caller chooses, before the arguments are set."""
    demand: Callable[[Mapping[str, Json]], None] | None = None
    """Raises `Refusal` for arguments that do not go together."""
    complete: Callable[[Any], None] | None = None
    """Completes the request once its arguments are set."""
    refused: Callable[[Any], Refusal | None] | None = None
    """Returns the refusal in the last reply of a stream that failed; None if it did not fail."""
    etag: str = ""
    """The field of the request with an etag that the caller may leave out."""
    present: Callable[[Calls, Any], Awaitable[str]] | None = None
    """Reads the present etag of what the request names. Raises `Refusal`."""
    before: Callable[[Calls, Mapping[str, Json], Any], Awaitable[Sequence[str]]] | None = None
    """Completes the request by another call, from the arguments given, as they are named here, and
    returns what to say beside the answer. Raises `Refusal`."""
    notes: Callable[[Calls, Mapping[str, Json], Any], Awaitable[Sequence[str]]] | None = None
    """What to say beside the answer: from the arguments given, as they are named here, and the
    reply. A failure of it never fails the call."""
    reads: bool = True
    destroys: bool = False
    other_names: tuple[str, ...] = ()
    """Unlisted names by which it can be called, too."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Unlisted other names of arguments, each with the argument's own name."""

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
        """The path of its RPC: "/package.Service/Method"."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"

    @property
    def request(self) -> Descriptor:
        """The request's descriptor."""
        request: Descriptor = self.method.input_type
        return request

    @property
    def permission(self) -> str:
        """The permission that a key needs to call it."""
        rules: str = self.method.GetOptions().Extensions[rules_pb2.method].permission
        return rules

    @property
    def lesser(self) -> frozenset[str]:
        """The lesser forms of it that let a key call it, too."""
        family, rules = self.permission.partition(":")[0], self.method.GetOptions()
        forms = _LESSER.get(rules.Extensions[rules_pb2.method].lesser, ())
        return frozenset(f"{family}:{form}" for form in forms)

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
