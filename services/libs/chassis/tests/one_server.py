"""A program with a server, for the test that sends it a signal: `one_server.py FOLDER`."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from chassis_probe import ProbeServicer, registration
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.server.server import Server, serve_until_signal
from concord_testing.serving import always_ready


async def _serve(folder: Path) -> None:
    server = Server(
        name="probe",
        registrations=[registration(ProbeServicer())],
        verifier=TokenVerifier({}),
        listen=[f"unix:{folder / 'probe'}"],
        ready=always_ready,
    )

    async def stop() -> None:
        await server.stop(5)
        (folder / "closed").write_text("closed")

    await serve_until_signal(server.start, stop)


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
