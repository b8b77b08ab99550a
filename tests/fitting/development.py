"""The development data that each profile is fitted on."""

from collections.abc import Callable, Mapping
from pathlib import Path

from concord_search.ports.embedder import Embedder

from tests.bench.conversations import Collection, beam, people, plain_facts
from tests.fitting.samples import Samples, gather

DATA: Mapping[str, Mapping[str, Callable[[Path], Collection]]] = {
    "plain": {"locomo": plain_facts},
    "people": {"locomo": people, "realtalk": people},
    "assistant": {"beam": beam},
}
"""By profile, the readers of the folders with its data."""


def is_there(profile: str, data: Path) -> bool:
    """Whether all data of a profile is there; says so where it is not."""
    missing = [data / name for name in DATA[profile] if not (data / name).is_dir()]
    for folder in missing:
        print(f"SKIPPED: no data at {folder}", flush=True)
    return not missing


async def samples_of(profile: str, data: Path, embedder: Embedder, folder: Path) -> Samples:
    """The questions that a profile is fitted on, asked of an index below `folder`."""
    collections = {name: read(data / name) for name, read in DATA[profile].items()}
    return await gather(collections, embedder, folder)
