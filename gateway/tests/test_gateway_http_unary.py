import asyncio
import gzip
import json

import pytest
from gateway_echo import BRIEF, DEADLINE, ECHO, SECONDS, Front, Reply, Request, eventually
from gateway_refusals import info, outcome, violations
from google.protobuf import json_format
from prometheus_client import generate_latest

SAY = f"/{ECHO.full_name}/Say"
INVALID = (400, "invalid_argument", "ERROR_REASON_FIELD_INVALID")
TOO_LARGE = (413, "resource_exhausted", "ERROR_REASON_MESSAGE_TOO_LARGE")


async def test_a_post_is_a_call_in_protobufs_json(door: Front) -> None:
    """W2: every kind of value, in camelCase, round-trips through the contract's JSON mapping."""
    value = {
        "act": "echo",
        "longText": "grüße, 🌍",
        "bigNumber": "9007199254740993",
        "weight": 0.25,
        "flag": True,
        "blob": "AP8=",
        "color": "COLOR_RED",
        "part": {"title": "t", "parts": [{"title": "u"}]},
        "byName": {"x": {"title": "v"}},
        "properties": {"a": [1, None, {"b": "c"}]},
        "createTime": "2026-11-21T08:20:00.000001Z",
        "updateMask": "longText,part.title",
        "length": "1.500s",
        "numbers": [1, 2],
        "id": "i",
    }
    response = await door.say(value)

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert {"text": "echo", "echoed": value} == response.json()


async def test_names_of_the_contract_are_taken_too(door: Front) -> None:
    """W2: requests may say long_text; replies say longText."""
    response = await door.say({"act": "echo", "long_text": "x"})

    assert response.json()["echoed"] == {"act": "echo", "longText": "x"}


async def test_protobuf_passes_as_bytes(door: Front) -> None:
    """W2, Connect: application/proto in and out."""
    request = Request(act="echo", big_number=7)
    response = await door.http.post(
        SAY,
        content=request.SerializeToString(),
        headers=door.headers(content_type="application/proto", connect_protocol_version="1"),
    )

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/proto"
    assert Reply(text="echo", echoed=request) == Reply.FromString(response.content)


async def test_an_empty_body_is_an_empty_message_only_in_protobuf(door: Front) -> None:
    """Connect: no bytes are a protobuf message, but not JSON."""
    empty = await door.http.post(SAY, headers=door.headers(content_type="application/proto"))
    assert empty.status_code == 200

    assert (await door.http.post(SAY, headers=door.json())).status_code == 400


async def test_the_caller_is_the_principal_of_the_key(door: Front) -> None:
    """W2, design Identity: over HTTP as over gRPC."""
    response = await door.say({"act": "caller"})

    assert response.json()["text"] == "('space-a', 'writer', 'HUMAN', ['echo:read', 'echo:write'])"


async def test_a_services_refusal_keeps_its_code_message_and_details(door: Front) -> None:
    """W2: errors as JSON with machine reasons; each detail's bytes are the service's."""
    response = await door.say({"act": "refuse"})

    assert outcome(response) == (400, "failed_precondition", "ERROR_REASON_LINEAGE_CYCLE")
    assert response.json()["message"] == "Löst einen Kreis aus – ünïcode."
    assert info(response)["metadata"] == {"item_id": "a/b"}
    assert violations(response) == ["part.title"]
    kinds = [detail["type"] for detail in response.json()["details"]]
    assert [f"google.rpc.{k}" for k in ("ErrorInfo", "RequestInfo", "BadRequest", "RetryInfo")] == (
        kinds
    )
    retry = next(d for d in response.json()["details"] if d["type"] == "google.rpc.RetryInfo")
    assert retry["debug"] == {"retryDelay": "1.500s"}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"act": "echo", "nonsense": 1}, "nonsense"),
        ({"part": {"titel": "x"}}, "part.titel"),
        ({"parts": [{"title": "x"}, {"parts": [{"titel": 1}]}]}, "parts[1].parts[0].titel"),
        ({"parts": {}}, "parts"),
        ({"part": []}, "part"),
        ({"act": 5}, "act"),
        ({"weight": "heavy"}, "weight"),
        ({"flag": "yes"}, "flag"),
        ({"bigNumber": 1.5}, "big_number"),
        ({"bigNumber": "9223372036854775808"}, "big_number"),
        ({"bigNumber": 10**400}, "big_number"),
        ({"blob": "*"}, "blob"),
        ({"color": "COLOR_BEIGE"}, "color"),
        ({"byName": {"x": {"titel": 1}}}, "by_name.titel"),
        ({"byName": {"x": None}}, "by_name"),
        ({"counts": {"x": "y"}}, "counts"),
        ({"properties": []}, "properties"),
        ({"createTime": "yesterday"}, "create_time"),
        ({"createTime": "0000-01-01T00:00:00Z"}, "create_time"),
        ({"length": "long"}, "length"),
        ({"numbers": [1, "x"]}, "numbers"),
        ({"id": "a", "name": "b"}, ""),
        ({"longText": "a", "long_text": "b"}, "long_text"),
        ({"part": ""}, "part"),
        ({"parts": [[]]}, "parts[0]"),
        ({"parts": [None]}, "parts[0]"),
        ({"parts": "ab"}, "parts"),
        ({"blob": "AP8"}, None),
        ({"blob": "AP_-"}, None),
        ({"blob": "A"}, "blob"),
        ({"part": None, "numbers": None}, None),
        ({"longText": "\ud800"}, "long_text"),
        ([], ""),
        ("text", ""),
        (None, ""),
    ],
)
async def test_a_value_that_does_not_fit_is_refused_by_its_field(
    door: Front, value: object, field: str | None
) -> None:
    """W2: INVALID_ARGUMENT with one violation that names the field."""
    response = await door.say(value)

    if field is None:
        assert response.status_code == 200
        return
    assert outcome(response) == INVALID
    assert [field] == violations(response)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"\xff\xfe{}",
        b'{"act": "a", "act": "b"}',
        b'{"weight": NaN}',
        b'{"weight": Infinity}',
        b"[" * 100_000,
        b'{"bigNumber": ' + b"9" * 5000 + b"}",
        '{"act": "x"}'.encode("utf-16"),
    ],
)
async def test_what_is_not_json_is_refused(door: Front, body: bytes) -> None:
    """W2: invalid_argument, and never a word of the parser's."""
    response = await door.http.post(SAY, content=body, headers=door.json())

    assert outcome(response) == INVALID


async def test_what_is_not_the_protobuf_is_refused(door: Front) -> None:
    """Connect: bytes that do not parse are the caller's error."""
    response = await door.http.post(
        SAY, content=b"\x0a\xff\xff", headers=door.headers(content_type="application/proto")
    )

    assert outcome(response) == INVALID


async def test_json_deeper_than_protobuf_allows_is_refused(door: Front) -> None:
    """W2: nesting exhausts nothing."""
    value: dict[str, object] = {"title": "x"}
    for _ in range(150):
        value = {"parts": [value]}
    response = await door.say({"part": value})

    assert outcome(response) == INVALID


@pytest.mark.parametrize("key", [None, "Bearer ck_no", "Basic x"])
async def test_without_a_key_of_ours_nothing_goes_through(door: Front, key: str | None) -> None:
    """W6: 401 with its reason."""
    headers = {"content-type": "application/json"} | ({"authorization": key} if key else {})
    response = await door.http.post(SAY, content=b"{}", headers=headers)

    assert outcome(response) == (401, "unauthenticated", "ERROR_REASON_CREDENTIAL_INVALID")


@pytest.mark.parametrize(
    ("content_type", "fits"),
    [
        ("application/json", True),
        ("Application/JSON; charset=UTF-8", True),
        ("application/json; charset=latin-1", False),
        ("text/plain", False),
        ("application/connect+xml", False),
        ("", False),
    ],
)
async def test_other_content_types_are_unsupported(
    door: Front, content_type: str, fits: bool
) -> None:
    """Connect: 415 for a codec that is not known."""
    response = await door.http.post(
        SAY, content=b'{"act": "echo"}', headers=door.headers(content_type=content_type)
    )

    assert (200 if fits else 415) == response.status_code
    if not fits:
        assert info(response)["reason"] == "ERROR_REASON_METHOD_UNKNOWN"
        assert response.headers["accept-post"] == "application/json, application/proto"


async def test_a_gzip_body_is_unpacked_and_others_are_named(door: Front) -> None:
    """Connect: gzip and identity; what else is asked for is told what there is."""
    packed = gzip.compress(b'{"act": "echo"}')
    send = door.http.post
    good = await send(SAY, content=packed, headers=door.json(content_encoding="gzip"))
    plain = await send(SAY, content=b"{}", headers=door.json(content_encoding="identity"))
    other = await send(SAY, content=packed, headers=door.json(content_encoding="br"))
    broken = await send(SAY, content=packed[:-4], headers=door.json(content_encoding="gzip"))
    wrong = await send(SAY, content=b"{}", headers=door.json(content_encoding="gzip"))

    assert [good.status_code, plain.status_code] == [200, 200]
    assert outcome(other) == (501, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")
    assert "identity, gzip" in other.json()["message"]
    for refused in (broken, wrong):
        assert outcome(refused) == INVALID


async def test_a_body_above_the_limit_is_refused_however_it_comes(door: Front) -> None:
    """W2: 413 resource_exhausted; a gzip bomb makes no more than that."""
    large = json.dumps({"longText": "x" * (1 << 20)}).encode()
    fits = await door.say({"act": "echo", "longText": "x" * ((1 << 20) - 100)})
    whole = await door.http.post(SAY, content=large, headers=door.json())
    bomb = await door.http.post(
        SAY,
        content=gzip.compress(b" " * (200 << 20), 9)[: 1 << 20],
        headers=door.json(content_encoding="gzip"),
    )

    assert fits.status_code == 200
    for refused in (whole, bomb):
        assert outcome(refused) == TOO_LARGE


async def test_leading_and_trailing_metadata_pass(door: Front) -> None:
    """Connect: headers are metadata both ways, `-bin` in base64, trailers with their prefix."""
    response = await door.say(
        {"act": "metadata"}, x_request_id="r-1", acme_shard="42", acme_bin="AAE", cookie="c=1"
    )
    seen = dict(json.loads(response.json()["text"]))

    assert ("r-1", "42", str(b"\x00\x01")) == tuple(
        seen[key] for key in ("x-request-id", "acme-shard", "acme-bin")
    )
    assert not {"cookie", "host", "content-type", "content-length"} & set(seen)
    assert door.writer not in str(seen)
    assert (response.headers["echo-head"], response.headers["echo-bin"]) == ("h", "AP8")
    assert response.headers["x-request-id"] == "r-1"
    assert response.headers["trailer-x-request-id"] == "r-1"


async def test_every_response_has_a_request_id(door: Front) -> None:
    """W2: one is made when none, or an ill-formed one, came."""
    good = await door.say({"act": "echo"})
    bad = await door.say({"nonsense": 1}, x_request_id="two words")
    refused = await door.say({"act": "refuse"}, x_request_id="r-3")

    assert good.headers["x-request-id"]
    assert bad.headers["x-request-id"] not in ("", "two words")
    assert refused.headers["x-request-id"] == "r-3"


async def test_the_timeout_goes_on_as_a_deadline(door: Front) -> None:
    """Connect-Timeout-Ms; without it GATEWAY_DEADLINE."""
    stated = await door.say({"act": "deadline"}, connect_timeout_ms="20000")
    default = await door.say({"act": "deadline"})

    assert 5 < float(stated.json()["text"]) < 20.5
    assert DEADLINE - 20 < float(default.json()["text"]) < DEADLINE + 0.5


async def test_a_timeout_that_passes_cuts_the_service_short(door: Front) -> None:
    """Connect: 504 deadline_exceeded."""
    for seconds in BRIEF:
        response = await door.say({"act": "hang"}, connect_timeout_ms=f"{1000 * seconds:.0f}")
        assert outcome(response) == (504, "deadline_exceeded", "ERROR_REASON_DEADLINE_EXCEEDED")
        if door.servicer.said:
            break

    await eventually(lambda: door.servicer.cut == ["hang"])


@pytest.mark.parametrize(
    ("header", "value", "expected"),
    [
        ("acme", "x" * 5000, TOO_LARGE),
        ("acme_bin", "*", INVALID),
        *(("connect_timeout_ms", each, INVALID) for each in ("0", "-1", "1.5", "1" * 11, "soon")),
        ("connect_protocol_version", "2", INVALID),
    ],
)
async def test_a_header_that_does_not_fit_is_refused(
    door: Front, header: str, value: str, expected: tuple[object, ...]
) -> None:
    """W2: metadata that gRPC could not carry is refused with a reason, not by a driver. Connect:
    binary metadata is base64, a timeout a positive integer of at most 10 digits, the version 1."""
    assert outcome(await door.say({}, **{header: value})) == expected


@pytest.mark.parametrize("name", ["Follow", "Collect", "Converse"])
async def test_methods_that_stream_are_unimplemented(door: Front, name: str) -> None:
    """Connect: no streams of its own; stream clients hear it in their own framing."""
    path = f"/{ECHO.full_name}/{name}"
    plain = await door.http.post(path, content=b"{}", headers=door.json())
    assert outcome(plain) == (501, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")

    framed = await door.http.post(
        path,
        content=b"\0\0\0\0\x02{}",
        headers=door.headers(content_type="application/connect+json"),
    )
    assert (
        framed.status_code,
        framed.headers["content-type"],
    ) == (200, "application/connect+json")
    assert framed.content[:1] == b"\x02"
    assert len(framed.content) - 5 == int.from_bytes(framed.content[1:5], "big")
    assert json.loads(framed.content[5:])["error"]["code"] == "unimplemented"


async def test_get_is_not_how_a_method_is_called(door: Front) -> None:
    """Connect: 405 names POST."""
    response = await door.http.get(SAY, headers=door.headers())

    assert outcome(response) == (405, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")
    assert "POST" in response.headers["allow"]


@pytest.mark.parametrize(
    "path", ["/nobody.v1.Nobody/Say", f"/{ECHO.full_name}/Nonsense", "/x", f"{SAY}/", "/%00"]
)
async def test_an_unknown_path_has_a_reason(door: Front, path: str) -> None:
    """W2: 404, from which Connect infers unimplemented."""
    response = await door.http.post(path, content=b"{}", headers=door.json())

    assert outcome(response) == (404, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")


async def test_a_client_that_leaves_cancels_the_call(door: Front) -> None:
    """W2: the service stops working for nobody."""
    asking = asyncio.create_task(door.say({"act": "hang"}))
    await eventually(lambda: door.servicer.said == 1)
    asking.cancel()

    await eventually(lambda: door.servicer.cut == ["hang"])


async def test_a_body_that_never_comes_ends_at_the_deadline(door: Front) -> None:
    """W2: a slow sender holds a place no longer than its deadline."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.gateway.http_port)
    lines = [
        f"POST {SAY} HTTP/1.1",
        "host: localhost",
        f"authorization: Bearer {door.writer}",
        "content-type: application/json",
        "connect-timeout-ms: 50",
        "content-length: 10",
    ]
    writer.write("\r\n".join([*lines, "", "{"]).encode())
    async with asyncio.timeout(SECONDS):
        answer = await reader.readline()
    writer.close()
    await writer.wait_closed()

    assert b"504" in answer


async def test_a_service_that_is_down_is_unavailable_in_our_words(door: Front) -> None:
    """W2: 503 with its reason, and no socket's name."""
    await door.upstream.server.stop(0)
    response = await door.say({"act": "echo"})

    assert outcome(response) == (503, "unavailable", "ERROR_REASON_UNAVAILABLE")
    assert "unix:" not in response.text


async def test_the_contracts_can_be_browsed(door: Front) -> None:
    """W2: `GET /contract` lists services, methods and shapes, without a key; `/` leads there."""
    index = (await door.http.get("/", follow_redirects=True)).json()

    echo = next(each for each in index["services"] if each["name"] == ECHO.full_name)
    assert echo["methods"][0] == {
        "name": "Say",
        "path": SAY,
        "request": "gateway_echo.v1.Request",
        "response": "gateway_echo.v1.Reply",
        "clientStreaming": False,
        "serverStreaming": False,
        "overHttp": True,
    }
    shape = index["messages"]["gateway_echo.v1.Request"]
    assert (shape["longText"], shape["byName"], shape["parts"], shape["createTime"]) == (
        "string",
        "map<string, gateway_echo.v1.Part>",
        "repeated gateway_echo.v1.Part",
        "google.protobuf.Timestamp",
    )
    assert index["enums"]["gateway_echo.v1.Color"] == ["COLOR_UNSPECIFIED", "COLOR_RED"]


async def test_metrics_count_calls_by_protocol_method_and_code(door: Front) -> None:
    """W2 W6: nothing that a stranger wrote is in them, and strangers cannot read them."""
    await door.say({"act": "echo"})
    await door.say({"act": "refuse"})
    await door.stub.say(Request(act="echo"))
    await door.http.post("/stranger/path", headers=door.json())
    text = generate_latest(door.registry).decode()

    assert (await door.http.get("/metrics")).status_code == 404
    for protocol, code in [("http", "OK"), ("http", "FAILED_PRECONDITION"), ("grpc", "OK")]:
        line = f'code="{code}",path="{SAY}",protocol="{protocol}"}} 1.0'
        assert line in text
    assert "stranger" not in text
    assert "concord_gateway_seconds_bucket" in text


async def test_healthz_says_what_serves(door: Front) -> None:
    """W1: for load balancers that speak HTTP."""
    response = await door.http.get("/healthz")

    assert (
        response.status_code,
        response.json(),
    ) == (200, {"status": "SERVING", "services": {"gateway_echo": True}})


async def test_json_of_a_reply_equals_protobufs_own(door: Front) -> None:
    """W2: rendered by no code of ours."""
    request = Request(act="echo", weight=0.1, counts={"a": 1})
    response = await door.say(json_format.MessageToDict(request))

    assert json_format.MessageToDict(Reply(text="echo", echoed=request)) == response.json()
