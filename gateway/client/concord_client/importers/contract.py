"""Whether a field of a memory may hold a text, by the contract's own rules."""

import re
from collections.abc import Sequence

from concord.rules.v1 import rules_pb2
from concord.type.v1.type_pb2 import Memory

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def fits(field: str, texts: Sequence[str]) -> bool:
    """Whether the texts fit into a field of `Memory`: one text, or those of a list."""
    options = Memory.DESCRIPTOR.fields_by_name[field].GetOptions()
    rules = options.Extensions[rules_pb2.field]
    most = rules.repeated.max_items or len(texts)
    return len(texts) <= most and all(_fits(rules.string, text) for text in texts)


def _fits(rules: rules_pb2.StringRules, text: str) -> bool:
    return (
        (not rules.max_len or len(text) <= rules.max_len)
        and (not rules.pattern or re.fullmatch(rules.pattern, text) is not None)
        and not (rules.printable and _CONTROL.search(text))
        and not (rules.not_blank and not text.strip())
        and "\0" not in text
    )
