"""Where Concord is, and with which key: arguments, the environment, or what `concord up` wrote.

`concord up` keeps `credentials.json` in its data directory: `url` (gRPC, host:port), `http_url`,
`keys` (API key by space) and `enrolment_secrets` (by space).
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_SPACE = "default"
DATA_VARIABLE = "CONCORD_DATA"
URL_VARIABLE = "CONCORD_URL"
KEY_VARIABLE = "CONCORD_API_KEY"
CA_VARIABLE = "CONCORD_CA"
CERT_VARIABLE = "CONCORD_CERT"
CERT_KEY_VARIABLE = "CONCORD_CERT_KEY"
STATE_VARIABLE = "CONCORD_STATE"
PASSPHRASE_VARIABLE = "CONCORD_PASSPHRASE"  # noqa: S105 - a variable's name
ENROLMENT_VARIABLE = "CONCORD_ENROLMENT_SECRET"
FILE_NAME = "credentials.json"


class CredentialsError(Exception):
    """It cannot be told where Concord is or with which key; the text says what to do."""


@dataclass(frozen=True)
class Credentials:
    """What `concord up` wrote. Shown to nobody: it holds secrets."""

    url: str
    http_url: str
    keys: Mapping[str, str]
    enrolment_secrets: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r}, spaces={sorted(self.keys)})"


@dataclass(frozen=True)
class Certificates:
    """PEM files for TLS; an address that begins with `https://` uses them."""

    ca: Path | None = None
    """Whom to believe, instead of the machine's authorities."""
    cert: Path | None = None
    """What to show a gateway that asks callers for a certificate."""
    cert_key: Path | None = None


@dataclass(frozen=True)
class Target:
    """An address and the key to present there; the key decides the space."""

    url: str
    api_key: str
    certificates: Certificates = Certificates()

    def __repr__(self) -> str:
        return f"Target(url={self.url!r})"


def data_directory(environ: Mapping[str, str]) -> Path:
    """`CONCORD_DATA`, else `concord` in the user's data home (`~/.local/share`)."""
    if given := environ.get(DATA_VARIABLE):
        return Path(given).expanduser()
    home = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "concord"


def system_name(environ: Mapping[str, str]) -> str:
    """What the user calls the system: the address they gave, else the data directory's path.

    Never an address that `credentials.json` holds: a server writes it, and what was seen before is
    kept under this name. Links are not followed, since whoever owns the directory makes those.
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
            keys={_text(space): _text(key) for space, key in found["keys"].items()},
            enrolment_secrets={
                _text(space): _text(secret) for space, secret in found["enrolment_secrets"].items()
            },
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


def find(
    *, url: str | None, api_key: str | None, space: str | None, environ: Mapping[str, str]
) -> Target:
    """The address and key to use: each from its argument, its variable, or the data directory.

    The file is read only for what is not given. Raises `CredentialsError`, also when the given
    key is known to belong to another space than `space`.
    """
    url = url or environ.get(URL_VARIABLE)
    api_key = api_key or environ.get(KEY_VARIABLE)
    path = data_directory(environ) / FILE_NAME
    if api_key and space:
        _check_space(path, api_key, space)
    if url and api_key:
        return Target(url, api_key, _certificates(environ))
    found = read(path)
    key = api_key or _key_of(found, space or DEFAULT_SPACE, path)
    return Target(url or found.url, key, _certificates(environ))


def space_in_use(space: str | None, environ: Mapping[str, str]) -> str:
    """Return the space that is worked in: the one named, else the one whose key it is.

    A key given by variable is looked up among those that `concord up` wrote; where it is none of
    them, the space is "default" until it is named.
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


def _key_of(found: Credentials, space: str, path: Path) -> str:
    key = found.keys.get(space)
    if key is None:
        known = ", ".join(sorted(found.keys))
        raise CredentialsError(
            f"There is no key for the space {space!r} in {path}; it has keys for: {known}."
        )
    return key


def _check_space(path: Path, api_key: str, space: str) -> None:
    """A key of another space would write where nobody looks; refused where it can be known."""
    owner = _owner(path, api_key)
    if owner not in (None, space):
        raise CredentialsError(
            f"{KEY_VARIABLE} is the key of the space {owner!r}, not of {space!r}: "
            "leave out the space, or unset the variable."
        )


def _owner(path: Path, api_key: str | None) -> str | None:
    """The space whose key it is; None where that cannot be known."""
    if not api_key:
        return None
    try:
        known = read(path).keys
    except CredentialsError:
        return None
    return next((owner for owner, key in known.items() if key == api_key), None)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value
