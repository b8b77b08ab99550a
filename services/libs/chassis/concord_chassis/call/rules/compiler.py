"""Compiles descriptors into checks: one `MessageCheck` per message type, built once."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from concord_chassis.call.contract import ContractError
from concord_chassis.call.failure import FieldViolation
from concord_chassis.call.rules import scalars, well_known
from concord_chassis.call.rules.finding import MAX_VIOLATIONS, Check, Finding, breach

DEFAULT_MAX_ITEMS = 10_000
"""Most items of a list or map without a `max_items` of its own."""
_PRESETS = rules_pb2.DESCRIPTOR.enum_types_by_name["Preset"]

_FLOATS = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE)
_INTEGERS = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
    }
)


def rules_of(field: FieldDescriptor) -> rules_pb2.FieldRules:
    """Returns the rules of a field: its preset's and its own, which win."""
    stated = field.GetOptions().Extensions[rules_pb2.field]
    preset = _PRESETS.values_by_number[stated.preset]
    rules = rules_pb2.FieldRules()
    rules.CopyFrom(preset.GetOptions().Extensions[rules_pb2.preset])
    rules.MergeFrom(stated)
    rules.ClearField("preset")
    return rules


class MessageCheck:
    """The check of the messages of one type.

    The `Rulebook` makes it empty and fills it later, so that a type may contain itself.
    """

    def __init__(self) -> None:
        self._present: dict[int, Check] = {}
        self._whole: list[Check] = []

    def fill(self, present: Mapping[int, Check], whole: Iterable[Check]) -> None:
        """Adds checks.

        `present` are of the values of set fields, by field number; `whole` are of the message, such
        as for required fields.
        """
        self._present.update(present)
        self._whole.extend(whole)

    def __call__(self, message: Message, out: list[Finding]) -> None:
        """Appends a finding to `out` for each broken rule; may stop after `MAX_VIOLATIONS`."""
        present = self._present
        for field, value in message.ListFields():
            check = present.get(field.number)
            if check is not None:
                before = len(out)
                check(value, out)
                if len(out) > before:
                    _put_under(out, before, field.name)
                    if len(out) >= MAX_VIOLATIONS:
                        return
        for look in self._whole:
            look(message, out)

    def breaches(self, message: Message) -> Sequence[FieldViolation]:
        """Returns the violations in `message`, at most `MAX_VIOLATIONS`; empty if well formed."""
        out: list[Finding] = []
        self(message, out)
        return [FieldViolation(found.path, found.description) for found in out[:MAX_VIOLATIONS]]


class Rulebook:
    """Compiles and keeps the checks of message types. `now` returns seconds since 1970."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._known: dict[str, MessageCheck] = {}

    def check_for(self, descriptor: Descriptor) -> MessageCheck:
        """Returns the check of a message type and of the types of its fields.

        Raises `ContractError` for a field whose rules do not fit it, by its name.
        """
        known = self._known.get(descriptor.full_name)
        if known is not None:
            return known
        check = self._known[descriptor.full_name] = MessageCheck()
        present: dict[int, Check] = {}
        whole: list[Check] = []
        for field in descriptor.fields:
            compiled, demands = self._field(field)
            if compiled is not None:
                present[field.number] = compiled
            whole.extend(demands)
        for oneof in descriptor.oneofs:
            if oneof.GetOptions().Extensions[rules_pb2.oneof].required:
                whole.append(_oneof_demand(oneof.name))
        check.fill(present, whole)
        return check

    def _field(self, field: FieldDescriptor) -> tuple[Check | None, list[Check]]:
        rules = rules_of(field)
        try:
            _demand_fit(field, rules)
            if field.is_repeated:
                return self._many(field, rules), _items_demands(field, rules)
            return self._one(field, rules, item=False), _presence_demands(field, rules)
        except ContractError as error:
            raise ContractError(f"{field.full_name}: {error}") from error

    def _one(
        self, field: FieldDescriptor, rules: rules_pb2.FieldRules, *, item: bool
    ) -> Check | None:
        """Returns the check of a single value, or of an `item` of a list or map; None without one.

        An item is always set. So its rules apply to empty strings and bytes, too, and an enum must
        be defined and not 0.
        """
        if field.message_type is not None:
            special = well_known.checks(rules, self._now).get(field.message_type.full_name)
            return special if special is not None else self.check_for(field.message_type)
        required = rules.required and not item
        if field.enum_type is not None:
            demanded = rules.defined_only or required or item
            stated = required or item
            return scalars.enum_check(field.enum_type, required=stated) if demanded else None
        if field.type == FieldDescriptor.TYPE_STRING:
            check: Check | None = scalars.string_check(rules.string, empty_passes=not item)
            return _filled(check) if required else check
        if field.type == FieldDescriptor.TYPE_BYTES:
            check = scalars.bytes_check(rules.bytes, empty_passes=not item)
            return _filled(check) if required else check
        if field.type in _FLOATS:
            single = field.type == FieldDescriptor.TYPE_FLOAT
            return scalars.float_check(rules.number, single=single)
        if field.cpp_type in _INTEGERS:
            return scalars.integer_check(rules.number)
        return None

    def _many(self, field: FieldDescriptor, rules: rules_pb2.FieldRules) -> Check:
        most = rules.repeated.max_items or DEFAULT_MAX_ITEMS
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            keys = self._one(entry.fields_by_name["key"], rules_pb2.FieldRules(), item=True)
            values = self._one(entry.fields_by_name["value"], rules, item=True)
            return _map_check(keys, values, most)
        item = self._one(field, rules, item=True)
        return _list_check(item, most, unique=rules.repeated.unique)


def _put_under(out: list[Finding], start: int, parent: str) -> None:
    for finding in out[start:]:
        finding.under(parent)


# `Any` below: the type of a field's value is known only at run time, from the descriptor.
def _filled(check: Check | None) -> Check:
    """Returns the check of a required value: not empty, even if set explicitly, and `check`."""

    def filled(value: Any, out: list[Finding]) -> None:
        if not value:
            breach(out, "must not be empty")
        elif check is not None:
            check(value, out)

    return filled


def _list_check(item: Check | None, most: int, *, unique: bool) -> Check:
    def check(values: Sequence[Any], out: list[Finding]) -> None:
        if len(values) > most:
            breach(out, f"must have at most {most} items, has {len(values)}")
            return
        if unique and len({_comparable(value) for value in values}) < len(values):
            breach(out, "must not repeat an item")
        if item is None:
            return
        for index, value in enumerate(values):
            before = len(out)
            item(value, out)
            if len(out) > before:
                _put_under(out, before, f"[{index}]")
                if len(out) >= MAX_VIOLATIONS:
                    return

    return check


def _comparable(value: Any) -> object:
    return value.SerializeToString(deterministic=True) if isinstance(value, Message) else value


def _map_check(keys: Check | None, values: Check | None, most: int) -> Check:
    def check(pairs: Mapping[Any, Any], out: list[Finding]) -> None:
        if len(pairs) > most:
            breach(out, f"must have at most {most} items, has {len(pairs)}")
            return
        for key, value in pairs.items():
            before = len(out)
            if keys is not None:
                keys(key, out)
            if values is not None:
                values(value, out)
            if len(out) > before:
                name = f'"{key}"' if isinstance(key, str) else str(key)
                _put_under(out, before, f"[{name}]")
                if len(out) >= MAX_VIOLATIONS:
                    return

    return check


def _presence_demands(field: FieldDescriptor, rules: rules_pb2.FieldRules) -> list[Check]:
    """Returns the checks that a `required` single field is set.

    A member of a oneof has none: only `_filled` checks it, if it is the member that is set. Raises
    `ContractError` for a number or bool without `optional`: whether it is set cannot be seen.
    """
    if not rules.required or _chosen_freely(field):
        return []
    name = field.name
    if field.has_presence:

        def set_at_all(message: Message, out: list[Finding]) -> None:
            if not message.HasField(name):
                breach(out, "must be set", name)

        return [set_at_all]
    if field.cpp_type in _INTEGERS or field.type in (*_FLOATS, FieldDescriptor.TYPE_BOOL):
        raise ContractError("`required` means nothing for a number or bool without `optional`")

    def not_empty(message: Message, out: list[Finding]) -> None:
        if not getattr(message, name):
            breach(out, "must be set", name)

    return [not_empty]


def _chosen_freely(field: FieldDescriptor) -> bool:
    """Returns whether the field is in a oneof of the contract.

    An `optional` field is in a synthetic oneof of its own, which does not count.
    """
    oneof = field.containing_oneof
    return oneof is not None and oneof.name != f"_{field.name}"


def _items_demands(field: FieldDescriptor, rules: rules_pb2.FieldRules) -> list[Check]:
    least = max(rules.repeated.min_items, 1 if rules.required else 0)
    name = field.name
    if not least:
        return []

    def enough(message: Message, out: list[Finding]) -> None:
        count = len(getattr(message, name))
        if count < least:
            breach(out, f"must have at least {least} items, has {count}", name)

    return [enough]


def _oneof_demand(name: str) -> Check:
    def one_is_set(message: Message, out: list[Finding]) -> None:
        if message.WhichOneof(name) is None:
            breach(out, "must have one of its members set", name)

    return one_is_set


def _demand_fit(field: FieldDescriptor, rules: rules_pb2.FieldRules) -> None:
    """Raises `ContractError` for a rule that does not fit the field: nothing would check it."""
    value = field
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        value = field.message_type.fields_by_name["value"]
    message = value.message_type.full_name if value.message_type is not None else ""
    fits = {
        "string": value.type == FieldDescriptor.TYPE_STRING,
        "number": value.cpp_type in _INTEGERS or value.type in _FLOATS,
        "bytes": value.type == FieldDescriptor.TYPE_BYTES,
        "repeated": field.is_repeated,
        "defined_only": value.enum_type is not None,
        "struct": message
        in {"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"},
        "timestamp": message == "google.protobuf.Timestamp",
    }
    for rule, _ in rules.ListFields():
        if not fits.get(rule.name, True):
            raise ContractError(f"the rule `{rule.name}` does not fit the field's type")
