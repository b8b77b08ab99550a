"""Search's settings: read once from an environment mapping, keys SEARCH_..."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Literal

from concord_chassis.channel.addresses import ServiceAddress
from concord_chassis.config import UNKNOWN_NAME, load
from concord_chassis.server.process import ServiceConfig
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.profiles import shipped
from concord_search.domain.signals import Weights
from concord_search.domain.stac import Thresholds
from concord_search.usecases.search_context import Formula

PREFIX = "SEARCH_"


class IndexConfig(BaseModel):
    """Search's settings beyond its server: addresses, the index, embedders and ranking."""

    model_config = ConfigDict(frozen=True)

    graph_address: ServiceAddress
    """Graph's address: unix:/path or host:port."""
    index_path: Path
    """The directory of the index, or of what this process keeps of one on a server; no other
    process may use it."""
    cache_mb: int = Field(default=256, ge=16, le=1_048_576)
    """Megabytes for what ranking reads of the spaces in use; what was used last stays, whatever its
    size."""
    issuer_name: str = Field(default="search", min_length=1, max_length=128)
    """The name under which graph knows search's key, and all replicas of search confirm
    erasures."""
    dissonance_address: ServiceAddress = ""
    """The address of dissonance, which compares results with constitutive statements; empty = no
    comparison, and replies say so."""
    constitutive_weight: float = Field(default=2.0, ge=1.5, le=5.0)
    """The factor by which an integrative search ranks constitutive items higher."""
    embedder: Literal["minilm", "openai"] = "minilm"
    """The embedder of new indexes. Existing indexes keep their model until a reindex. For them, and
    for a reindex, the other embedder is available, too: minilm always, openai if its URL, model and
    dimension are set."""
    embedder_threads: int = Field(default=2, ge=1, le=64)
    """Batches of texts embedded at once, each on one processor (minilm)."""
    openai_url: str = ""
    """Base URL of an endpoint that serves `/embeddings`, e.g. "https://host/v1" (openai)."""
    openai_model: str = ""
    """The endpoint's name of the model (openai)."""
    openai_dimension: int = Field(default=0, ge=0, le=65_536)
    """Length of its vectors (openai)."""
    openai_key: SecretStr = SecretStr("")
    """The endpoint's key (openai)."""
    openai_revision: str = "1"
    """The operator's name for the weights; change it when the endpoint changes them (openai)."""
    openai_timeout: float = Field(default=10.0, gt=0, le=600)
    """Seconds for one attempt (openai)."""
    openai_budget: float = Field(default=30.0, gt=0, le=3600)
    """Seconds for all attempts of one request (openai)."""
    openai_batch: int = Field(default=128, ge=1, le=2048)
    """Most texts in one request (openai)."""
    weights: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict
    )
    """Relative weights of signals by name, over the defaults of every profile (spec S3)."""
    thresholds: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """Thresholds of the rules by name, over the defaults (spec S5)."""

    @field_validator("weights", "thresholds")
    @classmethod
    def _known(cls, value: Mapping[str, float], field: ValidationInfo) -> Mapping[str, float]:
        known = Weights if field.field_name == "weights" else Thresholds
        names = [each.name for each in fields(known)]
        if strangers := sorted(value.keys() - set(names)):
            names_given = {"unknown": ", ".join(strangers), "known": ", ".join(names)}
            raise PydanticCustomError(UNKNOWN_NAME, "{unknown}", names_given)
        return value

    @model_validator(mode="after")
    def _consistent(self) -> "IndexConfig":
        self.formula()
        if self.embedder == "openai" and not self.has_openai:
            raise ValueError("the openai embedder needs a URL, a model and a dimension")
        return self

    @property
    def has_openai(self) -> bool:
        """Whether URL, model and dimension of an endpoint are set."""
        return bool(self.openai_url and self.openai_model and self.openai_dimension)

    def formula(self) -> Formula:
        """The weights and thresholds in force."""
        try:
            return Formula(shipped().weighed(self.weights), Thresholds(**self.thresholds))
        except SettingsInvalid as error:
            raise ValueError(str(error)) from error


class IndexChoice(BaseModel):
    """The store of the index, key INDEX_STORE."""

    model_config = ConfigDict(frozen=True)

    store: Literal["edge", "qdrant"] = "edge"
    """Qdrant Edge inside this process, or a Qdrant server."""


def read_qdrant(environ: Mapping[str, str]) -> QdrantConfig | None:
    """Returns the settings of the Qdrant server; None if INDEX_STORE does not choose it.

    Raises:
        ConfigError: a setting is missing or invalid.
    """
    if load(IndexChoice, environ, "INDEX_").store != "qdrant":
        return None
    return load(QdrantConfig, environ, "QDRANT_")


class SearchConfig(IndexConfig, ServiceConfig):
    """All of search's settings."""

    key_file: Path
    """Search's own Ed25519 private key (PEM), with which it signs its tokens for graph."""
