"""Credentials: drawn once, kept in `credentials.json`, and given to each service in its own form.

`credentials.json` is the source: the gateway gets digests of the API keys, graph digests of the
enrolment secrets, both written anew at every start. No server ever reads the file itself.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from concord_gateway import credentials as api_keys
from concord_gateway.credentials import KeyEntry

from concord_embedded import secret_files
from concord_embedded.data_directory import DataDirectory
from concord_embedded.failures import StartError

SPACES = ("default", "demo")
PRINCIPAL = "agent"
SCOPES = frozenset(
    [
        "graph:read",
        "graph:write",
        "memory:read",
        "memory:write",
        "governed:read",
        "governed:write",
        "enrolment:write",
        "space:write",
        "search:read",
        "search:admin",
        "governance:read",
        "proposals:write",
        "decisions:write",
        "audit:read",
    ]
)
SECRET_BYTES = 32


@dataclass(frozen=True)
class Credentials:
    """What `credentials.json` holds."""

    url: str
    http_url: str
    keys: Mapping[str, str]
    enrolment_secrets: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r}, spaces={sorted(self.keys)})"


def ensure(data: DataDirectory) -> Credentials:
    """The credentials, drawn when there are none, and the services' files that follow from them.

    Raises `StartError` when the file is damaged.
    """
    found = _read(data.credentials) or Credentials("", "", {}, {})
    complete = replace(
        found,
        keys={space: api_keys.new_key() for space in SPACES} | dict(found.keys),
        enrolment_secrets={space: secrets.token_urlsafe(SECRET_BYTES) for space in SPACES}
        | dict(found.enrolment_secrets),
    )
    if complete != found:
        _write(data, complete)
    api_keys.write_keys(keys_file(data), _entries(complete))
    secret_files.write(enrolment_file(data), _enrolment(complete))
    return complete


def publish(data: DataDirectory, known: Credentials, *, url: str, http_url: str) -> Credentials:
    """Writes down where the gateway listens, for the command line to find."""
    told = replace(known, url=url, http_url=http_url)
    if told != known:
        _write(data, told)
    return told


def keys_file(data: DataDirectory) -> Path:
    """The gateway's: digests of API keys, and whom each stands for."""
    return data.keys / "api_keys.json"


def enrolment_file(data: DataDirectory) -> Path:
    """Graph's: digests of enrolment secrets by space."""
    return data.keys / "enrolment.json"


def _entries(known: Credentials) -> dict[str, KeyEntry]:
    return {
        api_keys.digest_of(key): KeyEntry(
            space=space, principal=PRINCIPAL, kind="AGENT", scopes=SCOPES
        )
        for space, key in known.keys.items()
    }


def _enrolment(known: Credentials) -> bytes:
    digests = {
        space: hashlib.sha256(secret.encode()).hexdigest()
        for space, secret in known.enrolment_secrets.items()
    }
    return json.dumps(digests, indent=2).encode()


def _read(path: Path) -> Credentials | None:
    try:
        found = json.loads(path.read_bytes())
        keys, enrolment = dict(found["keys"]), dict(found["enrolment_secrets"])
        texts = [found["url"], found["http_url"], *keys.values(), *enrolment.values()]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StartError(f"Cannot read {path}: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError):
        raise _damaged(path) from None
    if not all(isinstance(each, str) for each in texts):
        raise _damaged(path)
    return Credentials(found["url"], found["http_url"], keys, enrolment)


def _damaged(path: Path) -> StartError:
    return StartError(f"{path} is damaged: move it away, and the next start makes new keys.")


def _write(data: DataDirectory, known: Credentials) -> None:
    content = {
        "url": known.url,
        "http_url": known.http_url,
        "keys": dict(known.keys),
        "enrolment_secrets": dict(known.enrolment_secrets),
    }
    secret_files.write(data.credentials, json.dumps(content, indent=2).encode() + b"\n")
