"""Prints VERBS.md, the page of the Python client's verbs, from their signatures and docstrings.

python gateway/client/dev/verbs_page.py > gateway/client/VERBS.md
"""

import inspect
import sys
import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from concord_client import Concord
from concord_client.verbs import (
    claim_things,
    conflict_things,
    dialectic_things,
    extraction,
    overview_things,
    things,
)

WIDTH = 88
LEFT_OUT = {"take", "run"}  # they make the calls of the others
HEAD = """\
<!-- Made by gateway/client/dev/verbs_page.py from the code: do not edit it here. -->
# The verbs of the Python client

`Concord.connect()` and `concord_client.embedded("folder")` have these; `AsyncConcord` has the same,
awaited. A refused argument raises `FieldInvalid`, an unknown item `NotFound`, and every failure a
`Refused`, of which those are kinds. Times are aware and in UTC; a naive one that is given counts as
UTC.

## Verbs
"""
RESULTS = """\
## What they take and return

Plain data, none of it a message of the contracts. Enum values have the contract's names.
"""


def page() -> str:
    """The whole page."""
    verbs = [each for name in dir(Concord) if (each := _verb(name))]
    return "\n".join([HEAD, *verbs, RESULTS, *_data()]).rstrip() + "\n"


def _verb(name: str) -> str:
    function = getattr(Concord, name)
    if name.startswith("_") or name in LEFT_OUT:
        return ""
    signature = inspect.signature(function, eval_str=True)
    given = [each for each in signature.parameters.values() if each.name != "self"]
    said = [_parameter(each) for each in given]
    named = [i for i, each in enumerate(given) if each.kind is each.KEYWORD_ONLY]
    if named and not any(each.kind is each.VAR_POSITIONAL for each in given):
        said.insert(named[0], "*")
    returned = worded(signature.return_annotation)
    line = f"{name}({', '.join(said)}) -> {returned}"
    if len(line) > WIDTH:
        line = "\n".join([f"{name}(", *(f"    {each}," for each in said), f") -> {returned}"])
    return f"### {name}\n\n```python\n{line}\n```\n\n{inspect.getdoc(function)}\n"


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    said = f"{star}{parameter.name}: {worded(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return said
    default = repr(parameter.default).replace("'", '"')
    return f"{said} = {default}"


def _data() -> Iterator[str]:
    found = {
        name: each
        for module in (
            things,
            claim_things,
            conflict_things,
            overview_things,
            dialectic_things,
            extraction,
        )
        for name, each in vars(module).items()
        if inspect.isclass(each) and is_dataclass(each)
    }
    for name, each in sorted(found.items()):
        hints = get_type_hints(each)
        lines = [f"{field.name}: {worded(hints[field.name])}" for field in fields(each)]
        listed = "\n".join(lines)
        yield f"### {name}\n\n{inspect.getdoc(each)}\n\n```python\n{listed}\n```\n"


def worded(annotation: Any) -> str:
    """A type as one reads it in code, the same in each version of Python."""
    if isinstance(annotation, list):  # of a callable's arguments
        return f"[{', '.join(map(worded, annotation))}]"
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(f'"{each}"' for each in parts)
    if origin in (Union, types.UnionType):
        return " | ".join(map(worded, parts))
    if annotation in (None, type(None)):
        return "None"
    if annotation is Ellipsis:
        return "..."
    name = str(getattr(origin or annotation, "__name__", annotation))
    return f"{name}[{', '.join(map(worded, parts))}]" if parts else name


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr] # it is a text file
    sys.stdout.write(page())
