"""Governance's settings: read once from an environment mapping, keys GOVERNANCE_..."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from concord_chassis.channel.addresses import ServiceAddress
from concord_chassis.config import ConfigError, load
from concord_chassis.server.process import ServiceConfig
from concord_stores.neo4j_config import Neo4jConfig
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from concord_governance.domain.access import ListedKey, demand_allowed_scopes, demand_free_principal
from concord_governance.domain.entries import Actor
from concord_governance.domain.errors import KeyRefused, ReservedName
from concord_governance.domain.safeguards import Settings
from concord_governance.usecases.proposals import PENDING_PER_PRINCIPAL

PREFIX = "GOVERNANCE_"


class LedgerConfig(BaseModel):
    """Governance's settings, but for those of its store and its process."""

    model_config = ConfigDict(frozen=True)

    graph_address: ServiceAddress
    """Where graph listens: unix:/path or host:port."""
    settings_file: Path | None = None
    """JSON file with `undo_retention_days` and `approval_timeout_hours`. Absent: 30 and 48."""
    pending_per_principal: int = Field(default=PENDING_PER_PRINCIPAL, ge=1, le=10_000)
    """How many proposals of one principal may wait for an answer in a space."""
    keys_file: Path | None = None
    """JSON file of API keys to take over: hex SHA-256 of a key to its "space", "principal", "kind"
    and "scopes" (scopes' words or bare permissions). A digest that the ledger has ever known is
    skipped. Absent: no keys are taken over."""
    log_name: str = Field(default="concord.local", pattern=r"[^\s+/]{1,64}")
    """Begins the origin of every space's audit log."""
    llm_url: str = ""
    """Base URL of an endpoint that serves `/chat/completions`, e.g. "https://host/v1". Absent: the
    lexicon alone checks the words of proposals."""
    llm_model: str = ""
    """The endpoint's name of the model."""
    llm_api_key: SecretStr = SecretStr("")
    """The endpoint's key; never logged. Absent: it needs none."""
    llm_timeout: float = Field(default=5.0, gt=0, le=600)
    """Seconds for one attempt."""
    llm_budget: float = Field(default=10.0, gt=0, le=600)
    """Seconds for all attempts about one proposal; never more than half of the caller's time."""
    llm_attempts: int = Field(default=3, ge=1, le=10)
    """Most attempts about one proposal."""

    @model_validator(mode="after")
    def _consistent(self) -> LedgerConfig:
        if bool(self.llm_url) != bool(self.llm_model):
            raise ValueError("a language model needs a URL and a name")
        return self


class StoreChoice(BaseModel):
    """Which store the ledger is in."""

    model_config = ConfigDict(frozen=True)

    store: Literal["sqlite", "neo4j"] = "sqlite"
    """A file of one's own, or a Neo4j server that replicas share."""


class SqliteConfig(BaseModel):
    """The embedded ledger, keys GOVERNANCE_..."""

    model_config = ConfigDict(frozen=True)

    ledger_path: Path
    """The SQLite file of the ledger."""
    readers: int = Field(default=2, ge=1, le=32)
    """Reader threads."""


class GovernanceConfig(LedgerConfig, ServiceConfig):
    """The settings of governance as a process of its own."""

    key_file: Path
    """Private key (PEM) that signs this service's tokens; other services know its public half under
    the issuer name "governance"."""
    grant_key_file: Path
    """Private key (PEM) that signs grants; its public half is part of every genesis."""
    log_key_file: Path
    """Private key (PEM) that signs checkpoints of the audit log."""


def read_store(environ: Mapping[str, str]) -> SqliteConfig | Neo4jConfig:
    """Return the settings of the store that GOVERNANCE_STORE chooses.

    Raises:
        ConfigError: one is missing or invalid.
    """
    if load(StoreChoice, environ, PREFIX).store == "neo4j":
        return load(Neo4jConfig, environ, "NEO4J_")
    return load(SqliteConfig, environ, PREFIX)


class _KeyEntry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    space: str = Field(min_length=1, max_length=128)
    principal: str = Field(min_length=1, max_length=128)
    kind: Literal["AGENT", "HUMAN", "SYSTEM"]
    scopes: frozenset[str] = Field(min_length=1)


_DIGEST = r"^[0-9a-f]{64}$"
_KEY_ENTRIES = TypeAdapter(dict[Annotated[str, Field(pattern=_DIGEST)], _KeyEntry])


def read_keys(path: Path | None) -> dict[str, ListedKey]:
    """Return the API keys of a keys file by digest; none without a file.

    Raises:
        ConfigError: the file is missing, malformed, or names a scope that no key may carry. The
            text names places, never values: a value may be a key in the wrong place.
    """
    if path is None:
        return {}
    try:
        entries = _KEY_ENTRIES.validate_json(path.read_bytes())
    except OSError as error:
        raise _no_keys(path, f"it cannot be read ({error.strerror})") from None
    except ValidationError as error:
        places = {".".join(str(at) for at in each["loc"][1:]) for each in error.errors()}
        raise _no_keys(path, f"wrong in its entries: {', '.join(sorted(places))}") from None
    listed = {}
    for digest, entry in entries.items():
        try:
            demand_allowed_scopes(entry.scopes, entry.space, deleted=False)
            demand_free_principal(entry.principal)
        except (KeyRefused, ReservedName) as error:
            who = f"the key of {entry.principal!r} in the space {entry.space!r}"
            raise _no_keys(path, f"{who} is refused ({error})") from None
        listed[digest] = ListedKey(
            entry.space, entry.principal, Actor[entry.kind], tuple(sorted(entry.scopes))
        )
    return listed


def _no_keys(path: Path, why: str) -> ConfigError:
    return ConfigError(f"{PREFIX}KEYS_FILE: {path} is not a keys file: {why}")


class _SettingsFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    undo_retention_days: int = Field(default=30, ge=1, le=3650)
    approval_timeout_hours: int = Field(default=48, ge=1, le=8760)


def read_settings(path: Path | None) -> Settings:
    """Return the settings (V4).

    Raises:
        ConfigError: the file is missing, or holds something other than the two settings.
    """
    if path is None:
        return Settings()
    try:
        content = json.loads(path.read_text("utf-8"), object_pairs_hook=_each_once)
        found = _SettingsFile.model_validate(content)
    except OSError as error:
        raise _unusable(path, f"it cannot be read ({error.strerror})") from None
    except ValidationError as error:
        raise _unusable(path, _wrong(error)) from None
    except ValueError as error:
        raise _unusable(path, f"look at its JSON ({error})") from None
    return Settings(found.undo_retention_days, found.approval_timeout_hours)


def _unusable(path: Path, why: str) -> ConfigError:
    return ConfigError(f"{PREFIX}SETTINGS_FILE: {path} is not a settings file: {why}")


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object's fields; raises ValueError for a name that occurs twice."""
    for name in (names := [name for name, _ in pairs]):
        if names.count(name) > 1:
            raise ValueError(f"{name!r} stands there twice")
    return dict(pairs)


def _wrong(error: ValidationError) -> str:
    first = error.errors()[0]
    if not first["loc"]:
        return f"it holds no JSON object with {' and '.join(_SettingsFile.model_fields)}"
    return f"look at {'.'.join(str(part) for part in first['loc'])} ({first['msg']})"
