"""A server refuses a faulty contract or servicer; the repository's own contracts are sound."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from chassis_probe import PROBE, UNGUARDED, ProbeServicer, Request, add_to, compile_file
from concord.rules.v1 import rules_pb2
from concord_chassis.call.access import Method, table
from concord_chassis.call.contract import ContractError
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.call.rules import Rulebook
from concord_chassis.server.server import Registration, Server
from concord_testing.serving import always_ready, new_issuer
from google.protobuf.descriptor import FileDescriptor

GENERATED = Path(rules_pb2.__file__).parents[3]


def _server(registration: Registration) -> Server:
    issuer = new_issuer()
    return Server(
        name="test",
        registrations=[registration],
        verifier=TokenVerifier({issuer.name: issuer.public_key}),
        listen=[],
        ready=always_ready,
    )


class _Unguarded:
    async def Guarded(self, request: object, _context: object) -> object:  # noqa: N802
        return request

    async def Forgotten(self, request: object, _context: object) -> object:  # noqa: N802
        return request


def test_a_method_without_permission_stops_the_server_by_name() -> None:
    """W1: each method needs a permission, checked at the start; the error names the method."""
    with pytest.raises(ContractError, match=r"probe\.v1\.UnguardedService\.Forgotten names no"):
        _server(Registration(UNGUARDED, add_to(UNGUARDED), _Unguarded()))


class _NotAsync(ProbeServicer):
    def Ask(self, request: object, _context: object) -> object:  # type: ignore[override] # noqa: N802
        return request


class _NotAGenerator(ProbeServicer):
    async def Follow(self, request: object, _context: object) -> object:  # type: ignore[override] # noqa: N802
        return request


@pytest.mark.parametrize(
    ("servicer", "method"), [(_NotAsync(), "Ask"), (_NotAGenerator(), "Follow")]
)
def test_a_method_that_is_not_asynchronous_stops_the_server(servicer: object, method: str) -> None:
    """Style 7: each method must be async, so as not to block the event loop.

    For a method that the servicer lacks, generated code has one that is not async either.
    """
    with pytest.raises(ContractError, match=f"ProbeService/{method} is not implemented, or not as"):
        _server(Registration(PROBE, add_to(PROBE), servicer))


def test_a_registration_of_another_service_stops_the_server() -> None:
    """W1: the contract's methods must be those that the registration adds."""
    with pytest.raises(ContractError, match="contract and registration differ in"):
        _server(Registration(PROBE, add_to(UNGUARDED), _Unguarded()))


def test_an_operation_of_no_method_stops_the_server() -> None:
    """W1: after a method is renamed, its former name in `memory_operations` is an error."""
    with pytest.raises(ContractError, match="ProbeService has no Aks"):
        Registration(PROBE, add_to(PROBE), object(), memory_operations={"Aks": "search_memory"})


MISFITS = {
    "a string rule on a number": "int32 x = 1 [(concord.rules.v1.field).string = {max_len: 1}];",
    "a number rule on a string": "string x = 1 [(concord.rules.v1.field).number = {gte: 1}];",
    "items of what is single": "string x = 1 [(concord.rules.v1.field).repeated = {max_items: 1}];",
    "an enum rule on a number": "int32 x = 1 [(concord.rules.v1.field).defined_only = true];",
    "a preset on a number": "int32 x = 1 [(concord.rules.v1.field).preset = PRESET_PAGE_TOKEN];",
    "a struct rule on a string": "string x = 1 [(concord.rules.v1.field).struct = {max_depth: 1}];",
    "a required plain number": "int32 x = 1 [(concord.rules.v1.field).required = true];",
    "a pattern that is none": 'string x = 1 [(concord.rules.v1.field).string = {pattern: "("}];',
    "an empty range": "int32 x = 1 [(concord.rules.v1.field).number = {gte: 2 lte: 1}];",
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_rule_that_cannot_apply_is_refused_by_field(name: str, tmp_path: Path) -> None:
    """Style 10: a rule that cannot be checked stops the server; the error names the field."""
    file = _misfit(name, tmp_path)

    with pytest.raises(ContractError, match=r"misfit.*\.Misfit\.x: "):
        Rulebook().check_for(file.message_types_by_name["Misfit"])


def _misfit(name: str, folder: Path) -> FileDescriptor:
    number = list(MISFITS).index(name)
    source = (
        f'syntax = "proto3"; package misfit{number}; import "concord/rules/v1/rules.proto"; '
        f"message Misfit {{ {MISFITS[name]} }}"
    )
    (folder / f"misfit{number}.proto").write_text(source)
    return compile_file(folder, f"misfit{number}.proto")


def _contracts() -> Iterator[FileDescriptor]:
    for path in sorted(GENERATED.glob("concord/**/*_pb2.py")):
        name = ".".join(path.relative_to(GENERATED).with_suffix("").parts)
        yield importlib.import_module(name).DESCRIPTOR


def test_every_contract_compiles_and_every_method_has_a_permission() -> None:
    """W1: in the repository's contracts every method has a permission and every rule compiles."""
    book = Rulebook()
    methods: dict[str, Method] = {}
    for file in _contracts():
        for message in file.message_types_by_name.values():
            book.check_for(message)
        methods |= table(file.services_by_name.values())

    assert methods
    assert all(method.permission for method in methods.values())


def test_a_check_is_built_once() -> None:
    """W1: the rules of a message type are compiled once."""
    book = Rulebook()

    assert book.check_for(Request.DESCRIPTOR) is book.check_for(Request.DESCRIPTOR)
