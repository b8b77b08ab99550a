"""The parts of an index that other processes share, while another one writes them."""

from contextlib import suppress
from typing import Generic

from concord_search.adapters.qdrant.partition import Part
from concord_search.adapters.qdrant.parts import Parts
from concord_search.adapters.qdrant.shard import S
from concord_search.adapters.qdrant.tenant import ROW_BITS, WATERMARK, number_of
from concord_search.adapters.qdrant.watermark import Watermark
from concord_search.domain.errors import IndexUnavailable


class SharedParts(Parts[S], Generic[S]):
    """The parts by name, as they were read last. Blocking."""

    def _forget(self, part: Part[S]) -> None:
        super()._forget(part)
        if not self._shards.leads:
            self.catalogue.forget(part.number)

    def renew(self) -> None:
        """Takes in the parts and partitions that another process made since."""
        catalogue = self.catalogue
        catalogue.renew()
        stamps = catalogue.stamps()
        for partition in [*self.partitions.values()]:
            if partition.path.name not in stamps:
                self._leave(partition)
        opened = {each.path.name for each in self.partitions.values()}
        for name, stamp in stamps.items():
            if name not in opened:
                self.open(self._root / name, stamp)
        there = {part.number for part in self.by_name.values()}
        new = sorted(catalogue.tenants().keys() - there)
        for partition in self.partitions.values() if new else ():
            points = [number << ROW_BITS | WATERMARK for number in new]
            for point, _, values in partition.shard.points(points):
                self._add(partition, number_of(point), Watermark.of(values))

    def look_again(self, part: Part[S]) -> None:
        """Takes in what another process made of a part whose watermark is gone."""
        with suppress(IndexUnavailable):  # its whole shard may be gone
            if self.by_name.get(part.name) is part and part.stored() is None:
                self._forget(part)
        self.renew()

    def stand_by(self) -> None:
        """Leaves what is in memory of parts that another process writes from now on."""
        for partition in self.partitions.values():
            partition.leads = False
        self.columns.clear()
