"""A system's secrets as a Secret of Kubernetes: made once, never changed."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from concord_embedded.errors import StartError
from concord_embedded.kubernetes_secrets import Cluster, ensure

PATH = "/api/v1/namespaces/memory/secrets"


class Api(BaseHTTPRequestHandler):
    """Secrets of one namespace, as the API server answers for them."""

    kept: dict[str, dict[str, str]]
    refuses = False

    def do_GET(self) -> None:
        """A Secret, or 404."""
        self._reply(200 if self.path.removeprefix(f"{PATH}/") in self.kept else 404)

    def do_POST(self) -> None:
        """A new Secret, or 409."""
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = sent["metadata"]["name"]
        is_new = name not in self.kept
        if is_new:
            self.kept[name] = sent["data"]
        self._reply(201 if is_new else 409)

    def _reply(self, status: int) -> None:
        if self.refuses or self.headers["Authorization"] != "Bearer token":
            status = 403
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above
        """Say nothing."""


@pytest.fixture
def api() -> Iterator[tuple[str, type[Api]]]:
    """The URL of an API server with no Secrets, and what it keeps."""
    handler = type("Handler", (Api,), {"kept": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()
        thread.join()


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """A service account's folder."""
    (tmp_path / "token").write_text("token\n")
    (tmp_path / "namespace").write_text("memory")
    return tmp_path


def test_a_secret_is_made_once_and_stays(api: tuple[str, type[Api]], account: Path) -> None:
    """W7, W10: every key and password at once; what exists is never made again, nor when another
    one makes it in between."""
    cluster = Cluster(api[0], account)
    made = ensure(cluster, "keys", url="gateway:7600", http_url="http://gateway:7601")
    first = dict(api[1].kept["keys"])
    again = ensure(cluster, "keys", url="other:1", http_url="http://other:2")

    assert (made, again) == (True, False)
    assert cluster.create_secret("keys", {"a": b"b"}) is False
    assert api[1].kept["keys"] == first
    known = json.loads(base64.b64decode(first["credentials.json"]))
    assert known["url"] == "gateway:7600"
    password = base64.b64decode(first["neo4j_password"])
    assert base64.b64decode(first["neo4j_auth"]) == b"neo4j/" + password
    assert not [name for name in first if name.endswith((".crt", ".key"))]


def test_who_may_not_is_told_what_it_takes(api: tuple[str, type[Api]], account: Path) -> None:
    """W10: a service account without the right, and a cluster that does not answer."""
    api[1].refuses = True
    with pytest.raises(StartError, match=r"403.*get and create"):
        ensure(Cluster(api[0], account), "keys", url="", http_url="")
    with pytest.raises(StartError, match="does not answer"):
        ensure(Cluster("http://127.0.0.1:1", account), "keys", url="", http_url="")
