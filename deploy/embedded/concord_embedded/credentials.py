"""Credentials: drawn once, kept in `credentials.json`, and written for each service.

No service reads the file itself: governance gets the digests of the API keys, graph those of the
enrolment secrets. Governance imports a digest once; no later start changes a key's state there,
such as its revocation.
"""

import hashlib
import json
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from concord_gateway import credentials as api_keys
from pydantic import BaseModel, ConfigDict

from concord_embedded import secret_files
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import StartError

SPACES = ("default", "demo")
SYSTEM_SPACE = "concord:system"
AGENT: Mapping[str, object] = MappingProxyType(
    {"principal": "agent", "kind": "AGENT", "scopes": ["govern", "read", "write"]}
)
"""The agent of a space. It makes no keys and enrols nobody: a text that it reads may mislead it."""
OWNER: Mapping[str, object] = MappingProxyType(
    {"principal": "owner", "kind": "HUMAN", "scopes": ["admin", "govern", "read", "write"]}
)
"""The owner of a space, who writes as a person, and administers its keys, enrolment and index."""
ADMIN: Mapping[str, object] = MappingProxyType(
    {"principal": "owner", "kind": "HUMAN", "scopes": ["admin", "read"]}
)
"""The owner of a space of before, who only administers it. Such keys are not drawn any more."""
OPERATOR: Mapping[str, object] = MappingProxyType(
    {"principal": "owner", "kind": "HUMAN", "scopes": ["operator", "read"]}
)
"""The operator, who creates and deletes spaces."""
SECRET_BYTES = 32


class Credentials(BaseModel):
    """The content of `credentials.json`."""

    model_config = ConfigDict(frozen=True)

    url: str
    http_url: str
    keys: Mapping[str, str]
    owner_keys: Mapping[str, str] = {}
    admin_keys: Mapping[str, str] = {}
    enrolment_secrets: Mapping[str, str]
    deleted_spaces: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r}, spaces={sorted(self.keys)})"

    __str__ = __repr__


def ensure(data: DataDirectory, deleted: Collection[str] = ()) -> Credentials:
    """Return the credentials, after drawing missing ones and writing the services' files of them.

    None are drawn for the `deleted` spaces, nor for those that the file says are deleted:
    governance would not take them. In a system of before, where the owner has an administrator's
    key, no owner's key is drawn: who writes on its terminal stays as it is. Raises `StartError` if
    the file is damaged.
    """
    found = _read(data.credentials) or Credentials(
        url="", http_url="", keys={}, enrolment_secrets={}
    )
    spaces = [space for space in SPACES if space not in found.deleted_spaces.union(deleted)]
    keys = {space: api_keys.new_key() for space in (*spaces, SYSTEM_SPACE)}
    owner_keys = {s: api_keys.new_key() for s in spaces if s not in found.admin_keys}
    enrolment = {space: secrets.token_urlsafe(SECRET_BYTES) for space in spaces}
    drawn = found.model_copy(
        update={
            "keys": {**keys, **found.keys},
            "owner_keys": {**owner_keys, **found.owner_keys},
            "enrolment_secrets": {**enrolment, **found.enrolment_secrets},
        }
    )
    # The services' files first: if this is stopped here, nobody holds the new keys.
    _add_keys(keys_file(data), drawn, found)
    secret_files.write(enrolment_file(data), _enrolment(drawn))
    if drawn != found:
        _write(data, drawn)
    return drawn


def publish(data: DataDirectory, known: Credentials, *, url: str, http_url: str) -> Credentials:
    """Writes the gateway's addresses into the file, for the command line."""
    published = known.model_copy(update={"url": url, "http_url": http_url})
    if published != known:
        _write(data, published)
    return published


def keys_file(data: DataDirectory) -> Path:
    """Governance's file: digests of the API keys that were drawn here, each with its principal."""
    return data.keys / "api_keys.json"


def enrolment_file(data: DataDirectory) -> Path:
    """Graph's file: digests of enrolment secrets by space."""
    return data.keys / "enrolment.json"


def _add_keys(path: Path, drawn: Credentials, found: Credentials) -> None:
    """Adds the new keys; other entries stay, whether an older version or the owner wrote them."""
    try:
        entries = dict(json.loads(path.read_bytes()))
        before = set(_entries(found))
    except FileNotFoundError:
        entries, before = {}, set()
    except OSError as error:
        raise StartError(f"Cannot read {path}: {error.strerror}.") from error
    except (ValueError, TypeError):
        raise StartError(f"{path} is damaged: move it away, and the next start makes it.") from None
    new = {digest: who for digest, who in _entries(drawn).items() if digest not in before}
    if new:
        secret_files.write(path, json.dumps(entries | new, indent=2).encode())


def _entries(known: Credentials) -> dict[str, dict[str, object]]:
    """The principal, kind and scopes of each API key that is drawn here, by digest."""
    held = [
        *((known.keys.get(space), {"space": space, **AGENT}) for space in SPACES),
        *((known.owner_keys.get(space), {"space": space, **OWNER}) for space in SPACES),
        *((known.admin_keys.get(space), {"space": space, **ADMIN}) for space in SPACES),
        (known.keys.get(SYSTEM_SPACE), {"space": SYSTEM_SPACE, **OPERATOR}),
    ]
    return {api_keys.digest_of(key): who for key, who in held if key}


def _enrolment(known: Credentials) -> bytes:
    digests = {
        space: hashlib.sha256(secret.encode()).hexdigest()
        for space, secret in known.enrolment_secrets.items()
        if space in SPACES
    }
    return json.dumps(digests, indent=2).encode()


def _read(path: Path) -> Credentials | None:
    try:
        found = Credentials.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StartError(f"Cannot read {path}: {error.strerror}.") from error
    except ValueError:
        raise StartError(
            f"{path} is damaged: move it away, and the next start makes new keys."
        ) from None
    held = (*found.keys.items(), *found.owner_keys.items(), *found.admin_keys.items())
    for space, key in held:
        if key and api_keys.is_weak(key):
            raise StartError(
                f"The key of the space {space!r} in {path} was not drawn at random: anybody may "
                "guess it. Take it out, and the next start draws one."
            )
    return found


def _write(data: DataDirectory, known: Credentials) -> None:
    content = known.model_dump() | {"deleted_spaces": sorted(known.deleted_spaces)}
    secret_files.write(data.credentials, json.dumps(content, indent=2).encode() + b"\n")
