import asyncio
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from gateway_echo import ECHO, Front, front
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SAY = f"/{ECHO.full_name}/Say"
DRIVER_WORDS = (
    "Traceback",
    "google.protobuf.json",
    "ParseError",
    "unix:",
    "upb",
    "Exception",
    "/tmp",
)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
names = st.sampled_from(
    [
        "act",
        "longText",
        "long_text",
        "bigNumber",
        "weight",
        "flag",
        "blob",
        "color",
        "part",
        "parts",
        "byName",
        "properties",
        "createTime",
        "updateMask",
        "length",
        "numbers",
        "id",
        "title",
        "counts",
        "@type",
    ]
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(names | st.text(), inner, max_size=5)
    ),
    max_leaves=20,
)
bodies = (
    st.binary(max_size=200)
    | values.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(names, values, max_size=5).map(lambda value: json.dumps(value).encode())
    | st.dictionaries(names, values, max_size=5).map(
        lambda value: json.dumps(value, ensure_ascii=True).replace("\\u00", "\\ud8").encode()
    )
)
content_types = st.sampled_from(["application/json", "application/proto"])
encodings = st.sampled_from([None, None, "gzip", "identity", "br"])


class Fuzzed:
    """A gateway in a loop of its own: hypothesis calls plain functions."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self._folder = tempfile.TemporaryDirectory()
        self._front = front(Path(self._folder.name))
        self.door: Front = self.runner.run(self._front.__aenter__())

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
        """One request and its response."""
        return self.runner.run(self.door.http.post(path, content=body, headers=headers))

    def close(self) -> None:
        """Stops everything."""
        self.runner.run(self._front.__aexit__(None, None, None))
        self.runner.close()
        self._folder.cleanup()


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Fuzzed]:
    """One gateway for all examples."""
    made = Fuzzed()
    yield made
    made.close()


def check(response: httpx.Response) -> None:
    """A typed answer, whatever came: never a bug, never a driver's words."""
    assert response.status_code < 500 or response.status_code == 501, response.text
    if response.status_code != 200:
        error = response.json()
        assert {"code", "message", "details"} >= set(error)
        reasons = [d["debug"].get("reason", "") for d in error["details"]]
        assert any(reason.startswith("ERROR_REASON_") for reason in reasons)
        for word in DRIVER_WORDS:
            assert word not in error["message"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=bodies, content_type=content_types, encoding=encodings, pack=st.booleans())
def test_no_body_makes_a_bug(
    fuzzed: Fuzzed, body: bytes, content_type: str, encoding: str | None, pack: bool
) -> None:
    """W2: each body gets a reply or a typed error."""
    headers = fuzzed.door.headers(content_type=content_type)
    if encoding is not None:
        headers["content-encoding"] = encoding
    sent = gzip.compress(body) if pack and encoding == "gzip" else body
    check(fuzzed.post(SAY, sent, headers))


header_names = st.sampled_from(
    [
        "connect-timeout-ms",
        "connect-protocol-version",
        "content-type",
        "content-encoding",
        "x-request-id",
        "acme-bin",
        "acme",
        "authorization",
        "grpc-timeout",
        "te",
        "a!b",
        "x^y",
    ]
)
header_texts = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=40)


@settings(max_examples=200, deadline=None)
@given(headers=st.dictionaries(header_names, header_texts.map(str.strip), max_size=5))
def test_no_header_makes_a_bug(fuzzed: Fuzzed, headers: dict[str, str]) -> None:
    """W2: each header gets a reply or a typed error."""
    given_headers = fuzzed.door.json() | headers
    if given_headers.get("connect-timeout-ms", "").isdigit():
        del given_headers["connect-timeout-ms"]  # a tiny one is an honest 504
    check(fuzzed.post(SAY, b'{"act": "metadata"}', given_headers))


@settings(max_examples=100, deadline=None)
@given(path=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=40))
def test_no_path_makes_a_bug(fuzzed: Fuzzed, path: str) -> None:
    """W2: each path gets a typed error."""
    url = httpx.URL(scheme="http", host="127.0.0.1", port=fuzzed.door.gateway.http_port)
    target = url.copy_with(raw_path=b"/" + path.replace("#", "").encode())
    response = fuzzed.runner.run(
        fuzzed.door.http.post(target, content=b"{}", headers=fuzzed.door.json())
    )
    check(response)
