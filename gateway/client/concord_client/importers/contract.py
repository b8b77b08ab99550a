"""The rules of the contract's fields, and whether a field of a memory may hold a text."""

import re
from collections.abc import Sequence

from concord.rules.v1 import rules_pb2
from concord.type.v1.type_pb2 import Memory
from google.protobuf.descriptor import FieldDescriptor

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def fits(field: str, texts: Sequence[str]) -> bool:
    """Whether the texts fit into a field of `Memory`: one text, or those of a list."""
    rules = rules_of(Memory.DESCRIPTOR.fields_by_name[field])
    most = rules.repeated.max_items or len(texts)
    return len(texts) <= most and all(_fits(rules.string, text) for text in texts)


def rules_of(field: FieldDescriptor) -> rules_pb2.FieldRules:
    """Return the rules of a field: its preset's and its own, which win."""
    stated = field.GetOptions().Extensions[rules_pb2.field]
    preset = rules_pb2.Preset.DESCRIPTOR.values_by_number[stated.preset]
    rules = rules_pb2.FieldRules()
    rules.CopyFrom(preset.GetOptions().Extensions[rules_pb2.preset])
    rules.MergeFrom(stated)
    return rules


def _fits(rules: rules_pb2.StringRules, text: str) -> bool:
    return (
        (not rules.max_len or len(text) <= rules.max_len)
        and (not rules.pattern or re.fullmatch(rules.pattern, text) is not None)
        and not (rules.printable and _CONTROL.search(text))
        and not (rules.not_blank and not text.strip())
        and "\0" not in text
    )
