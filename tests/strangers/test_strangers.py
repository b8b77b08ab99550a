"""Clients that others wrote, before a running Concord: they know nothing but its contracts."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from concord_client.credentials import Target, find
from concord_testing.up_process import Spawned, spawned
from with_key import relay

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
NODE = MODULES / "node" / "bin" / "node"
GRPCURL = os.environ.get("GRPCURL") or shutil.which("grpcurl")
BUF = Path(sys.executable).with_name("buf")
PROGRAM = HERE.parents[1] / "gateway" / "client" / "tests" / "a_users_program.py"
SECONDS = 280.0

pytestmark = pytest.mark.strangers
with_node = pytest.mark.skipif(
    not NODE.exists(), reason=f"no {NODE}: `make test-strangers` installs it with npm"
)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system that shows its contracts by reflection."""
    data = tmp_path_factory.mktemp("strangers") / "data"
    with spawned(data, settings={"GATEWAY_REFLECTION": "true"}) as running:
        yield running


@pytest.fixture(scope="module")
def target(system: Spawned) -> Target:
    """Where it is, and the key of its default space."""
    return find(url=None, api_key=None, space=None, environ=system.environ)


async def said(folder: Path, *command: object, given: str = "") -> tuple[int, str]:
    """Exit status and output of a program that is run in `folder`."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate(given.encode())
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, output.decode()


async def answer(folder: Path, *command: object) -> Any:
    """The JSON that a program prints, which must succeed."""
    status, output = await said(folder, *command)
    assert status == 0, output
    return json.loads(output[output.index("{") :])


@with_node
async def test_the_conformance_suite_finds_what_is_expected(
    system: Spawned, target: Target, tmp_path: Path
) -> None:
    """W3 What 2026-07-28 requires, but for what `expected_failures.yml` lists with its reason."""
    async with relay(system.http_url.removeprefix("http://"), target.api_key) as address:
        status, output = await said(
            tmp_path, NODE, MODULES / ".bin" / "conformance", "server",
            "--url", f"http://{address}/mcp", "--requirements", "2026-07-28",
            "--expected-failures", HERE / "expected_failures.yml", "-o", tmp_path,
        )  # fmt: skip

    assert status == 0, output[output.find("=== SUMMARY") :]


@with_node
@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_the_inspector_lists_and_calls_tools(
    system: Spawned, target: Target, tmp_path: Path, transport: str
) -> None:
    """W3 Over HTTP with the key as a header, and over stdio as it starts `concord mcp`."""
    inspector: list[object] = [NODE, MODULES / ".bin" / "mcp-inspector", "--cli"]
    if transport == "http":
        server: list[object] = [f"{system.http_url}/mcp", "--transport", "http", "--header"]
        server.append(f"Authorization: Bearer {target.api_key}")
    else:
        variables = {"CONCORD_DATA": system.data}
        server = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
        server += [sys.executable, "-m", "concord_client", "mcp"]
    content = f"The inspector was here, over {transport}."
    listed = await answer(tmp_path, *inspector, *server, "--method", "tools/list")
    called = (*inspector, *server, "--method", "tools/call", "--tool-name")
    added = await answer(tmp_path, *called, "add_memory", "--tool-arg", f"content={content}")
    found = await answer(tmp_path, *called, "search_memories", "--tool-arg", f"query={content}")

    assert len(listed["tools"]) == 10
    first = found["structuredContent"]["results"][0]
    assert first["id"] == added["structuredContent"]["id"]


@with_node
async def test_connect_and_grpc_from_node(system: Spawned, target: Target, tmp_path: Path) -> None:
    """W1 W2 @connectrpc/connect-node: unary calls over both protocols, refusals and a stream."""
    descriptors = tmp_path / "concord.binpb"
    status, output = await said(HERE.parents[1] / "protos", BUF, "build", "-o", descriptors)
    assert status == 0, output
    told = await answer(
        tmp_path, NODE, HERE / "remember.mjs", descriptors, system.http_url,
        f"http://{system.url}", target.api_key,
    )  # fmt: skip

    for protocol in ("connect", "grpc"):
        assert told[protocol]["id"] in told[protocol]["found"]
        assert told[protocol]["refused"] == "InvalidArgument"
        assert told[protocol]["details"] >= 2
    assert told["streamed"] >= 2


@with_node
async def test_a_generator_makes_a_client_from_openapi(
    system: Spawned, target: Target, tmp_path: Path
) -> None:
    """W2 @hey-api/openapi-ts, with nothing but the address; its client adds, finds, is refused."""
    made = {
        "input": f"{system.http_url}/contract/openapi.json",
        "output": {"path": str(tmp_path / "client"), "importFileExtension": ".ts"},
    }
    (tmp_path / "made.mjs").write_text(f"export default {json.dumps(made)};")
    status, output = await said(
        tmp_path, NODE, MODULES / ".bin" / "openapi-ts", "-s", "-f", tmp_path / "made.mjs"
    )
    assert status == 0, output
    told = await answer(
        tmp_path, NODE, "--no-warnings", HERE / "openapi.mjs", tmp_path / "client",
        system.http_url, target.api_key,
    )  # fmt: skip

    assert told["id"] in told["found"]
    assert told["refused"] == "ERROR_REASON_FIELD_INVALID"


@pytest.mark.skipif(
    not GRPCURL, reason="no grpcurl on the PATH and no GRPCURL: `make grpcurl` builds it with Go"
)
async def test_grpcurl_with_reflection(system: Spawned, target: Target, tmp_path: Path) -> None:
    """W1 With nothing but the address and a key."""
    asked = (GRPCURL, "-plaintext", "-H", f"authorization: Bearer {target.api_key}")
    _, services = await said(tmp_path, GRPCURL, "-plaintext", system.url, "list")
    _, described = await said(
        tmp_path,
        GRPCURL,
        "-plaintext",
        system.url,
        "describe",
        "concord.search.v1.SearchService",
    )
    body = json.dumps({"request_id": "grpcurl-was-here-0001", "memory": {"content": "By grpcurl."}})
    added = await answer(
        tmp_path, *asked, "-d", body, system.url, "concord.graph.v1.MemoryService/AddMemory"
    )

    assert "concord.graph.v1.MemoryService" in services
    assert "SearchResponse" in described
    assert added["created"] is True


@with_node
async def test_pyright_finds_a_planted_mistake_and_nothing_else(tmp_path: Path) -> None:
    """W4 In a user's program, with the arguments' own types."""
    source = PROGRAM.read_text()
    (tmp_path / "right.py").write_text(source)
    (tmp_path / "wrong.py").write_text(source.replace('kind="FACT"', 'kind="NOVEL"', 1))
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    _, output = await said(
        tmp_path, NODE, MODULES / ".bin" / "pyright", "--outputjson",
        "--pythonpath", sys.executable,
    )  # fmt: skip
    found = json.loads(output[output.index("{") :])["generalDiagnostics"]

    assert [Path(each["file"]).name for each in found] == ["wrong.py"], found
    assert "NOVEL" in found[0]["message"]
