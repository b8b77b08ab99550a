"""The models that review answers and write syntheses, from a settings file in TOML.

    [providers.local]
    url = "http://127.0.0.1:11434/v1"
    at_once = 1                  # questions under way; 4 unless given

    [models.llama]
    provider = "local"
    model = "llama3.1:8b"        # the endpoint's name of it
    vendor = "Meta"              # the provider's name unless given
    role = "generalist"          # or "balanced", "conservative"
    price = 0                    # of 1,000 tokens, in millionths of a unit of money

    [review]
    reviewers = ["llama", "mistral", "qwen"]
    reviser = "gemma"            # revises answers; no reviewer itself
    quorum = 3
    timeout = 45

    [synthesis]
    model = "gemma"              # writes syntheses by model; no reviewer itself
    timeout = 45                 # seconds for each answer

Keys of providers come from the environment, and never stand in the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from concord_chassis.config import ConfigError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic import model_validator as validator

from concord_dissonance.domain.peer_review.council import LEAST_QUORUM
from concord_dissonance.domain.peer_review.review import Role

SETTING = "DISSONANCE_MODELS_FILE"
Name = Annotated[str, StringConstraints(pattern=r"^[\w.-]{1,64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Provider(_Part):
    """An endpoint that serves `/chat/completions`."""

    url: str = Field(pattern=r"^https?://[^\s@]+$")
    at_once: int = Field(default=4, ge=1, le=100)
    """Most questions under way at once."""


class Model(_Part):
    """A model of a provider."""

    provider: str
    model: str = Field(min_length=1, max_length=200)
    """The endpoint's name of the model."""
    vendor: str = Field(default="", max_length=200)
    """The model's maker; empty: the provider's name."""
    role: Role = Role.BALANCED
    price: int = Field(default=0, ge=0, le=1_000_000_000)
    """Price of 1,000 tokens, in millionths of a unit of money."""
    most_tokens: int = Field(default=3_000, ge=200, le=100_000)
    """Most tokens of an answer."""


class AskingSettings(_Part):
    """How long and how often a model is asked."""

    timeout: float = Field(default=45.0, gt=0, le=600)
    """Seconds for an answer, its repair round included."""
    attempts: int = Field(default=4, ge=1, le=10)
    """Most questions for an answer, a repair round and repeated ones included."""


class ReviewSettings(AskingSettings):
    """The reviewers, and how many of them must answer."""

    reviewers: tuple[str, ...] = ()
    reviser: str = ""
    """The model that revises answers; empty for none."""
    quorum: int = Field(default=3, ge=LEAST_QUORUM, le=20)


class SynthesisSettings(AskingSettings):
    """The model that writes syntheses."""

    model: str


class CouncilSettings(_Part):
    """The whole file. Without `review` no model reviews; without `synthesis` only rules write."""

    providers: Mapping[Name, Provider]
    models: Mapping[Name, Model]
    review: ReviewSettings = ReviewSettings()
    synthesis: SynthesisSettings | None = None

    @validator(mode="after")
    def _whole(self) -> Self:
        for name, model in self.models.items():
            _demand(model.provider in self.providers, f"the provider of {name} is not in the file")
        chosen = self.review.reviewers
        writer = self.synthesis.model if self.synthesis else ""
        for name in (*chosen, *filter(None, [self.review.reviser, writer])):
            _demand(name in self.models, f"the model {name} is not in the file")
        named = {self.models[each].model.casefold() for each in chosen}
        _demand(len(named) == len(chosen), "reviewers must be different models")
        is_enough = len(chosen) >= self.review.quorum or "review" not in self.model_fields_set
        _demand(is_enough, "there are fewer reviewers than the quorum")
        for role, name in {"reviser": self.review.reviser, "synthesis's model": writer}.items():
            free = name not in self.models or self.models[name].model.casefold() not in named
            _demand(free, f"the {role} is one of the reviewers")
        return self


def read_settings(path: Path, keys: Mapping[str, object]) -> CouncilSettings:
    """Read the file; `keys` are by provider. Raises `ConfigError`, whose text has no values."""
    try:
        found = CouncilSettings.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        complaint = f"{path} cannot be read as TOML"
    except ValidationError as error:
        each = error.errors(include_url=False, include_input=False, include_context=False)[0]
        complaint = f"{'.'.join(map(str, each['loc']))}: {each['msg']}".removeprefix(": ")
    else:
        unknown = sorted(set(keys) - set(found.providers))
        if not unknown:
            return found
        complaint = f"there is a key for {unknown[0]}, which is no provider"
    # Outside the handler: pydantic's own error shows the values.
    raise ConfigError(f"{SETTING} is not valid: {complaint}")


def _demand(is_met: bool, complaint: str) -> None:
    if not is_met:
        raise ValueError(complaint)
