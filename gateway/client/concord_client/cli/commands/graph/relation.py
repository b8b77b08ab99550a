"""`concord relation` and `concord relations`: declarations of relations."""

from collections.abc import Iterable
from typing import Annotated

import typer
from concord.graph.v1.relation_pb2 import (
    DeclareRelationRequest,
    ExclusiveSet,
    ExclusiveSets,
    ListRelationsRequest,
    Relation,
)
from concord.graph.v1.relation_pb2 import TemporalClass as Class

from concord_client.cli.choices import TemporalClass
from concord_client.cli.options import AsOfOption, KnownAtOption, LimitOption, PageTokenOption
from concord_client.cli.render.claim_page import is_claimed, show_claims
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import show, show_more, table, text, when, word
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time


def relation(
    session: Session,
    name: Annotated[str, typer.Argument(help="What edges call it, such as LIVES_IN.")],
    *,
    functional: Annotated[
        bool,
        typer.Option("--functional/--many", help="Whether a source has one value at a time."),
    ],
    temporal_class: Annotated[
        TemporalClass | None,
        typer.Option(
            metavar="CLASS",
            help="What two values of one source are: state (it changed), event, eternal (a "
            "contradiction) or unspecified.",
        ),
    ] = None,
    transitive: Annotated[
        bool | None,
        typer.Option("--transitive/--intransitive", help="Whether it goes on, as containment."),
    ] = None,
    exclusive: Annotated[
        list[str] | None,
        typer.Option(help="Values that exclude one another, as 'alive|dead'; '' takes all away."),
    ] = None,
) -> None:
    """Declare what holds of a relation; what no option says stays as it was declared."""
    asked = DeclareRelationRequest(name=name, functional=functional, transitive=transitive)
    if temporal_class:
        asked.temporal_class = temporal_class.value_of()
    if exclusive:
        sets = [ExclusiveSet(names=each.split("|")) for each in exclusive if each]
        asked.exclusive_sets.CopyFrom(ExclusiveSets(sets=sets))
    with session.client() as client:
        reply = client.relation.DeclareRelation(asked)
    if session.as_json:
        session.reply(reply)
    else:
        if not is_claimed(reply):
            _show([reply.relation])
        show_gave_way(reply.gave_way)
        show_claims(reply)


def relations(
    session: Session,
    *,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """List the relations that were declared.

    A declaration is about all valid time: --as-of changes nothing here.
    """
    request = ListRelationsRequest(
        page_size=limit, page_token=page_token, as_of=asked_time(as_of, known_at)
    )
    with session.client() as client:
        reply = client.relation.ListRelations(request)
    if session.as_json:
        session.reply(reply)
        return
    _show(reply.relations)
    show_more(reply.next_page_token)


def _show(declared: Iterable[Relation]) -> None:
    made = table("Relation", "Of a source", "Class", "Transitive", "Exclusive", "Declared")
    for each in declared:
        values = "one value at a time" if each.functional else "any number of values"
        named = word(Class, each.temporal_class)
        sets = "; ".join(" | ".join(one.names) for one in each.exclusive_sets)
        going_on = "yes" if each.transitive else ""
        made.add_row(text(each.name), values, named, going_on, text(sets), when(each.modify_time))
    show(made)
