"""`concord page`: signs a person in to the page in their browser (W5)."""

import webbrowser
from typing import Annotated

import typer

from concord_client.cli.session import Session
from concord_client.credentials import http_url


def page(
    session: Session,
    *,
    no_open: Annotated[
        bool,
        typer.Option("--no-open", help="Only print the link; other users may see the browser's."),
    ] = False,
) -> None:
    """Open the page in the browser, signed in by a link that opens once and within a minute.

    The session ends after 12 hours, or with its key. A gateway has the page where GATEWAY_PAGE is
    on; CONCORD_HTTP_URL names its address, if it is not of `concord up`.
    """
    from concord.governance.v1.access_pb2 import CreateSignInRequest

    with session.client() as client:
        address = http_url(client.url, session.environ)
        reply = client.access.CreateSignIn(CreateSignInRequest())
    link = f"{address}/#code={reply.code}"
    if session.as_json:
        session.reply(reply, {"url": link})
        return
    typer.echo(link)  # whole on its line, however narrow the terminal
    if not no_open:
        webbrowser.open(link)
