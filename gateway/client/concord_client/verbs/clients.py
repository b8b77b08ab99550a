"""The two clients: the same verbs, called or awaited."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import cache
from types import FunctionType, GenericAlias
from typing import Any, Generic, ParamSpec, Self, TypeVar, cast, get_args, overload

from concord.governance.v1.audit_pb2 import ExportAuditLogRequest
from concord.type.v1.type_pb2 import Consistency
from google.protobuf.message import Message

from concord_client.client import AsyncClient, Client, connect, connect_async
from concord_client.verbs import (
    changes,
    claims,
    conflict_steps,
    dialectic,
    extraction,
    governance_things,
    log,
    overview,
    proposals,
    sessions,
    steps,
)
from concord_client.verbs.arguments import demand_lists, lists_of, translated
from concord_client.verbs.dialectic import Run
from concord_client.verbs.steps import Step, Steps

P = ParamSpec("P")
T = TypeVar("T")


class _Verb(Generic[P, T]):
    """A step as a method of both clients: one returns its result, the other an awaitable of it."""

    def __init__(
        self, step: Callable[P, Step[T]] | Callable[P, Steps[T]] | Callable[P, Run[T]]
    ) -> None:
        self._step = step

    def __set_name__(self, owner: type[object], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, client: Concord, owner: type[Concord]) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, client: AsyncConcord, owner: type[AsyncConcord]
    ) -> Callable[P, Awaitable[T]]: ...
    @overload
    def __get__(self, client: None, owner: type[object]) -> Callable[..., Any]: ...
    def __get__(self, client: Any, owner: type[Any]) -> Any:
        """The verb, bound to a client; of a class, the function."""
        function = _function(self._name, self._step, is_awaited=issubclass(owner, AsyncConcord))
        return function if client is None else function.__get__(client, owner)


@cache
def _function(name: str, step: Callable[..., Any], *, is_awaited: bool) -> FunctionType:
    """The method of a client that takes a step; its signature is the step's, for `help`."""

    def verb(client: Any, /, *args: Any, **kwargs: Any) -> Any:
        demand_lists(said.bind(*args, **kwargs).arguments, lists)
        with translated():
            taken = step(*args, **kwargs)
        return client.run(taken) if isinstance(taken, Run) else client.take(taken)

    said = inspect.signature(step, eval_str=True)
    lists = lists_of(said)
    returned = get_args(said.return_annotation)[-1]
    client = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [client, *said.parameters.values()]
    result = GenericAlias(Awaitable, returned) if is_awaited else returned
    # inspect reads this attribute, which a function's type does not know.
    signed: Any = verb
    signed.__signature__ = said.replace(parameters=parameters, return_annotation=result)
    owner = AsyncConcord if is_awaited else Concord
    verb.__name__, verb.__qualname__ = name, f"{owner.__name__}.{name}"
    verb.__doc__ = step.__doc__
    return cast(FunctionType, verb)


class _Verbs:
    """The verbs of both clients."""

    add = _Verb(steps.add)
    search = _Verb(steps.search)
    suggest = _Verb(steps.suggest)
    extract = _Verb(extraction.extract)
    integrative = _Verb(overview.integrative)
    feedback = _Verb(overview.feedback)
    get = _Verb(steps.get)
    list = _Verb(steps.list_)
    update = _Verb(changes.update)
    forget = _Verb(changes.forget)
    restore = _Verb(changes.restore)
    erase = _Verb(changes.erase)
    receipt = _Verb(changes.receipt)
    history = _Verb(steps.history)
    accept_claims = _Verb(claims.accept_claims)
    refuse_claims = _Verb(claims.refuse_claims)
    withdraw_claims = _Verb(claims.withdraw_claims)
    claims = _Verb(claims.claims)
    lineage = _Verb(steps.lineage)
    relate = _Verb(steps.relate)
    link = _Verb(steps.link)
    neighbors = _Verb(steps.neighbors)
    follow = _Verb(steps.follow)
    say = _Verb(sessions.say)
    dialogue = _Verb(sessions.dialogue)
    episode = _Verb(sessions.episode)
    episodes = _Verb(sessions.episodes)
    end_session = _Verb(sessions.end_session)
    health = _Verb(overview.health)
    briefing = _Verb(overview.briefing)
    check = _Verb(conflict_steps.check)
    conflicts = _Verb(conflict_steps.conflicts)
    conflict = _Verb(conflict_steps.conflict)
    confirm = _Verb(conflict_steps.confirm)
    dismiss = _Verb(conflict_steps.dismiss)
    dismiss_all = _Verb(conflict_steps.dismiss_all)
    except_ = _Verb(conflict_steps.except_)
    reclassify = _Verb(conflict_steps.reclassify)
    reopen = _Verb(conflict_steps.reopen)
    resolve = _Verb(conflict_steps.resolve)
    synthesize = _Verb(dialectic.synthesize)
    review_answer = _Verb(dialectic.review_answer)
    propose = _Verb(proposals.propose)
    pending = _Verb(proposals.pending)
    review = _Verb(proposals.review)
    approve = _Verb(proposals.approve)
    reject = _Verb(proposals.reject)
    undo = _Verb(proposals.undo)

    def __init__(self) -> None:
        self._token = ""

    def _asked(self, request: Message) -> Message:
        """The request; a search gets the freshness token of this client's last write."""
        if self._token and "consistency" in request.DESCRIPTOR.fields_by_name:
            fresh = Consistency(at_least_as_fresh=self._token)
            request.consistency.MergeFrom(fresh)  # type: ignore[attr-defined] # checked above
        return request

    def _heard(self, reply: Message) -> None:
        self._token = getattr(reply, "token", "") or self._token


class Concord(_Verbs):
    """The synchronous client. Threads may share it. `stubs`: the contracts' services."""

    def __init__(self, stubs: Client) -> None:
        super().__init__()
        self.stubs = stubs

    @classmethod
    def connect(
        cls, url: str | None = None, api_key: str | None = None, space: str | None = None
    ) -> Concord:
        """As `concord_client.connect`, but a client with verbs."""
        return cls(connect(url, api_key, space))

    def take(self, step: Step[T] | Steps[T]) -> T:
        """Make the calls of a step or several, and return the result. Raises `Refused`."""
        if isinstance(step, Step):
            asked = self._asked(step.request)
            reply = self.stubs.call(step.path, asked, step.reply, timeout=step.timeout)
            self._heard(reply)
            return step.read(reply)
        result = None
        while True:
            try:
                with translated():
                    following = step.send(result)
            except StopIteration as end:
                last: T = end.value
                return last
            result = self.take(following)

    def run(self, run: Run[T]) -> T:
        """Make a run's call, follow its events, and return its result. Raises `Refused`."""
        asked = self._asked(run.request)
        replies = self.stubs.stream(run.path, asked, run.reply, timeout=run.timeout)
        try:
            for reply in replies:
                if end := run.heard(reply):
                    self._heard(end.done.synthesis.kept)
                    return run.read(end)
        finally:
            replies.cancel()
        raise dialectic.without_end()

    def verify(self, checkpoint: str | None = None) -> governance_things.Log:
        """Fetch the whole audit log and check it here; it must extend an earlier `checkpoint`.

        The log's key and genesis are taken from the log itself; `concord audit verify` pins them.
        Raises `LogInvalid`, which names the check and the entry.
        """
        parts = self.stubs.audit.ExportAuditLog(ExportAuditLogRequest())
        return log.verified(b"".join(part.lines for part in parts), checkpoint)

    def close(self) -> None:
        """End calls under way and the connection."""
        self.stubs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class AsyncConcord(_Verbs):
    """The asynchronous client, for one event loop: its verbs are awaited."""

    def __init__(self, stubs: AsyncClient) -> None:
        super().__init__()
        self.stubs = stubs

    @classmethod
    def connect(
        cls, url: str | None = None, api_key: str | None = None, space: str | None = None
    ) -> AsyncConcord:
        """As `concord_client.connect_async`, but a client with verbs."""
        return cls(connect_async(url, api_key, space))

    async def take(self, step: Step[T] | Steps[T]) -> T:
        """Make the calls of a step or several, and return the result. Raises `Refused`."""
        if isinstance(step, Step):
            asked = self._asked(step.request)
            reply = await self.stubs.call(step.path, asked, step.reply, timeout=step.timeout)
            self._heard(reply)
            return step.read(reply)
        result = None
        while True:
            try:
                with translated():
                    following = step.send(result)
            except StopIteration as end:
                last: T = end.value
                return last
            result = await self.take(following)

    async def run(self, run: Run[T]) -> T:
        """Make a run's call, follow its events, and return its result. Raises `Refused`."""
        asked = self._asked(run.request)
        replies = self.stubs.stream(run.path, asked, run.reply, timeout=run.timeout)
        async with aclosing(replies):
            async for reply in replies:
                if end := run.heard(reply):
                    self._heard(end.done.synthesis.kept)
                    return run.read(end)
        raise dialectic.without_end()

    async def verify(self, checkpoint: str | None = None) -> governance_things.Log:
        """As `Concord.verify`."""
        parts = self.stubs.audit.ExportAuditLog(ExportAuditLogRequest())
        return log.verified(b"".join([part.lines async for part in parts]), checkpoint)

    async def close(self) -> None:
        """End calls under way and the connection."""
        await self.stubs.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()
