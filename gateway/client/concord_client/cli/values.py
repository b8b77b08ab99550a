"""Reads values of the command line: times, ids, ends, properties, facts, links."""

import json
import re
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import typer
from concord.type.v1.type_pb2 import AsOf, EdgeEnd, Fact, LineageRelation, Source
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from concord_client.cli.errors import CommandError
from concord_client.facts import fact_of

if TYPE_CHECKING:
    from concord.graph.v1.lineage_pb2 import AddLineageRequest

STDIN = "-"
ID_PREFIXES = ("memory:", "node:", "edge:")
END_HELP = "A node's name, memory:ID or node:ID."
LINEAGE = ("SUPERSEDES", "DEPRECATES", "AMENDS", "CONTRADICTS")


def read_stdin() -> str:
    """All of standard input. Raises `CommandError` if it is closed or not UTF-8."""
    try:
        text = sys.stdin.read()
        text.encode()  # what is not UTF-8 may have been read as half surrogates
    except UnicodeError as error:
        raise CommandError("Standard input is not UTF-8: convert it to UTF-8 first.") from error
    except OSError as error:
        raise CommandError("Standard input cannot be read: it is closed.") from error
    return text


def period(given: str) -> timedelta:
    """A length of time: a whole number and s, m, h or d."""
    units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    found = re.fullmatch(r"([0-9]{1,9})([smhd])", given)
    if found is None:
        raise typer.BadParameter(f"{given!r} is no length of time; write 30m, 12h or 90d.")
    return timedelta(**{units[found[2]]: int(found[1])})


def import_named(given: str) -> str:
    """An import's id, also of one of its requests, as `concord operations` shows them."""
    return given.removeprefix("import-").partition("-")[0] if given else ""


def instant(given: str | None) -> Timestamp | None:
    """An ISO 8601 date or time; without a zone it is UTC."""
    from concord_attestation.instants import stated_time

    if given is None:
        return None
    made = Timestamp()
    try:
        made.FromDatetime(stated_time(given))
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} is no ISO 8601 time; write 2026-03-01 or 2026-03-01T12:00:00Z."
        ) from None
    return made


def asked_time(as_of: str | None, known_at: str | None) -> AsOf | None:
    """The valid and record time of a read; None for now."""
    if as_of is None and known_at is None:
        return None
    return AsOf(valid_time=instant(as_of), record_time=instant(known_at))


def item_id(given: str) -> str | None:
    """The id that `given` names by a prefix; None for a plain name."""
    for prefix in ID_PREFIXES:
        if given.lower().startswith(prefix):
            return given[len(prefix) :]
    return None


def edge_end(given: str) -> EdgeEnd:
    """The end of an edge that `given` names, by prefixed id or by name."""
    found = item_id(given)
    return EdgeEnd(name=given) if found is None else EdgeEnd(id=found)


def plain_id(given: str) -> str:
    """The id in `ID` or `memory:ID`."""
    return item_id(given) or given


def properties(given: list[str] | None) -> Struct | None:
    """NAME=VALUE pairs as a struct; None without one."""
    if not given:
        return None
    made = Struct()
    for pair in given:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE.")
        try:
            made.update({name: json.loads(value)})
        except ValueError:
            made.update({name: value})
    return made


def lineage_request(source: str, relation: str, target: str, context: str) -> "AddLineageRequest":
    """The request that states lineage between two items."""
    from concord.graph.v1.lineage_pb2 import AddLineageRequest

    newer, older = item_id(source), item_id(target)
    if newer is None or older is None:
        raise typer.BadParameter(
            f"{relation} holds between two memories or two edges: write memory:ID or edge:ID."
        )
    return AddLineageRequest(
        relation=LineageRelation.Value(f"LINEAGE_RELATION_{relation}"),
        newer_id=newer,
        older_id=older,
        context=context,
    )


def stated_sources(speaker: str | None, derived_from: list[str] | None) -> list[Source]:
    """The one source that the command line names, if any."""
    if not speaker and not derived_from:
        return []
    return [Source(speaker=speaker or "", memory_ids=map(plain_id, derived_from or ()))]


def stated_fact(stated: str) -> Fact:
    """The fact in `SUBJECT|RELATION|OBJECT`. Raises `typer.BadParameter`."""
    try:
        return fact_of(stated)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fact") from error
