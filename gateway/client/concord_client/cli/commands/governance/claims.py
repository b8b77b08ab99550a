"""`concord claims`, the list, and `concord claim`, which settles them."""

from typing import Annotated, Any

import typer
from concord.graph.v1.claim_pb2 import (
    AcceptClaimsRequest,
    ClaimSettings,
    ClaimsNamed,
    GetClaimSettingsRequest,
    GetClaimSettingsResponse,
    ListClaimantsRequest,
    ListClaimsRequest,
    RefuseClaimsRequest,
    SetClaimSettingsRequest,
    SetClaimSettingsResponse,
    WithdrawClaimsRequest,
)

from concord_client.cli.choices import ClaimState
from concord_client.cli.options import LimitOption, PageTokenOption
from concord_client.cli.render.claim_page import grouped, listed
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import plural, show, show_more, text
from concord_client.cli.session import Session, SessionCommands
from concord_client.cli.values import plain_id
from concord_client.credentials import Role

app = SessionCommands(
    no_args_is_help=True, help="Accept, refuse or withdraw claims; set who claims."
)
Numbers = Annotated[
    list[int] | None, typer.Argument(metavar="[NUMBER]...", help="The claims, by number.")
]
ClaimantOption = Annotated[
    str, typer.Option(metavar="NAME", help="All open claims of this principal, with --up-to.")
]
UpToOption = Annotated[
    int, typer.Option(metavar="NUMBER", help="None above this number: what you have looked at.")
]


def claims(
    session: Session,
    *,
    claimant: Annotated[str, typer.Option(metavar="NAME", help="Only of this principal.")] = "",
    item: Annotated[str, typer.Option(metavar="ID", help="Only at this item.")] = "",
    state: Annotated[
        ClaimState, typer.Option(case_sensitive=False, help="Only in this state.")
    ] = ClaimState.OPEN,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List what lower writers would do to what others said: nothing is done until you accept it.

    Without options, by claimant, the newest of each.
    """
    named = claimant or item or page_token or state != ClaimState.OPEN
    with session.client() as client:
        if not named:
            found = client.claim.ListClaimants(ListClaimantsRequest())
            session.answer(found, lambda reply: show(*(grouped(reply.claimants) or listed([]))))
            return
        request = ListClaimsRequest(
            state=state.value_of(),
            claimant=claimant,
            item_id=plain_id(item) if item else "",
            page_size=limit,
            page_token=page_token,
        )
        reply = client.claim.ListClaims(request)
    if session.as_json:
        session.reply(reply)
        return
    show(*listed(reply.claims))
    show_more(reply.next_page_token)


@app.command()
def accept(
    session: Session,
    numbers: Numbers = None,
    *,
    claimant: ClaimantOption = "",
    up_to: UpToOption = 0,
) -> None:
    """Do what claims would do. For the owner of the items, and who governs with as high a kind."""
    named = _named(numbers, claimant, up_to)
    with session.client() as client:
        reply = client.claim.AcceptClaims(AcceptClaimsRequest(named=named))
    if _show(session, reply, "Accepted"):
        show_gave_way(reply.gave_way)


@app.command()
def refuse(
    session: Session,
    numbers: Numbers = None,
    *,
    claimant: ClaimantOption = "",
    up_to: UpToOption = 0,
) -> None:
    """Refuse claims: they never do anything."""
    named = _named(numbers, claimant, up_to)
    with session.client() as client:
        reply = client.claim.RefuseClaims(RefuseClaimsRequest(named=named))
    _show(session, reply, "Refused")


@app.command()
def withdraw(
    session: Session,
    numbers: Numbers = None,
    *,
    claimant: ClaimantOption = "",
    up_to: UpToOption = 0,
) -> None:
    """Take back claims of your own."""
    named = _named(numbers, claimant, up_to)
    with session.client() as client:
        reply = client.claim.WithdrawClaims(WithdrawClaimsRequest(named=named))
    _show(session, reply, "Withdrew")


@app.command()
def settings(
    session: Session,
    *,
    among_equals: Annotated[
        bool | None,
        typer.Option(
            "--among-equals/--free-among-equals",
            help="Whether principals of one kind claim, too, on each other's items.",
            show_default="as it is",
        ),
    ] = None,
) -> None:
    """Show or set who claims in a space."""
    reply: GetClaimSettingsResponse | SetClaimSettingsResponse
    if among_equals is None:
        with session.client() as client:
            reply = client.claim.GetClaimSettings(GetClaimSettingsRequest())
    else:
        wanted = ClaimSettings(claims_among_equals=among_equals)
        with session.client(Role.ADMIN) as client:
            reply = client.claim.SetClaimSettings(SetClaimSettingsRequest(settings=wanted))
    how = "claim, too" if reply.settings.claims_among_equals else "act at once"
    session.answer(reply, f"Among equals, writes in {session.space_name!r} {how}.")


def _named(numbers: list[int] | None, claimant: str, up_to: int) -> ClaimsNamed:
    if bool(numbers) == bool(claimant):
        raise typer.BadParameter("Give numbers, or --claimant with --up-to.")
    if claimant and not up_to:
        raise typer.BadParameter("--claimant needs --up-to: the newest claim that you looked at.")
    return ClaimsNamed(ids=map(str, numbers or ()), claimant=claimant, up_to_number=up_to)


def _show(session: Session, reply: Any, verb: str) -> bool:
    """Print what was settled; return whether it was printed for people."""
    if session.as_json:
        session.reply(reply)
        return False
    done = [each for each in reply.claims if not each.reason]
    show(text(f"{verb} {plural(len(done), 'claim')}."), *listed(reply.claims))
    return True
