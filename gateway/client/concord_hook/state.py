"""What hooks remember on this machine: what a session was shown, what is offered, and a log.

All files are their owner's alone, in a folder of their own. A session's file has a line for each
memory that it was shown; it is locked while it is read and added to, since clients run hooks side
by side.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence

KEPT_SECONDS = 7 * 86_400
MOST_FILES = 500
"""Sessions and offers; the oldest go first."""
MOST_SHOWN = 1_000
"""Memories of a session; a session that was shown so many is shown no more."""
MOST_LOG_BYTES = 256 << 10
"""Of the log; the one before it is kept, too."""
MOST_OFFER_BYTES = 64 << 10


class State:
    """The files of one key's hooks."""

    def __init__(self, folder: str, key: str) -> None:
        """`key`: whose; two keys, as of two spaces, share nothing."""
        self._folder = folder
        self._owner = _digest(key)[:16]

    def claim(self, session: str, ids: Sequence[str]) -> list[str]:
        """Those of the memories that the session was not shown before; they count as shown now."""
        if not ids:
            return []
        with self._locked(f"session-{self._owner}-{_digest(session)[:32]}") as file:
            known = os.read(file, MOST_SHOWN * 200).decode("utf-8", "replace").split("\n")
            fresh = [each for each in dict.fromkeys(ids) if each not in known]
            fresh = fresh[: max(MOST_SHOWN - len(known), 0)]
            if fresh:
                # begins on a line of its own: a process that was killed may have left half of one
                os.write(file, "".join(f"\n{each}" for each in fresh).encode())
        return fresh

    def offer(self, lines: Sequence[str]) -> None:
        """Keep lines for the next session's start; they replace those of before."""
        with self._locked(f"offers-{self._owner}") as file:
            os.ftruncate(file, 0)
            os.write(file, json.dumps(list(lines)).encode()[:MOST_OFFER_BYTES])

    def offered(self) -> list[str]:
        """The kept lines, which are then gone."""
        with self._locked(f"offers-{self._owner}") as file:
            raw = os.read(file, MOST_OFFER_BYTES)
            os.ftruncate(file, 0)
        try:
            found = json.loads(raw) if raw else []
        except ValueError:  # killed while it was written
            return []
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []

    def clean(self) -> None:
        """Remove the files of sessions that ended long ago, and the oldest of too many."""
        oldest = time.time() - KEPT_SECONDS
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        with os.scandir(self._folder) as entries:
            found = sorted(
                (-entry.stat(follow_symlinks=False).st_mtime, entry.path)
                for entry in entries
                if entry.name.startswith(("session-", "offers-"))
            )
        for at, (age, path) in enumerate(found):
            if -age < oldest or at >= MOST_FILES:
                with contextlib.suppress(FileNotFoundError):  # another hook cleans, too
                    os.unlink(path)

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[int]:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.open(os.path.join(self._folder, name), flags, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)


def log(folder: str, line: str) -> None:
    """Add a line to the log, if that can be: nobody is there to be told that it cannot."""
    with contextlib.suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, "hook.log")
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            os.write(file, f"{stamp} {' '.join(line.split())[:400]}\n".encode("utf-8", "replace"))
            if os.fstat(file).st_size > MOST_LOG_BYTES:
                os.replace(path, f"{path}.1")
        finally:
            os.close(file)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
