"""Dissonance's settings: read once from an environment mapping, keys DISSONANCE_..."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from concord_chassis.channel.addresses import ServiceAddress
from concord_chassis.server.process import ServiceConfig
from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

PREFIX = "DISSONANCE_"


class Addresses(BaseModel):
    """The addresses of other services, unix:/path or host:port, and the settings of models."""

    model_config = ConfigDict(frozen=True)

    graph_address: ServiceAddress
    """Graph's address: statements come from there, and conflicts go there."""
    search_address: ServiceAddress
    """Search's address: it finds memories that are near in meaning."""
    governance_address: ServiceAddress
    """Governance's address: findings become proposals there."""
    sketches_path: Path | None = None
    """File with hashes of the words of texts that were read. It is made where it is missing;
    without a path it lives as long as the process, which then reads all texts once more."""
    nli_folder: Path | None = None
    """Folder of a language-inference model: model.onnx, tokenizer.json, config.json."""
    llm_url: str = ""
    """Base URL of an endpoint that serves `/chat/completions`; empty: no model judges there."""
    llm_model: str = ""
    """The endpoint's name of the model."""
    llm_key: SecretStr = SecretStr("")
    """The endpoint's key."""
    llm_spaces: frozenset[str] = frozenset()
    """The spaces whose texts may be sent to the endpoint and to the models of `models_file`."""
    models_file: Path | None = None
    """TOML file with the models that review and synthesize. Absent: there are none."""
    model_keys: Mapping[str, SecretStr] = Field(default_factory=dict)
    """The API keys of the providers in `models_file`, by provider."""
    llm_timeout: float = Field(default=20.0, gt=0, le=600)
    """Seconds for one attempt."""
    llm_attempts: int = Field(default=3, ge=1, le=10)
    """Most attempts of one question."""
    llm_price: int = Field(default=0, ge=0, le=1_000_000_000)
    """Price of 1,000 tokens, in millionths of a unit of money."""
    llm_request_calls: int = Field(default=200, ge=0, le=1_000_000_000)
    """Most calls of one check, review or synthesis."""
    llm_request_tokens: int = Field(default=400_000, ge=0, le=1_000_000_000)
    """Most tokens of one check, review or synthesis."""
    llm_request_money: int = Field(default=1_000_000, ge=0, le=1_000_000_000)
    """Most money that one check, review or synthesis may cost, in millionths of a unit."""
    llm_day_calls: int = Field(default=5_000, ge=0, le=1_000_000_000)
    """Most calls of all checks, reviews and syntheses of a space in a day (UTC)."""
    llm_day_tokens: int = Field(default=10_000_000, ge=0, le=1_000_000_000)
    """Most tokens of all checks, reviews and syntheses of a space in a day (UTC)."""
    llm_day_money: int = Field(default=10_000_000, ge=0, le=1_000_000_000)
    """Most money of all these of a space in a day (UTC), in millionths of a unit."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.llm_url) != bool(self.llm_model):
            raise ValueError("a language model needs a URL and a name")
        if self.model_keys and self.models_file is None:
            raise ValueError("keys of models need their settings")
        return self


class DissonanceConfig(Addresses, ServiceConfig):
    """All of dissonance's settings."""

    key_file: Path
    """Dissonance's own Ed25519 private key (PEM), with which it signs its tokens as the issuer
    "dissonance"."""
