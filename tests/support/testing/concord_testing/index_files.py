"""What the files of an index say while nobody has it open."""

from contextlib import closing
from pathlib import Path

from concord_search.adapters.qdrant.catalogue import FileCatalogue
from concord_search.adapters.qdrant.filters import Filter
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.payload import Payload
from concord_search.adapters.qdrant.shard import Shard
from concord_search.adapters.qdrant.tenant import WATERMARK, Tenant


def partition_at(index: Path) -> Path:
    """The directory of an index's only partition."""
    (partition,) = (path for path in index.iterdir() if path.is_dir())
    return partition


def secrets_at(index: Path) -> dict[str, bytes]:
    """The secret of each space's version, by name."""
    with closing(FileCatalogue(index)) as catalogue:
        return dict(catalogue.tenants().values())


def key_at(index: Path, space: str = "default") -> SpaceKey:
    """The key of a space."""
    return SpaceKey(secrets_at(index)[space])


def tenant_at(index: Path, shard: Shard, space: str = "default") -> Tenant:
    """The points of a space in its shard."""
    with closing(FileCatalogue(index)) as catalogue:
        named = {name: number for number, (name, _) in catalogue.tenants().items()}
    return Tenant(shard, named[space])


def every_state(shard: Shard) -> list[tuple[int, Payload]]:
    """The points of all spaces' states, each with its payload: no watermark."""
    found = shard.scroll(Filter())
    return [(point, values) for point, values in found if point & WATERMARK != WATERMARK]


def keys_by_number(index: Path) -> dict[int, SpaceKey]:
    """The key of each space's version, by the number in its points' ids."""
    with closing(FileCatalogue(index)) as catalogue:
        return {number: SpaceKey(secret) for number, (_, secret) in catalogue.tenants().items()}
