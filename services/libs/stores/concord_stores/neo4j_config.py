"""The settings of a Neo4j server as a service's store, without the driver: loading the driver takes
a quarter of a start, which a start on SQLite need not pay."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, SecretStr


class Neo4jConfig(BaseModel):
    """The Neo4j server, keys NEO4J_..."""

    model_config = ConfigDict(frozen=True)

    uri: str
    """For example bolt://127.0.0.1:7687, or neo4j+s://... for a cluster with TLS."""
    user: str = "neo4j"
    """Concord's user on the server."""
    password: SecretStr
    """That user's password."""


class ServerUnusable(Exception):
    """The server cannot be used as a store; the text says what to do."""


class CopyDamaged(Exception):
    """A copy of a database is incomplete."""
