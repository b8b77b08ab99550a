"""A program with two servers, for the test that sends it a signal: `two_servers.py FOLDER`."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from chassis_probe import ProbeServicer, registration
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.server.server import Server, serve_until_signal
from concord_testing.serving import always_ready


def _server(folder: Path, name: str) -> Server:
    return Server(
        name=name,
        registrations=[registration(ProbeServicer())],
        verifier=TokenVerifier({}),
        listen=[f"unix:{folder / name}"],
        ready=always_ready,
    )


async def _serve(folder: Path) -> None:
    async def close() -> None:
        (folder / "closed").write_text("closed")

    servers = [_server(folder, name) for name in ("inner", "outer")]
    await serve_until_signal(servers, close, grace=5)


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
