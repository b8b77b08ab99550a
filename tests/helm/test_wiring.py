"""What services are given is what they read; whom they are given, and nobody else, they reach."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import concord_dissonance.config
import concord_gateway.config
import concord_governance.config
import concord_graph.config
import concord_search.config
import pytest
from concord_chassis.config import load
from concord_chassis.observe import trace_exporter
from concord_chassis.server import health_address, metrics_server
from concord_embedded import distributed_secrets, service_certificates

from tests.helm.rendering import (
    CASES,
    HELM,
    NAME,
    ROOT,
    SERVICES,
    component,
    environ,
    of_kind,
    pods,
    secret_files,
    service_pod,
)

pytestmark = [
    pytest.mark.helm,
    pytest.mark.skipif(HELM is None, reason="helm is missing: `make helm` builds it with Go"),
]
ARROWS = {
    ("gateway", "graph"),
    ("gateway", "search"),
    ("gateway", "dissonance"),
    ("gateway", "governance"),
    ("search", "graph"),
    ("search", "dissonance"),
    ("dissonance", "graph"),
    ("dissonance", "search"),
    ("dissonance", "governance"),
    ("governance", "graph"),
}
"""Design §1: who asks whom. Graph asks nobody."""
STORES = {
    ("graph", "neo4j"),
    ("governance", "neo4j"),
    ("search", "qdrant"),
    ("migrate", "neo4j"),
}
WITH_POLICIES = [name for name in CASES if name != "as little as can be"]


def settings_of(service: str) -> set[str]:
    """A service's settings: its example lists them all (tests/contract compares it with config)."""
    text = (ROOT / "deploy" / "env" / f"{service}.env.example").read_text("utf-8")
    return set(re.findall(r"^#?([A-Z0-9_]+)=", text, re.M))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("service", SERVICES)
def test_every_variable_is_a_setting(case: str, service: str) -> None:
    """W10: no service is given what it does not read."""
    (container,) = service_pod(case, service)["spec"]["containers"]
    named = {each["name"] for each in container["env"]}

    assert {name for name in named if not {name, f"{name}_FILE"} & settings_of(service)} == set()


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of keys, as the Secret holds them."""
    folder = tmp_path_factory.mktemp("secrets")
    distributed_secrets.make(folder, url="", http_url="")
    service_certificates.ensure(folder / "keys", ("any",))
    return folder / "keys"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("service", SERVICES)
def test_a_service_takes_its_settings(
    case: str, service: str, secrets: Path, tmp_path: Path
) -> None:
    """W10: its own config reads what it is given: all that it must have, and no wrong value."""
    template = service_pod(case, service)
    (container,) = template["spec"]["containers"]
    for path, (_, item) in secret_files(template).items():
        file = secrets / item
        content = file.read_bytes() if file.exists() else b"from a Secret of the operator's"
        (tmp_path / path).write_bytes(content)
    given = {
        name: value.replace("/run/secrets", str(tmp_path)).replace("/run/private", str(tmp_path))
        for name, value in environ(container).items()
    }
    given |= {"DISSONANCE_MODEL_KEYS": "any=key"} if "secretEnv" in str(CASES[case]) else {}
    match service:
        case "graph":
            load(concord_graph.config.GraphConfig, given, "GRAPH_")
            concord_graph.config.read_store(given)
        case "search":
            load(concord_search.config.SearchConfig, given, "SEARCH_")
            assert concord_search.config.read_qdrant(given) is not None
        case "dissonance":
            load(concord_dissonance.config.DissonanceConfig, given, "DISSONANCE_")
        case "governance":
            config = load(concord_governance.config.GovernanceConfig, given, "GOVERNANCE_")
            concord_governance.config.read_store(given)
            assert concord_governance.config.read_keys(config.keys_file)
        case _:
            concord_gateway.config.read(given)
    health_address.read(given)
    metrics_server.read(given)
    trace_exporter.read(given)
    for name, value in given.items():
        for path in re.findall(rf"{tmp_path}/[^,]+", value):
            assert os.path.exists(path), name


@pytest.mark.parametrize(("case", "replicas"), [("trial", 1), ("production", 2), ("everything", 3)])
def test_all_searches_have_one_name_and_one_secret(case: str, replicas: int) -> None:
    """M4, S10, W10: graph and dissonance know one key, an erasure waits for one confirmation, and
    each replica can read what another one wrote."""
    containers = {each: service_pod(case, each)["spec"]["containers"][0] for each in SERVICES}
    search = environ(containers["search"])
    default = concord_search.config.IndexConfig.model_fields["issuer_name"].default

    assert "SEARCH_ISSUER_NAME" not in search
    assert search["QDRANT_INDEX_SECRET_FILE"] == search["SEARCH_KEY_FILE"]
    for service in ("graph", "dissonance"):
        known = environ(containers[service])[f"{service.upper()}_ISSUER_KEYS"]
        assert known.count("search") == known.count(f"{default}=/run/secrets/search_public") * 2
    confirmers = environ(containers["graph"])["GRAPH_ERASE_CONFIRMERS"].split(",")
    assert confirmers == [default, "governance"]
    numbers = {
        each["metadata"]["name"]: each["spec"]["replicas"] for each in of_kind(case, "StatefulSet")
    }
    assert numbers[f"{NAME}-search"] == replicas


def addressed(case: str) -> set[tuple[str, str]]:
    """Who is given whose address."""
    found = set()
    for _, template in pods(case):
        caller = component(template["metadata"]["labels"])
        for container in template["spec"]["containers"]:
            for name, value in environ(container).items():
                found |= {(caller, each) for each in re.findall(rf"{NAME}-([a-z0-9]+):", value)}
                if name in ("NEO4J_URI", "QDRANT_URL"):
                    found.add((caller, name.partition("_")[0].lower()))
    return found


def matching(selector: Mapping[str, Any], components: set[str]) -> set[str]:
    """The components whose pods a selector takes."""
    wanted = selector.get("matchLabels", {}).get("app.kubernetes.io/component")
    taken = components if wanted is None else components & {wanted}
    for each in selector.get("matchExpressions", ()):
        assert (each["key"], each["operator"]) == ("app.kubernetes.io/component", "In")
        taken = taken & set(each["values"])
    return taken


def allowed(case: str, direction: str) -> Iterator[tuple[str, str, int]]:
    """Caller, called and port of each pair of components that the policies let speak."""
    everybody = {component(each["metadata"]["labels"]) for _, each in pods(case)}
    for policy in of_kind(case, "NetworkPolicy"):
        ours = matching(policy["spec"]["podSelector"], everybody)
        for rule in policy["spec"].get(direction, ()):
            for peer in rule.get("to" if direction == "egress" else "from", ()):
                others = matching(peer.get("podSelector", {}), everybody)
                if "podSelector" not in peer:
                    continue
                for one in ours:
                    for other in others:
                        pair = (one, other) if direction == "egress" else (other, one)
                        for port in rule["ports"]:
                            yield (*pair, port["port"])


def test_addresses_are_the_designs_arrows() -> None:
    """W10: nobody is given an address that the design does not know."""
    assert addressed("trial") == ARROWS | STORES


@pytest.mark.parametrize("direction", ["egress", "ingress"])
def test_policies_are_the_designs_arrows(direction: str) -> None:
    """W6, W10: both ends of each arrow are open, at its port, and no other pair speaks; a backup
    reaches the database."""
    found = set(allowed("trial", direction))
    ports = {"graph": 7611, "search": 7612, "dissonance": 7613, "governance": 7614}
    ports |= {"neo4j": 7687, "qdrant": 6334}
    expected = {(*arrow, ports[arrow[1]]) for arrow in ARROWS | STORES}
    expected |= {("test", "gateway", 7600)} if direction == "egress" else set()

    assert found == expected
    backed_up = set(allowed("backups in a claim", direction))
    assert backed_up - found == {("backup", "neo4j", 7687)}


@pytest.mark.parametrize("case", WITH_POLICIES)
def test_nothing_else_is_open(case: str) -> None:
    """W6, W10: every pod is closed but for DNS; beyond the release only the gateway is reached,
    and metrics where they are told; stores elsewhere at their port alone."""
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind(case, "NetworkPolicy")}
    closed = policies[NAME]
    assert "app.kubernetes.io/component" not in closed["podSelector"]["matchLabels"]
    assert closed["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in closed
    assert closed["egress"] == [
        {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
    ]
    for name, spec in policies.items():
        for rule in spec.get("ingress", ()):
            for_all = not rule.get("from")
            assert not for_all or (name == f"{NAME}-gateway" and rule["ports"][0]["port"] == 7600)
    given = environ(service_pod(case, "graph")["spec"]["containers"][0])["NEO4J_URI"]
    (rule,) = policies[f"{NAME}-to-neo4j"]["egress"]
    assert rule["ports"] == [{"port": urlsplit(given).port or 7687}]


def test_a_restricted_gateway_still_lets_the_test_in() -> None:
    """W10: `helm test` runs whoever else may reach the gateway."""
    (spec,) = (
        each["spec"]
        for each in of_kind("everything", "NetworkPolicy")
        if each["metadata"]["name"] == f"{NAME}-gateway"
    )
    peers = spec["ingress"][0]["from"]

    assert {"namespaceSelector": {}} in peers
    assert any(
        "podSelector" in each and component(each["podSelector"]["matchLabels"]) == "test"
        for each in peers
    )


@pytest.mark.parametrize("case", ["production", "everything"])
def test_certificates_are_for_the_names_that_are_called(case: str) -> None:
    """W6, W10: each service's is for the host that the others are given, as server and caller."""
    made = {each["spec"]["secretName"]: each["spec"] for each in of_kind(case, "Certificate")}
    for service in SERVICES:
        spec = made[f"{NAME}-{service}-tls"]
        assert spec["dnsNames"][0] == f"{NAME}-{service}"
        assert spec["usages"] == ["server auth", "client auth"]
        files = secret_files(service_pod(case, service))
        assert files["certificate_key"] == (f"{NAME}-{service}-tls", "tls.key")
        given = environ(service_pod(case, service)["spec"]["containers"][0])
        assert given["SERVICES_TLS_KEY"] == "/run/secrets/certificate_key"
    gateway = environ(service_pod(case, "gateway")["spec"]["containers"][0])
    assert gateway["GATEWAY_PLAIN_TEXT_NETWORK"] == "false"
