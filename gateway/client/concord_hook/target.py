"""Concord's HTTP address and an agent's key: those that `concord --act-as agent` uses.

The address is in `CONCORD_HTTP_URL`, else in the file of `concord up` unless `CONCORD_URL` names
another system than that file's. The key is in `CONCORD_API_KEY`, else in the file.
"""

import json
import os
from collections.abc import Mapping

HTTP_VARIABLE = "CONCORD_HTTP_URL"
MOST_BYTES = 4 << 20
"""Of the file: thousands of spaces."""


class TargetError(Exception):
    """There is no address or no key; the text says which, and holds no secret."""


class Target:
    """Where to ask, with which key, and whose state that is."""

    def __init__(self, url: str, key: str, certificates: tuple[str, str, str]) -> None:
        """`certificates`: paths of the authorities, the client's certificate and its key, or ""."""
        self.url, self.key, self.certificates = url, key, certificates


def find(environ: Mapping[str, str], space: str, data: str) -> Target:
    """The target for a space ("" = `default`). Raises `TargetError`.

    `data`: a data directory, before what the environment says; or "".
    """
    url = environ.get(HTTP_VARIABLE, "")
    key = environ.get("CONCORD_API_KEY", "")
    if data:  # named on the command line: the environment may name another system
        url = key = ""
    if not (url and key):
        path = os.path.join(_directory(environ, data), "credentials.json")
        found = _read(path)
        if not url and not data and environ.get("CONCORD_URL", found["url"]) != found["url"]:
            raise TargetError(f"CONCORD_URL is not the system of {path}: set {HTTP_VARIABLE}")
        url = url or str(found["http_url"])
        key = key or _key(found, space or "default")
    names = ("CONCORD_CA", "CONCORD_CERT", "CONCORD_CERT_KEY")
    ca, cert, cert_key = (os.path.expanduser(environ.get(name, "")) for name in names)
    return Target(url, key, (ca, cert, cert_key))


def state_directory(environ: Mapping[str, str]) -> str:
    """The folder of what hooks remember: `concord/hooks` in the user's state home."""
    home = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return os.path.join(os.path.expanduser(home), "concord", "hooks")


def _directory(environ: Mapping[str, str], data: str) -> str:
    if given := data or environ.get("CONCORD_DATA"):
        return os.path.expanduser(given)
    home = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return os.path.join(os.path.expanduser(home), "concord")


def _read(path: str) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError) as error:
        raise TargetError(f"cannot read {path}: {type(error).__name__}") from None
    if not (isinstance(found, dict) and found.get("url") and found.get("http_url")):
        raise TargetError(f"Concord has not come up on {os.path.dirname(path)}")
    return found


def _key(found: Mapping[str, object], space: str) -> str:
    for name in ("keys", "owner_keys", "admin_keys"):
        keys = found.get(name)
        key = keys.get(space) if isinstance(keys, dict) else None
        if isinstance(key, str) and key:
            return key
    raise TargetError("there is no key of the space")
