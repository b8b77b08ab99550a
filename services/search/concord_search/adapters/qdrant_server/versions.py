"""The versions of every space's index, where other processes share the collections."""

from concord_search.adapters.qdrant_server.index import ServerIndex
from concord_search.adapters.versions.index import PartVersions


class SharedVersions(PartVersions):
    """As `PartVersions`; which part is which is read anew from what the writing process kept."""

    def __init__(self, parts: ServerIndex) -> None:
        super().__init__(parts)
        self._shared = parts
        self.name, self.holder = parts.name, parts.holder

    def hold(self, until: float) -> None:
        self._shared.hold(until)

    async def lead(self) -> None:
        await self._shared.lead()
        await self._read_roles()

    async def stand_by(self) -> None:
        await self._shared.stand_by()

    async def renew(self) -> None:
        await self._shared.renew()
        if not self._shared.leads:
            await self._read_roles()
