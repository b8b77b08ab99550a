"""The council of the settings file: one endpoint for each provider, shared by its models."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from concord_chassis.observe.log import Logger
from concord_models.chat import ChatModel
from concord_models.endpoint import ModelEndpoint, RetryPolicy
from pydantic import SecretStr

from concord_dissonance.adapters.openai_council.asking import CouncilModel
from concord_dissonance.adapters.openai_council.reviewer import OpenAiReviewer, OpenAiReviser
from concord_dissonance.adapters.openai_council.settings import AskingSettings, CouncilSettings
from concord_dissonance.adapters.openai_council.synthesizer import OpenAiSynthesizer
from concord_dissonance.domain.peer_review.review import Reviewer
from concord_dissonance.ports.calls import Clock

MOST_REPLY_BYTES = 4_194_304
"""Most bytes of one reply of a model."""


class OpenAiCouncil:
    """The models that review and synthesize (port `Council`)."""

    def __init__(
        self, settings: CouncilSettings, keys: Mapping[str, SecretStr], clock: Clock, log: Logger
    ) -> None:
        """`keys`: by provider; a provider may have none."""
        self._settings, self._keys, self._clock, self._log = settings, keys, clock, log
        self._endpoints: list[ModelEndpoint] = []
        self._turns = {
            name: asyncio.Semaphore(provider.at_once)
            for name, provider in settings.providers.items()
        }
        review, synthesis = settings.review, settings.synthesis
        self.quorum = review.quorum
        asked = self._models(review, [*review.reviewers, *filter(None, [review.reviser])])
        self.reviewers = tuple(self._reviewer(name, asked[name]) for name in review.reviewers)
        self.reviser = OpenAiReviser(asked[review.reviser]) if review.reviser else None
        self.synthesizer: OpenAiSynthesizer | None = None
        if synthesis is not None:
            (model,) = self._models(synthesis, [synthesis.model]).values()
            self.synthesizer = OpenAiSynthesizer(synthesis.model, model)

    async def close(self) -> None:
        for endpoint in self._endpoints:
            await endpoint.close()

    def _models(self, said: AskingSettings, names: Sequence[str]) -> dict[str, CouncilModel]:
        """Return models by name, asked with the time limit and attempts of `said`."""
        policy = RetryPolicy(timeout=said.timeout, budget=said.timeout, attempts=said.attempts)
        models = {name: self._settings.models[name] for name in names}
        endpoints = {
            name: self._endpoint(name, policy)
            for name in sorted({each.provider for each in models.values()})
        }
        return {
            name: CouncilModel(
                ChatModel(endpoints[model.provider], model.model),
                self._turns[model.provider],
                price=model.price,
                most_tokens=model.most_tokens,
            )
            for name, model in models.items()
        }

    def _endpoint(self, provider: str, policy: RetryPolicy) -> ModelEndpoint:
        endpoint = ModelEndpoint(
            f"provider {provider}",
            self._settings.providers[provider].url,
            self._keys.get(provider, SecretStr("")),
            policy,
            self._log,
            most_bytes=MOST_REPLY_BYTES,
        )
        self._endpoints.append(endpoint)
        return endpoint

    def _reviewer(self, name: str, asked: CouncilModel) -> OpenAiReviewer:
        model = self._settings.models[name]
        vendor = model.vendor or model.provider
        return OpenAiReviewer(Reviewer(name, model.model, vendor, model.role), asked, self._clock)
