"""What the stand-in of a Qdrant server has is what Concord calls, and it says what it has not."""

import ast
import os
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from concord_embedded import distributed_secrets
from concord_testing import qdrant_server
from concord_testing.qdrant_server import STAND_IN, LocalQdrant, QdrantMissing
from google.protobuf.message_factory import GetMessageClass
from packaging.version import Version
from qdrant_client import grpc as wire
from qdrant_client.common.version_check import is_compatible
from qdrant_client.grpc import (
    collections_service_pb2,
    points_service_pb2,
    qdrant_pb2,
    snapshots_service_pb2,
)

from tests.support.qdrant_caller import Caller, calling
from tests.support.qdrant_stand_in.servicers import EDGE, VERSION, implemented

ROOT = Path(__file__).parents[2]
ADAPTER = ROOT / "services/search/concord_search/adapters/qdrant_server"
ITS_TESTS = (
    ROOT / "services/search/tests/test_qdrant_server.py",
    ROOT / "tests/bench/qdrant_search.py",
    ROOT / "tests/support/test_qdrant_contract.py",
)
CONTRACT = {
    f"{name}.{method.name}": method
    for file in (collections_service_pb2, points_service_pb2, qdrant_pb2, snapshots_service_pb2)
    for name, service in file.DESCRIPTOR.services_by_name.items()
    for method in service.methods
}


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """A stand-in, whatever the settings name."""
    with LocalQdrant(tmp_path_factory.mktemp("qdrant"), STAND_IN) as own, calling(own.url) as asked:
        yield asked


def calls_in(path: Path) -> set[str]:
    """The calls of the contract in a module: `points.Get`, `QdrantStub(channel).HealthCheck`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute):
            of = node.value.func if isinstance(node.value, ast.Call) else node.value
            name = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
            found.add(f"{name.removesuffix('Stub').capitalize()}.{node.attr}")
    return found & CONTRACT.keys()


def test_it_has_the_calls_that_are_made_and_no_other() -> None:
    """S10 Every call of the adapter is there; what only tests ask is there for them."""
    adapters = set().union(*(calls_in(path) for path in ADAPTER.glob("*.py")))
    tests = set().union(*(calls_in(path) for path in ITS_TESTS))

    assert "Qdrant.HealthCheck" in adapters
    assert "Points.UpdateBatch" in adapters
    assert implemented() == adapters | tests


@pytest.mark.parametrize("call", sorted(CONTRACT.keys() - implemented()))
def test_any_other_call_is_unimplemented(stand_in: Caller, call: str) -> None:
    """S10 Nothing is answered as if it had been done."""
    method = CONTRACT[call]
    request = GetMessageClass(method.input_type)()
    address = f"/{method.containing_service.full_name}/{method.name}"
    ask: Any = stand_in.channel.unary_unary(address, type(request).SerializeToString)
    with pytest.raises(grpc.RpcError) as refused:
        ask(request, timeout=10)

    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    ("call", "request_"),
    [
        ("Scroll", wire.ScrollPoints(collection_name="any", order_by=wire.OrderBy(key="n"))),
        ("Query", wire.QueryPoints(query=wire.Query(sample=wire.Sample.Random))),
        (
            "UpdateBatch",
            wire.UpdateBatchPoints(
                operations=[
                    wire.PointsUpdateOperation(
                        delete_payload=wire.PointsUpdateOperation.DeletePayload(keys=["n"])
                    )
                ]
            ),
        ),
    ],
)
def test_a_field_that_it_does_not_know_is_unimplemented(
    stand_in: Caller, call: str, request_: Any
) -> None:
    """S10 A call that is known with more in it than the stand-in heeds is not half done."""
    creation = wire.CreateCollection(collection_name=f"fields-{call}")
    stand_in.collections.Create(creation)
    request_.collection_name = creation.collection_name
    with pytest.raises(grpc.RpcError) as refused:
        getattr(stand_in.points, call)(request_)

    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_client_engine_and_image_are_of_one_minor_version(stand_in: Caller) -> None:
    """S10 What is tested is what compose.yaml runs: the versions move together."""
    told = stand_in.qdrant.HealthCheck(wire.HealthCheckRequest()).version
    composed = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    image = composed["services"]["qdrant"]["image"].rpartition(":v")[2].removesuffix("}")
    minors = {Version(each).release[:2] for each in (told, image, version("qdrant-client"))}

    assert told == VERSION
    assert len(minors) == 1
    assert is_compatible(version("qdrant-client"), told)
    # A newer Edge may be the engine of a newer server: say then which, in VERSION.
    assert Version(version("qdrant-edge-py")).release[:2] == Version(EDGE).release


@pytest.mark.parametrize("how", ["file of settings", "environment"])
def test_the_key_is_the_composed_systems_or_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """W6 A server of the composed system demands the key that search is given."""
    distributed_secrets.make(tmp_path / "secrets", url="127.0.0.1:1", http_url="http://none")
    keys = tmp_path / "secrets" / "keys"
    key = (keys / "qdrant_api_key").read_text("utf-8").strip()
    folder = tmp_path / "qdrant"
    if how == "environment":
        monkeypatch.setenv("QDRANT_API_KEY", key)
    else:
        (folder / "config").mkdir(parents=True)
        (folder / "config" / "local.yaml").write_bytes((keys / "qdrant.yaml").read_bytes())
    with LocalQdrant(folder, STAND_IN) as own, calling(own.url) as asked:
        codes = [_asked(asked, *metadata) for metadata in ((), [("api-key", "wrong")])]

        assert codes == [grpc.StatusCode.UNAUTHENTICATED] * 2
        assert _asked(asked, ("api-key", key)) is grpc.StatusCode.OK


def _asked(caller: Caller, *metadata: tuple[str, str]) -> grpc.StatusCode:
    try:
        caller.qdrant.HealthCheck(wire.HealthCheckRequest(), metadata=metadata)
    except grpc.RpcError as error:
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK


def test_a_program_that_is_named_runs_instead(tmp_path: Path) -> None:
    """S10 A real server is named by the settings; one that is not there fails, by name."""
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\necho ready; exec sleep 60\n", "utf-8")
    program.chmod(0o755)
    with qdrant_server.local(tmp_path, {"QDRANT_PROGRAM": str(program)}):
        pass
    with pytest.raises(QdrantMissing, match="QDRANT_PROGRAM"):
        qdrant_server.local(tmp_path, {"QDRANT_PROGRAM": str(tmp_path / "none")})

    assert qdrant_server.stands_in({})
    assert not qdrant_server.stands_in({"QDRANT_PROGRAM": str(program)})
    assert not qdrant_server.stands_in({"QDRANT_URL": "http://there:6334"})


def test_the_product_knows_nothing_of_it() -> None:
    """S10 Test code: only what tests share names it."""
    asked = ["git", "grep", "-lE", r"tests\.support|qdrant_stand_in", "--", "*/concord_*/*.py"]
    found = subprocess.run(
        asked, cwd=ROOT, capture_output=True, text=True, check=True, env=dict(os.environ)
    )

    assert found.stdout.split() == ["tests/support/testing/concord_testing/qdrant_server.py"]
