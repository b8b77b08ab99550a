"""The folder of the Unix sockets: short, since a socket's path has at most 107 bytes."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from concord_embedded import secret_files
from concord_embedded.errors import StartError

LONGEST_PATH = 107
PREFIX = "concord-"
LONGEST_NAME = len(f"/{PREFIX}xxxxxxxx/search.sock")


@contextmanager
def made(environ: Mapping[str, str], note: Path) -> Iterator[Path]:
    """A new folder of mode 0700 in XDG_RUNTIME_DIR, or in /tmp; removed after the block.

    The file `note` holds its path, so that the next start can remove a killed one's folder.
    """
    _remove_former(note)
    try:
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=_parent(environ))
    except OSError as error:
        raise StartError(f"Cannot make a folder for sockets in /tmp: {error.strerror}.") from error
    try:
        secret_files.write(note, folder.encode())
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        note.unlink(missing_ok=True)


def _parent(environ: Mapping[str, str]) -> str:
    base = environ.get("XDG_RUNTIME_DIR", "")
    fits = len(os.fsencode(base)) + LONGEST_NAME <= LONGEST_PATH
    if base and fits and os.access(base, os.W_OK | os.X_OK):
        return base
    return "/tmp"  # noqa: S108 - the folder's name is new and its mode 0700


def _remove_former(note: Path) -> None:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        former = Path(note.read_text("utf-8"))
        if former.name.startswith(PREFIX) and former.lstat().st_uid == os.geteuid():
            shutil.rmtree(former, ignore_errors=True)
