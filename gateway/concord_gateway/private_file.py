"""Files that only their owner may read."""

import os
import stat
from pathlib import Path

from concord_gateway.errors import IssuerKeyError

MAX_BYTES = 4 << 20


def read(path: Path) -> bytes:
    """The file's bytes. Raises `IssuerKeyError` unless it is a file of mode 0600 or stricter."""
    try:
        # O_NONBLOCK: opening a named pipe without a writer would wait for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise IssuerKeyError(f"{path} is not a file.")
            if mode & 0o077:
                raise IssuerKeyError(
                    f"Others can read or change {path}: run `chmod 600 {path}`, "
                    "and replace the keys in it if others use this machine."
                )
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise IssuerKeyError(f"Cannot read {path}: {error.strerror}.") from error
    if len(data) > MAX_BYTES:
        raise IssuerKeyError(f"{path} is larger than {MAX_BYTES} bytes.")
    return data
