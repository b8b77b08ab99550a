"""`concord page`: a link that signs its owner in, once."""

import json
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from concord_client import credentials
from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned, spawned
from two_signers import environ_of


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system."""
    with spawned(tmp_path_factory.mktemp("page") / "data") as system:
        yield system


@pytest.fixture
def concord(running: Spawned, tmp_path: Path) -> CommandLine:
    """The owner's command line."""
    return CommandLine(environ_of(running, tmp_path))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the browser was asked to open."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def signed_in(link: str) -> dict[str, Any]:
    """Does what the page does with its link: who then is signed in."""
    address, _, code = link.partition("/#code=")
    begun = posted(f"{address}/session", {"code": code})
    cookie = begun.headers["set-cookie"].partition(";")[0]
    secret = json.loads(begun.read())["secret"]
    who = f"{address}/concord.governance.v1.AccessService/GetOwnAccess"
    halves = {"cookie": cookie, "x-concord-session": secret}
    found: dict[str, Any] = json.loads(posted(who, {}, halves).read())
    return found


def posted(url: str, value: object, headers: dict[str, str] | None = None) -> Any:
    """The answer to a POST of JSON."""
    request = urllib.request.Request(
        url, json.dumps(value).encode(), {"content-type": "application/json", **(headers or {})}
    )
    return urllib.request.urlopen(request, timeout=60)


def test_the_link_signs_its_owner_in_once(concord: CommandLine, opened: list[str]) -> None:
    """W5 It is opened in the browser, is printed whole, and stands for the owner's key."""
    link = concord.done("page").strip()

    assert opened == [link]
    access = signed_in(link)
    assert (access["space"], access["principal"]) == ("default", "owner")
    with pytest.raises(urllib.error.HTTPError) as used:
        signed_in(link)
    assert used.value.code == 401
    used.value.close()


def test_it_is_printed_alone_where_that_is_asked(
    concord: CommandLine, opened: list[str], running: Spawned
) -> None:
    """W5 W4 With --no-open and with --json no browser is opened; --act-as and --space choose."""
    told = json.loads(concord.done("--act-as", "agent", "page", "--space", "demo", "--json"))
    link = concord.done("page", "--no-open").strip()

    assert opened == []
    address = credentials.read(running.data / credentials.FILE_NAME).http_url
    assert told["url"] == f"{address}/#code={told['code']}"
    assert told["expireTime"]
    access = signed_in(told["url"])
    assert (access["space"], access["principal"]) == ("demo", "agent")
    assert signed_in(link)["space"] == "default"


def test_the_address_is_the_one_of_this_system(
    running: Spawned, tmp_path: Path, opened: list[str]
) -> None:
    """W5 CONCORD_HTTP_URL, else what `concord up` wrote; nothing is made where neither is known."""
    known = credentials.read(running.data / credentials.FILE_NAME)
    given = {"CONCORD_URL": known.url, "CONCORD_API_KEY": known.owner_keys["default"]}
    elsewhere = {**given, "HOME": str(tmp_path), "CONCORD_DATA": str(tmp_path / "none")}

    refused = CommandLine(elsewhere)("page")
    assert refused.exit_code == 1
    assert "set CONCORD_HTTP_URL" in refused.stderr

    behind = CommandLine(elsewhere | {"CONCORD_HTTP_URL": "https://memory.example/"})
    assert behind.done("page").startswith("https://memory.example/#code=")
    beside = CommandLine(given | {"HOME": str(tmp_path), "CONCORD_DATA": str(running.data)})
    assert beside.done("page").startswith(f"{known.http_url}/#code=")
    assert len(opened) == 2
