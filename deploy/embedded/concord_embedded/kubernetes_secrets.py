"""Makes a system's secrets once, as a Secret of Kubernetes: `python -m` this SECRET GRPC HTTP.

Runs in a pod whose service account may read and create Secrets. The Secret's items are the files of
`distributed_secrets`, without the certificates, and `credentials.json`; GRPC and HTTP are the
gateway's addresses. A Secret that exists is never changed, whatever is in it.
"""

import base64
import json
import os
import ssl
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from concord_embedded import distributed_secrets
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import StartError

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECONDS = 30.0
_CERTIFICATES = (".crt", ".key")


class Cluster:
    """The Kubernetes API as a pod's service account reaches it."""

    def __init__(self, url: str, account: Path) -> None:
        """`account`: the folder with the account's `token`, `namespace` and `ca.crt`."""
        self._token = (account / "token").read_text("utf-8").strip()
        namespace = (account / "namespace").read_text("utf-8").strip()
        self._secrets = f"{url}/api/v1/namespaces/{namespace}/secrets"
        authority = account / "ca.crt"
        context = ssl.create_default_context(cafile=str(authority)) if authority.exists() else None
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def has_secret(self, name: str) -> bool:
        """Returns whether a Secret exists. Raises `StartError`."""
        return self._answer("GET", f"{self._secrets}/{name}", None) != 404

    def create_secret(self, name: str, items: Mapping[str, bytes]) -> bool:
        """Creates a Secret; returns whether it did: False if one exists. Raises `StartError`."""
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "concord"}},
            "type": "Opaque",
            "data": {key: base64.b64encode(value).decode() for key, value in items.items()},
        }
        return self._answer("POST", self._secrets, secret) != 409

    def _answer(self, method: str, url: str, content: Mapping[str, Any] | None) -> int:
        request = urllib.request.Request(
            url,
            method=method,
            data=None if content is None else json.dumps(content).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
            },
        )
        try:
            with self._opener.open(request, timeout=SECONDS) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            with error:
                if error.code in (404, 409):
                    return error.code
            raise StartError(
                f"Kubernetes answers {error.code} to {method} of Secrets: the service account"
                " needs the verbs get and create."
            ) from None
        except OSError as error:
            raise StartError(f"Kubernetes does not answer at {url}: {error}.") from error


def ensure(cluster: Cluster, name: str, *, url: str, http_url: str) -> bool:
    """Makes the Secret unless it exists; returns whether it did. Raises `StartError`."""
    if cluster.has_secret(name):
        return False
    with tempfile.TemporaryDirectory() as folder:
        distributed_secrets.make(Path(folder), url=url, http_url=http_url)
        data = DataDirectory(Path(folder))
        files = [path for path in data.keys.iterdir() if path.suffix not in _CERTIFICATES]
        items = {path.name: path.read_bytes() for path in (*files, data.credentials)}
    return cluster.create_secret(name, items)


if __name__ == "__main__":
    _name, _url, _http_url = sys.argv[1:]
    _host, _port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    _host = f"[{_host}]" if ":" in _host else _host
    try:
        _made = ensure(
            Cluster(f"https://{_host}:{_port}", ACCOUNT), _name, url=_url, http_url=_http_url
        )
    except StartError as error:
        sys.exit(str(error))
    print(f"{_name}: {'made' if _made else 'exists, and stays as it is'}")  # noqa: T201
