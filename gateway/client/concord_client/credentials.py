"""Concord's address and key: from arguments, the environment, or the file of `concord up`.

`concord up` writes `credentials.json` in its data directory: `url` (gRPC, host:port), `http_url`,
`keys` (API key by space: the agent's, and of "concord:system" the operator's), `owner_keys` (the
owner's, by space) and `enrolment_secrets` (by space). Older files have `admin_keys` instead of
`owner_keys`: with these the owner administers and reads, and does not write. Commands add keys with
`--save`, and note in `deleted_spaces` whose keys they took out.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from concord_client import private_files

DEFAULT_SPACE = "default"
SYSTEM_SPACE = "concord:system"
DATA_VARIABLE = "CONCORD_DATA"
URL_VARIABLE = "CONCORD_URL"
HTTP_URL_VARIABLE = "CONCORD_HTTP_URL"
KEY_VARIABLE = "CONCORD_API_KEY"
ACT_AS_VARIABLE = "CONCORD_ACT_AS"
CA_VARIABLE = "CONCORD_CA"
CERT_VARIABLE = "CONCORD_CERT"
CERT_KEY_VARIABLE = "CONCORD_CERT_KEY"
STATE_VARIABLE = "CONCORD_STATE"
PASSPHRASE_VARIABLE = "CONCORD_PASSPHRASE"  # noqa: S105 - a variable's name
ENROLMENT_VARIABLE = "CONCORD_ENROLMENT_SECRET"
FILE_NAME = "credentials.json"
LOCK_NAME = "lock"
"""The file in the data directory of a system that `concord up` started on this machine."""
DELETED = "deleted_spaces"


class Role(Enum):
    """The role in which a call is made, if there are several keys."""

    AGENT = "the agent of the space, and programs"
    OWNER = "the owner of the space, who is at the terminal"
    ADMIN = "an administrator of the space"
    KEY_MAKER = "the operator, else an administrator of the space"
    OPERATOR = "the operator, who makes spaces"


class CredentialsError(Exception):
    """The address or the key of Concord is unknown or unusable; the text says what to do."""


@dataclass(frozen=True)
class Credentials:
    """The content of `credentials.json`, which holds secrets: never print it."""

    url: str
    http_url: str
    keys: Mapping[str, str]
    owner_keys: Mapping[str, str]
    admin_keys: Mapping[str, str]
    enrolment_secrets: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r}, spaces={sorted(self.keys)})"

    def key(self, space: str, role: Role) -> str | None:
        """The key for a role in a space; None without one."""
        agent, owner = self.keys.get(space), self.owner_keys.get(space)
        admin = self.admin_keys.get(space)
        match role:
            case Role.AGENT:
                return agent or owner or admin
            case Role.OWNER:
                return owner or agent or admin
            case Role.ADMIN:
                return owner or admin or agent
            case Role.KEY_MAKER:
                return self.keys.get(SYSTEM_SPACE) or owner or admin or agent
            case Role.OPERATOR:
                return self.keys.get(SYSTEM_SPACE)


@dataclass(frozen=True)
class Certificates:
    """PEM files for TLS, used if the address begins with `https://`."""

    ca: Path | None = None
    """The authorities to trust, instead of the machine's."""
    cert: Path | None = None
    """The client's certificate, for a gateway that demands one."""
    cert_key: Path | None = None


@dataclass(frozen=True)
class Target:
    """An address and the key to present there; the key decides the space."""

    url: str
    api_key: str
    certificates: Certificates = Certificates()
    is_stand_in: bool = False
    """Whether the owner was asked for, and only the agent's key is there."""

    def __repr__(self) -> str:
        return f"Target(url={self.url!r})"


def data_directory(environ: Mapping[str, str]) -> Path:
    """`CONCORD_DATA`, else `concord` in the user's data home (`~/.local/share`)."""
    if given := environ.get(DATA_VARIABLE):
        return Path(given).expanduser()
    home = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "concord"


def system_name(environ: Mapping[str, str]) -> str:
    """The user's name for the system: the address they gave, else the data directory's path.

    It is never the address in `credentials.json`: a server writes that, and could so change the
    name under which the witness keeps its pins. For the same reason links are not followed: the
    directory's owner makes them.
    """
    return environ.get(URL_VARIABLE) or os.path.abspath(data_directory(environ))


def read(path: Path) -> Credentials:
    """The credentials in the file `path`. Raises `CredentialsError`."""
    try:
        found = json.loads(path.read_text("utf-8"))
        if found["url"] == "":
            raise CredentialsError(f"Concord has not come up on {path.parent} yet: `concord up`.")
        return Credentials(
            url=_text(found["url"]),
            http_url=_text(found["http_url"]),
            keys=_texts(found["keys"]),
            owner_keys=_texts(found.get("owner_keys", {})),
            admin_keys=_texts(found.get("admin_keys", {})),
            enrolment_secrets=_texts(found["enrolment_secrets"]),
        )
    except FileNotFoundError:
        raise CredentialsError(
            f"There is no {path}. Start Concord with `concord up`, "
            f"or set {URL_VARIABLE} and {KEY_VARIABLE}."
        ) from None
    except OSError as error:
        raise CredentialsError(f"Cannot read {path}: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError, AttributeError):
        raise CredentialsError(
            f"{path} is damaged. Move it away and run `concord up`, which makes new keys."
        ) from None


def key_in(path: Path, space: str) -> str | None:
    """The key of a space in a credentials file, even before the first start; None without one.

    Raises `CredentialsError` for a damaged file.
    """
    try:
        found = json.loads(path.read_text("utf-8"))["keys"].get(space)
        return None if found is None else _text(found)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CredentialsError(f"Cannot read {path}: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError, AttributeError):
        raise CredentialsError(f"{path} is damaged: set {KEY_VARIABLE}.") from None


def save(
    environ: Mapping[str, str],
    space: str,
    *,
    key: str = "",
    owner_key: str = "",
    admin_key: str = "",
    enrolment_secret: str = "",
) -> Path:
    """Store the given keys and secret of a space in the file of `concord up`; return its path.

    Raises `CredentialsError`.
    """
    path = data_directory(environ) / FILE_NAME
    demand_savable(environ)
    given = {
        "keys": key,
        "owner_keys": owner_key,
        "admin_keys": admin_key,
        "enrolment_secrets": enrolment_secret,
    }
    try:
        with private_files.locked(path):
            found = json.loads(path.read_text("utf-8"))
            for name, value in given.items():
                if value:
                    found.setdefault(name, {})[space] = value
            private_files.replace(path, json.dumps(found, indent=2).encode() + b"\n")
    except OSError as error:
        raise CredentialsError(f"Cannot write {path}: {error.strerror}.") from error
    return path


def forget(environ: Mapping[str, str], space: str) -> None:
    """Drop the keys and secret of a deleted space from the file, and note the deletion in it.

    Without the note the next start of a distributed system, which asks no ledger, would draw
    others. Raises `CredentialsError` if the file cannot be written.
    """
    path = data_directory(environ) / FILE_NAME
    try:
        demand_savable(environ)
    except CredentialsError:
        return  # it is of another system, or damaged: no key of this space is known to be there
    try:
        with private_files.locked(path):
            found = json.loads(path.read_text("utf-8"))
            for name in ("keys", "owner_keys", "admin_keys", "enrolment_secrets"):
                found.get(name, {}).pop(space, None)
            found[DELETED] = sorted({*found.get(DELETED, ()), space})
            private_files.replace(path, json.dumps(found, indent=2).encode() + b"\n")
    except OSError as error:
        raise CredentialsError(f"Cannot write {path}: {error.strerror}.") from error


def demand_savable(environ: Mapping[str, str]) -> None:
    """Raise `CredentialsError` unless the credentials file is of the system in use."""
    path = data_directory(environ) / FILE_NAME
    url = environ.get(URL_VARIABLE)
    if read(path).url != (url or read(path).url):
        raise CredentialsError(
            f"{path} is of another system than {URL_VARIABLE} names: nothing of it is kept there."
        )


def find(
    *,
    url: str | None,
    api_key: str | None,
    space: str | None,
    environ: Mapping[str, str],
    role: Role = Role.AGENT,
) -> Target:
    """The address and key to use: each from its argument, its variable, or the data directory.

    The file is read only for a missing address or key. Raises `CredentialsError`, also if the
    given key is known to belong to another space than `space`.
    """
    url = url or environ.get(URL_VARIABLE)
    api_key = api_key or environ.get(KEY_VARIABLE)
    path = data_directory(environ) / FILE_NAME
    if api_key and space and role in (Role.AGENT, Role.OWNER, Role.ADMIN):
        _check_space(path, api_key, space)
    if url and api_key:
        return Target(url, api_key, _certificates(environ))
    found, named = read(path), space or DEFAULT_SPACE
    key = api_key or _key_of(found, named, role, path)
    is_stand_in = role is Role.OWNER and named != SYSTEM_SPACE and key == found.keys.get(named)
    return Target(url or found.url, key, _certificates(environ), is_stand_in and not api_key)


def http_url(url: str, environ: Mapping[str, str]) -> str:
    """The HTTP address, with its scheme, of the Concord at the gRPC address `url`.

    Raises `CredentialsError`.
    """
    if given := environ.get(HTTP_URL_VARIABLE):
        return given.rstrip("/")
    try:
        found = read(data_directory(environ) / FILE_NAME)
    except CredentialsError:
        found = None
    if found is None or found.url != url:
        raise CredentialsError(
            f"The HTTP address of the Concord at {url} is not known: set {HTTP_URL_VARIABLE}."
        )
    return found.http_url


def space_in_use(space: str | None, environ: Mapping[str, str]) -> str:
    """Return the space in use: the named one, else the one that the key belongs to.

    A key from the environment is looked up in the file of `concord up`. If it is not there, the
    space is "default".
    """
    if space:
        return space
    api_key = environ.get(KEY_VARIABLE)
    return _owner(data_directory(environ) / FILE_NAME, api_key) or DEFAULT_SPACE


def _certificates(environ: Mapping[str, str]) -> Certificates:
    ca, cert, key = (
        Path(environ[name]).expanduser() if environ.get(name) else None
        for name in (CA_VARIABLE, CERT_VARIABLE, CERT_KEY_VARIABLE)
    )
    return Certificates(ca, cert, key)


def _key_of(found: Credentials, space: str, role: Role, path: Path) -> str:
    key = found.key(space, role)
    if key is None and role is Role.OPERATOR:
        raise CredentialsError(f"There is no operator's key in {path}: set {KEY_VARIABLE} to one.")
    if key is None:
        known = ", ".join(sorted({**found.keys, **found.owner_keys}))
        raise CredentialsError(
            f"There is no key for the space {space!r} in {path}; it has keys for: {known}."
        )
    return key


def _check_space(path: Path, api_key: str, space: str) -> None:
    """Refuse a key that is known to be another space's: its writes would land in that space."""
    owner = _owner(path, api_key)
    if owner not in (None, space):
        raise CredentialsError(
            f"{KEY_VARIABLE} is the key of the space {owner!r}, not of {space!r}: "
            "leave out the space, or unset the variable."
        )


def _owner(path: Path, api_key: str | None) -> str | None:
    """The space that a key belongs to; None if it is unknown."""
    if not api_key:
        return None
    try:
        found = read(path)
    except CredentialsError:
        return None
    known = [*found.keys.items(), *found.owner_keys.items(), *found.admin_keys.items()]
    return next((owner for owner, key in known if key == api_key), None)


def _texts(values: Mapping[object, object]) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in values.items()}


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value
