"""Asking a model behind any endpoint that speaks OpenAI's HTTP interface.

The client library's own retries are off: tenacity owns them, within one budget. A reader checks
each of the endpoint's replies before it is used. Neither the key nor a body, which may echo the
text, is ever logged or shown: of an error's body its message alone, cleaned.

Loading the openai package takes a third of a second: import this where an endpoint is configured.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from functools import cache, partial
from ssl import SSLContext
from typing import Any, TypeVar

import httpx2
import openai
import tenacity
from concord_chassis.call import deadline
from concord_chassis.observe.log import Logger
from pydantic import SecretStr

from concord_models.stated_reason import stated_reason

T = TypeVar("T")
Call = Callable[[openai.AsyncOpenAI], Awaitable[Any]]
"""Makes one raw request (`...with_raw_response...`) with the client; its reply has `content`."""
Read = Callable[[bytes], T]
"""Reads a body. Raises `BadReply` for a reply that a retry may improve; other errors end it."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The time and number of attempts for one question.

    `timeout` bounds one attempt and `budget` all attempts for one question, in seconds;
    `attempts` bounds their number (None: the budget alone does). All attempts take at most `share`,
    0 to 1, of the caller's remaining time: the rest is for the work on the answer. Before the next
    attempt it waits as the endpoint says, else from `first_wait` doubling to `longest_wait`, with
    jitter.
    """

    timeout: float = 10.0
    budget: float = 30.0
    attempts: int | None = None
    share: float = 1.0
    first_wait: float = 0.25
    longest_wait: float = 8.0


class BadReply(Exception):
    """The endpoint answered 200 with an unusable reply; the text names the defect.

    `hint` names it with the reply's own words, for the model that wrote them alone. With `is_final`
    there is no further attempt.
    """

    def __init__(self, message: str, *, hint: str = "", is_final: bool = False) -> None:
        super().__init__(message)
        self.hint = hint or message
        self.is_final = is_final


class CutOff(BadReply):
    """The model used up its tokens before it had answered."""


class Trouble(Enum):
    """Why an endpoint gave no usable answer, by its last attempt."""

    TIMEOUT = "timeout"
    NO_ANSWER = "no answer"
    BAD_REPLY = "bad reply"
    CUT_OFF = "cut off"
    CALL_REFUSED = "call refused"


class EndpointUnavailable(Exception):
    """The endpoint gave no usable answer, or refuses us; the text says why and may be shown."""

    def __init__(self, message: str, cause: BaseException) -> None:
        super().__init__(message)
        self.trouble = _trouble(cause)


class EndpointRefused(Exception):
    """The endpoint refuses this content: a retry cannot help. The text may be shown.

    `body` is the endpoint's own reason as it sent it, which may not be shown.
    """

    def __init__(self, message: str, status: int, body: str) -> None:
        super().__init__(message)
        self.status, self.body = status, body


class ModelEndpoint:
    """One endpoint. `name` is what texts and logs call it, such as "embedding endpoint"."""

    def __init__(
        self,
        name: str,
        base_url: str,
        key: SecretStr,
        policy: RetryPolicy,
        log: Logger,
        *,
        most_bytes: int = 100_000_000,
    ) -> None:
        """`most_bytes` bounds one reply; a longer one is broken off."""
        self._name = name
        self._policy = policy
        self._log = log
        self._client = openai.AsyncOpenAI(
            api_key=key.get_secret_value() or "none",
            base_url=base_url,
            organization="",
            project="",
            timeout=policy.timeout,
            max_retries=0,
            # Neither proxies nor credentials from the environment: settings are passed in.
            http_client=httpx2.AsyncClient(
                trust_env=False, timeout=policy.timeout, transport=_Bounded(most_bytes)
            ),
        )

    async def ask(self, call: Call, read: Read[T]) -> T:
        """Ask until the endpoint answers, the policy ends, or a retry cannot help.

        Raises:
            EndpointUnavailable: no usable answer.
            EndpointRefused: the content is refused.
        """
        budget = self._budget()
        last: list[Exception] = []
        try:
            async with asyncio.timeout(budget):
                return await self._retrying(budget)(self._attempt, call, read, last)
        except TimeoutError as error:
            cause = last[-1] if last else error
            raise EndpointUnavailable(
                f"The {self._name} did not answer within {budget:.1f} s: {_described(cause)}.",
                cause,
            ) from cause
        except openai.APIStatusError as error:
            raise self._final(error) from error
        except (openai.APIError, BadReply) as error:
            raise EndpointUnavailable(
                f"The {self._name} did not answer usably: {_described(error)}.", error
            ) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _budget(self) -> float:
        left = deadline.remaining()
        cap = self._policy.budget
        return deadline.outgoing(cap if left is None else min(cap, left * self._policy.share))

    def _retrying(self, budget: float) -> tenacity.AsyncRetrying:
        attempts = self._policy.attempts
        return tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_is_transient),
            wait=partial(self._wait, budget),
            stop=tenacity.stop_after_attempt(attempts) if attempts else tenacity.stop_never,
            reraise=True,
        )

    async def _attempt(self, call: Call, read: Read[T], last: list[Exception]) -> T:
        try:
            raw = await call(self._client)
            return read(raw.content)
        except (openai.OpenAIError, BadReply) as error:
            last.append(error)
            self._log.warning(f"{self._name} attempt failed", reason=_described(error))
            raise

    def _wait(self, budget: float, state: tenacity.RetryCallState) -> float:
        """Seconds before the next attempt: as the endpoint says, else doubling with jitter.

        Raises `TimeoutError` when the endpoint asks for more than is left of the budget.
        """
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, openai.APIStatusError):
            asked = _seconds(error.response.headers.get("retry-after"))
            if asked is not None:
                if asked > budget - (state.seconds_since_start or 0.0):
                    raise TimeoutError
                return asked
        grow = tenacity.wait_random_exponential(
            multiplier=self._policy.first_wait, max=self._policy.longest_wait
        )
        return grow(state)

    def _final(self, error: openai.APIStatusError) -> EndpointRefused | EndpointUnavailable:
        if error.status_code in _REFUSALS_OF_THE_CONTENT:
            return EndpointRefused(
                f"The {self._name} refuses the text: {_described(error)}.",
                error.status_code,
                error.response.text,
            )
        if _is_transient(error):
            return EndpointUnavailable(
                f"The {self._name} did not answer: {_described(error)}.", error
            )
        return EndpointUnavailable(
            f"The {self._name} refuses the call: {_described(error)}. "
            "Check its URL, model and key.",
            error,
        )


_REFUSALS_OF_THE_CONTENT = frozenset({400, 413, 422})
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _TRANSIENT_STATUS or error.status_code >= 500
    if isinstance(error, BadReply):
        return not error.is_final
    return isinstance(error, openai.APIError)


def _trouble(error: BaseException) -> Trouble:
    match error:
        case CutOff():
            return Trouble.CUT_OFF
        case BadReply():
            return Trouble.BAD_REPLY
        case TimeoutError() | openai.APITimeoutError():
            return Trouble.TIMEOUT
        case openai.APIStatusError() if not _is_transient(error):
            return Trouble.CALL_REFUSED
    return Trouble.NO_ANSWER


def _described(error: BaseException) -> str:
    """Return an error's kind, and the endpoint's own reason without text and key."""
    if isinstance(error, openai.APIStatusError):
        reason = stated_reason(error)
        return f"HTTP {error.status_code}" + (f" ({reason})" if reason else "")
    if isinstance(error, BadReply):
        return str(error)
    return {
        openai.APITimeoutError: "no answer in time",
        openai.APIConnectionError: "no connection",
        TimeoutError: "no answer in time",
    }.get(type(error), type(error).__name__)


def _seconds(header: str | None) -> float | None:
    """Read a Retry-After: seconds, or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        return None


@cache
def _certificates() -> SSLContext:
    """Return the authorities that all endpoints are checked by: read once, which takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class _Bounded(httpx2.AsyncHTTPTransport):
    """A transport that breaks off replies that are too long."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(verify=_certificates(), trust_env=False)
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        response.stream = _BoundedStream(response.stream, self._most_bytes)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, most_bytes: int) -> None:
        self._stream, self._left = stream, most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise httpx2.ReadError("the reply is too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
