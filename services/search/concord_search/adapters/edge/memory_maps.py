"""Memory maps of this process: no shard is opened or made without `SPARE` of them left.

Linux allows a process `vm.max_map_count` maps (65,530 on most systems), and a shard of one memory
holds some 146. Beyond that nothing in the process gets memory any more.
"""

from pathlib import Path

from concord_search.domain.errors import IndexUnavailable

SPARE = 1_000
"""Maps: those of some shards with more segments, and room for all else in the process."""

_OWN = Path("/proc/self/maps")
_MOST = Path("/proc/sys/vm/max_map_count")


def left() -> int:
    """How many more maps this process may have; many where the system does not say."""
    try:
        return int(_MOST.read_text("ascii")) - _OWN.read_bytes().count(b"\n")
    except (OSError, ValueError):
        return 2 * SPARE


def require() -> None:
    """Raises `IndexUnavailable` if too few are left for one more shard."""
    if left() < SPARE:
        raise IndexUnavailable(
            "this process has no memory maps left for the index of one more space: raise them, "
            "for example with `sysctl vm.max_map_count=1048576`"
        )
