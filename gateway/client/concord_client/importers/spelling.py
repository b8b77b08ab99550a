"""Reads the short words for the contract's enum values, in people's files and state exports."""

from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from concord_client.importers.outcome import ItemUnreadable

_NO_MEMORY = {
    "node": "a node",
    "edge": "an edge",
    "lineage": "lineage",
    "episode": "an episode",
    "working_memory": "an entry of working memory",
    "relation": "a declared relation",
    "erased": "erased",
}
STATE_KINDS = frozenset(["memory", *_NO_MEMORY])
"""The kinds of lines in a state export."""
_OF_STATE_ONLY = frozenset(["kind", "memory_kind", "among", "turn_order", "origin"])
"""What a state export says about the line and its place; graph gives both anew."""


def contract_name(enum: EnumDescriptor, word: str) -> str | None:
    """The contract's name of a value: "plan", "Plan" and "memory_kind_plan" are MEMORY_KIND_PLAN.

    None if the word names no value.
    """
    wanted = word.strip().lower()
    for value, short in zip(enum.values[1:], short_words(enum), strict=True):
        if wanted in {short, value.name.lower()}:
            return str(value.name)
    return None


def short_words(enum: EnumDescriptor) -> list[str]:
    """The values' names as words, without UNSPECIFIED: "fact", "plan"."""
    unspecified, *names = (each.name for each in enum.values)
    prefix = unspecified.removesuffix("UNSPECIFIED")
    return [name.removeprefix(prefix).lower() for name in names]


def with_contract_names(value: Mapping[str, object], message: Descriptor) -> Mapping[str, object]:
    """A message's JSON object, in which known enum words are replaced by the contract's names."""
    fields = {name: field for field in message.fields for name in (field.name, field.json_name)}
    return {
        name: _named(each, fields[name]) if name in fields else each for name, each in value.items()
    }


def _named(value: object, field: FieldDescriptor) -> object:
    if isinstance(value, list):
        return [_named(each, field) for each in value]
    if field.enum_type and isinstance(value, str):
        return contract_name(field.enum_type, value) or value
    if field.message_type and isinstance(value, dict):
        return with_contract_names(value, field.message_type)
    return value


def memory_of_state(line: Mapping[str, object]) -> Mapping[str, object]:
    """A line as a memory's JSON: a state export has the memory's kind as `memory_kind`.

    Raises `ItemUnreadable` for a line of a state export that is no memory.
    """
    kind = "erased" if "erased" in line else line.get("kind")
    if isinstance(kind, str) and kind in _NO_MEMORY:
        raise ItemUnreadable(
            f"{_NO_MEMORY[kind]}, no memory: concord export --form full and concord import-space"
            " move a whole space"
        )
    if kind != "memory":
        return line
    memory = {name: value for name, value in line.items() if name not in _OF_STATE_ONLY}
    return memory | {"kind": line.get("memory_kind", "")}
