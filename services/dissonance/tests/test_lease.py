"""Who follows a space, where dissonance has replicas."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from concord_dissonance.domain.errors import LeaseElsewhere, ServiceUnavailable
from concord_dissonance.ports.feed import Lease
from concord_dissonance.usecases import lease as leasing
from concord_dissonance.usecases.lease import alone


class Registry:
    """Leases of one space as graph keeps them, without its clock: they end when told to."""

    def __init__(self) -> None:
        self.holder = ""
        self.number = 0
        self.is_silent = False
        self.renewals = 0


class OneProcess:
    """One process's view of the registry."""

    def __init__(self, registry: Registry, name: str, lasts: float = 10.0) -> None:
        self._registry, self._name, self._lasts = registry, name, lasts

    async def acquire(self, _space: str) -> Lease:
        """Take the lease if it is free."""
        at = self._registry
        if not at.holder:
            at.holder, at.number = self._name, at.number + 1
        return Lease(at.holder == self._name, at.number, self._lasts)

    async def renew(self, _space: str, number: int) -> bool:
        """Whether it still is this process's."""
        at = self._registry
        at.renewals += 1
        if at.is_silent:
            raise ServiceUnavailable("graph", "UNAVAILABLE")
        return (at.holder, at.number) == (self._name, number)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leasing, "RENEW_EVERY", 0.01)


def endless(ended: list[str]) -> Callable[[], Awaitable[None]]:
    """A work that goes on until it is cancelled."""

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cancelled")

    return work


async def test_one_of_two_works() -> None:
    """D7, design 1 one follower a space: who has no lease does nothing, and is told when to ask."""
    registry = Registry()

    async def work() -> str:
        with pytest.raises(LeaseElsewhere) as elsewhere:
            await alone(OneProcess(registry, "b"), "home", work)
        assert elsewhere.value.seconds == 10.0
        return "done"

    assert await alone(OneProcess(registry, "a"), "home", work) == "done"


async def test_a_lost_lease_ends_the_work() -> None:
    """D7, design 1: a holder that another one followed stops within a renewal."""
    registry, ended = Registry(), list[str]()
    working = asyncio.ensure_future(alone(OneProcess(registry, "a"), "home", endless(ended)))
    while registry.renewals < 2:  # noqa: ASYNC110 - nothing to wait for
        await asyncio.sleep(0.001)
    registry.holder, registry.number = "b", 2

    with pytest.raises(LeaseElsewhere):
        await working
    assert ended == ["cancelled"]


async def test_a_lease_that_nobody_can_renew_ends_with_its_time() -> None:
    """D7, design 1: without graph the work goes on while the lease lasts, and no longer."""
    registry, ended = Registry(), list[str]()
    registry.is_silent = True
    process = OneProcess(registry, "a", lasts=0.1)

    with pytest.raises(LeaseElsewhere):
        await alone(process, "home", endless(ended))
    assert registry.renewals > 1
    assert ended == ["cancelled"]


async def test_the_works_own_failure_is_told() -> None:
    """D7 What fails under a lease fails as it does without one."""

    async def work() -> None:
        raise ServiceUnavailable("search", "UNAVAILABLE")

    with pytest.raises(ServiceUnavailable):
        await alone(OneProcess(Registry(), "a"), "home", work)
