"""Graph's settings: read once from an environment mapping, keys GRAPH_..."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from concord_chassis.config import ConfigError, load
from concord_chassis.server.process import ServiceConfig
from concord_stores.neo4j_config import Neo4jConfig
from pydantic import BaseModel, ConfigDict, Field

from concord_graph.ports import EXPORTERS, PARTITIONS


class Limits(BaseModel):
    """Limits of graph's sizes and concurrency, the same in every deployment form."""

    model_config = ConfigDict(frozen=True)

    working_memory_capacity: int = Field(default=10, ge=1, le=1000)
    """The number of entries that a space's working memory holds."""
    exporters: int = Field(default=EXPORTERS, ge=1, le=32)
    """The number of exports that run at once, on readers of their own."""
    partitions: int = Field(default=PARTITIONS, ge=1, le=1024)
    """The number of partitions into which a new store's spaces fall; an old one keeps its own."""


class GraphConfig(Limits, ServiceConfig):
    """Graph's settings as a service."""

    enrolment_file: Path | None = None
    """JSON file: space to hex SHA-256 of its one-time enrolment secret. Absent: no enrolment."""
    erase_confirmers: list[str] = ["search", "governance"]
    """Names of the services that store data derived from memories: an erasure is complete when each
    has confirmed it."""
    backups_file: Path | None = None
    """JSON file that `concord backup` writes: a receipt of an erasure lists the backups in it."""


class StoreChoice(BaseModel):
    """Which store."""

    model_config = ConfigDict(frozen=True)

    store: Literal["sqlite", "neo4j"] = "sqlite"
    """A file of this process alone, or a Neo4j server that replicas share."""


class SqliteConfig(BaseModel):
    """The embedded store, keys GRAPH_..."""

    model_config = ConfigDict(frozen=True)

    store_path: Path
    """The SQLite file."""
    readers: int = Field(default=2, ge=1, le=32)
    """Reader threads."""


def read_store(environ: Mapping[str, str]) -> SqliteConfig | Neo4jConfig:
    """Return the settings of the store that GRAPH_STORE chooses.

    Raises:
        ConfigError: a setting is missing or invalid.
    """
    if load(StoreChoice, environ, "GRAPH_").store == "neo4j":
        return load(Neo4jConfig, environ, "NEO4J_")
    return load(SqliteConfig, environ, "GRAPH_")


def read_enrolment(path: Path | None) -> dict[str, str]:
    """Return the digests of the enrolment secrets by space.

    Raises:
        ConfigError: the file is missing or not such a mapping.
    """
    if path is None:
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError("GRAPH_ENROLMENT_FILE is not readable as JSON") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise ConfigError("GRAPH_ENROLMENT_FILE must map spaces to hex digests")
    return found


def read_backups(path: Path) -> list[int]:
    """Return the times (µs) of the backups that a file lists; none while there is no such file.

    A file that is damaged lists none: an erasure must not wait for it.
    """
    try:
        found = json.loads(path.read_bytes())
        return sorted({int(time) for time in [*found.get("made", ()), found["time"]]})
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
