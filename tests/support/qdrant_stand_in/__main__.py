"""`python -m tests.support.qdrant_stand_in DIR PORT [HOST]`: serves until SIGTERM."""

import signal
import sys
from pathlib import Path

from tests.support.qdrant_stand_in.server import start


def main(folder: str, port: str, host: str = "127.0.0.1") -> None:
    """Serve gRPC on a port, over a folder."""
    server = start(Path(folder), f"{host}:{port}")
    signal.signal(signal.SIGTERM, lambda *_: server.stop(grace=1))
    print("ready", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
