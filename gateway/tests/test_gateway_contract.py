"""What the gateway shows of its contracts: an index, OpenAPI, and a page for people."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from concord_gateway import contracts, routes
from concord_gateway.http import contract_page, openapi
from concord_gateway.http.lines import NDJSON
from gateway_echo import ECHO, Front, front
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SAY, FOLLOW = (f"/{ECHO.full_name}/{name}" for name in ("Say", "Follow"))


def document() -> dict[str, Any]:
    """The document of all contracts."""
    upstream = routes.Upstream("concord", None)  # type: ignore[arg-type]  # nothing is called
    return openapi.document(routes.table(contracts.services(), {"concord": upstream}).values())


def reply_schema(document: dict[str, Any], path: str) -> Draft202012Validator:
    """The schema of a method's reply, or of a line of it."""
    post = document["paths"][path]["post"]
    (reply,) = post["responses"]["200"]["content"].values()
    return Draft202012Validator({**reply["schema"], "components": document["components"]})


async def test_programs_get_json_and_browsers_a_page(door: Front) -> None:
    """W2: at one path, without a key, and caches tell them apart."""
    index = await door.http.get("/contract")
    page = await door.http.get("/contract", headers=BROWSER)
    style = await door.http.get("/contract/style.css", headers=BROWSER)

    assert {each["name"] for each in index.json()["services"]} >= {ECHO.full_name}
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert index.headers["vary"] == page.headers["vary"] == "accept, accept-encoding"
    assert f'id="{ECHO.full_name}.Say"' in page.text
    assert style.headers["content-type"] == "text/css; charset=utf-8"


@pytest.mark.parametrize("path", ["/contract", "/contract/openapi.json", "/contract/style.css"])
async def test_it_is_packed_guarded_and_asked_again_by_its_etag(door: Front, path: str) -> None:
    """W2 W6: no script, no inline style, in no frame; once read, not sent again."""
    first = await door.http.get(path, headers=BROWSER)
    again = await door.http.get(path, headers=BROWSER | {"if-none-match": first.headers["etag"]})
    plain = await door.http.get(path, headers=BROWSER | {"accept-encoding": "identity"})

    assert first.headers["content-encoding"] == "gzip"
    assert first.content == plain.content
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert not re.search(r"<script|style=|<style| on[a-z]+=", first.text)


async def test_openapi_has_the_methods_that_http_answers(door: Front) -> None:
    """W2: those with one request; a reply and a line of a stream are as the document says."""
    shown = (await door.http.get("/contract/openapi.json")).json()
    body = {
        "act": "x",
        "bigNumber": "7",
        "color": "COLOR_RED",
        "createTime": "2026-11-28T12:00:00Z",
    }
    reply = await door.http.post(SAY, json=body, headers=door.json())
    lines = (
        await door.http.post(FOLLOW, json=body, headers=door.json(accept=NDJSON))
    ).text.splitlines()

    of_echo = {path.rpartition("/")[2] for path in shown["paths"] if ECHO.full_name in path}
    assert of_echo == {"Say", "Change", "Follow", "ExportAll"}
    assert reply.status_code == 200
    assert [*reply_schema(shown, SAY).iter_errors(reply.json())] == []
    assert len(lines) == 3
    of_line = reply_schema(shown, FOLLOW)
    assert [error for line in lines for error in of_line.iter_errors(json.loads(line))] == []
    assert not of_line.is_valid(reply.json())


async def test_a_refusal_is_as_openapi_says(door: Front) -> None:
    """W2: one error for all methods, its reason one of the contract's."""
    shown = (await door.http.get("/contract/openapi.json")).json()
    refused = await door.http.post(SAY, json={"act": 1}, headers=door.json())
    error = Draft202012Validator(
        {"$ref": "#/components/schemas/connect.Error", "components": shown["components"]}
    )

    assert refused.status_code == 400
    assert [*error.iter_errors(refused.json())] == []
    assert not error.is_valid({"code": "badly"})
    assert not error.is_valid(
        {"code": "aborted", "details": [{"type": "t", "value": "", "debug": {"reason": "WHY"}}]}
    )


async def test_the_start_makes_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W2: the document is made when it is first asked for, and once."""
    made = []

    def counted(*arguments: Any) -> dict[str, Any]:
        made.append(arguments)
        return {"openapi": "3.1.0"}

    monkeypatch.setattr(openapi, "document", counted)
    async with front(tmp_path) as door:
        before = len(made)
        for _ in range(2):
            await door.http.get("/contract/openapi.json")

    assert (before, len(made)) == (0, 1)


def test_the_page_has_an_anchor_for_each_method_and_message_and_no_dead_link() -> None:
    """W2: all contracts, within what a page may weigh."""
    whole = document()
    page = contract_page.html(whole)
    anchors = re.findall(r' id="([^"]+)"', page)
    methods = [path[1:].replace("/", ".") for path in whole["paths"]]
    reasons = whole["components"]["responses"]["Error"]["content"]["application/json"]["examples"]

    assert {*anchors} == {*methods, *whole["components"]["schemas"], *reasons, "messages", "errors"}
    assert len(anchors) == len({*anchors})
    assert {*re.findall(r'href="#([^"]+)"', page)} <= {*anchors}
    assert len(gzip.compress(page.encode())) < 200_000
    assert "Example: A supersedes B, then B supersedes A." in page


def test_no_text_of_a_contract_becomes_markup() -> None:
    """W2 W6: comments, names and patterns that look like HTML are shown as text."""
    evil = '</code>"><img src=x onerror=alert(1)> `<b>` - <i>'
    field = {"type": "string", "pattern": evil, "description": f"{evil}\n- {evil}\n\n{evil}"}
    whole = document()
    kept = contract_page.html(whole)
    whole["info"] = {"title": evil, "description": evil}
    whole["components"]["schemas"][evil] = {"description": evil, "properties": {evil: field}}
    (post,) = whole["paths"][next(iter(whole["paths"]))].values()
    post["description"] = evil
    page = contract_page.html(whole)

    tags = r"<\w+(?: [a-z]+(?=[=>]))*"
    assert {*re.findall(tags, page)} == {*re.findall(tags, kept)}
    assert "<img" not in page
    assert "<code>&lt;b&gt;</code>" in page
