"""The settings of the server, and of each collection on it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class QdrantConfig(BaseModel):
    """The Qdrant server, keys QDRANT_... A collection keeps the settings that it was made with."""

    model_config = ConfigDict(frozen=True)

    url: str = Field(pattern=r"^https?://[^/@]+/?$")
    """Its gRPC port, e.g. "http://127.0.0.1:6334"; https for TLS. Without a port: 6334."""
    api_key: SecretStr = SecretStr("")
    """Its key, if it demands one."""
    timeout: float = Field(default=5.0, gt=0, le=600)
    """Seconds for one call."""
    prefix: str = Field(default="concord", pattern=r"^[a-z0-9_]{1,64}$")
    """The installation's name, with which the names of its collections begin: that of all replicas
    of search, and of no other installation on the server."""
    index_secret: SecretStr = SecretStr("")
    """What the secrets of spaces are encrypted under, the same for all replicas of search. Empty: a
    file beside the index's others, so that this process alone can use the index."""
    shards: int = Field(default=1, ge=1, le=1024)
    """Shards of a collection."""
    replicas: int = Field(default=1, ge=1, le=64)
    """Replicas of a shard; a write waits for more than half of them."""
    quantisation: Literal["none", "scalar", "binary"] = "none"
    """Whether memory also holds vectors at a quarter or a thirty-second of their size."""
    on_disk: bool = False
    """Whether full vectors, words and payloads are read from disk, to need less memory."""
