"""Settings, their examples, compose and the images say the same."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import concord_dissonance.config
import concord_gateway.config
import concord_governance.config
import concord_graph.config
import concord_search.adapters.qdrant_server.settings
import concord_search.config
import pytest
import service_locks as locks  # a script beside the locks, in no distribution
import yaml
from concord_chassis.channel.services_tls import ServicesTlsConfig
from concord_chassis.observe.trace_exporter import TracingConfig
from concord_chassis.server.health_address import HealthConfig
from concord_chassis.server.metrics_server import MetricsConfig
from concord_embedded import distributed_secrets, service_certificates
from concord_stores.neo4j_config import Neo4jConfig
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
TLS = yaml.safe_load((ROOT / "deploy" / "compose.tls.yaml").read_text("utf-8"))
MODELS: dict[str, tuple[tuple[str, type[BaseModel]], ...]] = {
    "graph": (
        ("GRAPH_", concord_graph.config.GraphConfig),
        ("GRAPH_", concord_graph.config.StoreChoice),
        ("GRAPH_", concord_graph.config.SqliteConfig),
        ("NEO4J_", Neo4jConfig),
    ),
    "search": (
        ("SEARCH_", concord_search.config.SearchConfig),
        ("INDEX_", concord_search.config.IndexChoice),
        ("QDRANT_", concord_search.adapters.qdrant_server.settings.QdrantConfig),
    ),
    "dissonance": (("DISSONANCE_", concord_dissonance.config.DissonanceConfig),),
    "governance": (
        ("GOVERNANCE_", concord_governance.config.GovernanceConfig),
        ("GOVERNANCE_", concord_governance.config.StoreChoice),
        ("GOVERNANCE_", concord_governance.config.SqliteConfig),
        ("NEO4J_", Neo4jConfig),
    ),
    "gateway": (("GATEWAY_", concord_gateway.config.Config),),
}
OF_EVERY_SERVICE: tuple[tuple[str, type[BaseModel]], ...] = (
    ("HEALTH_", HealthConfig),
    ("METRICS_", MetricsConfig),
    ("OTEL_EXPORTER_OTLP_", TracingConfig),
    ("SERVICES_TLS_", ServicesTlsConfig),
)
SERVICES = tuple(MODELS)
DRAIN_SECONDS = 10.0
"""What `serve_until_signal` and GATEWAY_GRACE give calls under way."""


def settings(service: str) -> dict[str, FieldInfo]:
    """A service's settings by key; a secret's key is that of its file."""
    return {
        f"{prefix}{name.upper()}{'_FILE' if field.annotation is SecretStr else ''}": field
        for prefix, model in (*MODELS[service], *OF_EVERY_SERVICE)
        for name, field in model.model_fields.items()
    }


def example(service: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a service's example sets, and what it names as holding unless set."""
    text = (ROOT / "deploy" / "env" / f"{service}.env.example").read_text("utf-8")
    lines = re.findall(r"^(#?)([A-Z0-9_]+)=(.*)$", text, re.M)
    assert len(lines) == len({key for _, key, _ in lines})
    return (
        {key: value for commented, key, value in lines if not commented},
        {key: value for commented, key, value in lines if commented},
    )


def written(field: FieldInfo) -> str:
    """A default as an environment's value."""
    value = field.get_default(call_default_factory=True)
    if field.is_required() or value is None or isinstance(value, SecretStr):
        return ""
    if isinstance(value, Mapping):
        return ",".join(f"{name}={of}" for name, of in value.items())
    if isinstance(value, (list, tuple, frozenset)):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def composed(service: str) -> dict[str, Any]:
    """A service as compose starts it."""
    found: dict[str, Any] = COMPOSE["services"][service]
    return found


@pytest.mark.parametrize("service", SERVICES)
def test_an_example_names_every_setting_as_compose_and_config_have_it(service: str) -> None:
    """Must hold: no setting is undocumented, none is documented that nobody reads."""
    chosen, others = example(service)
    known = settings(service)

    assert chosen.keys() | others.keys() == known.keys()
    assert chosen == composed(service)["environment"]
    assert others == {key: written(known[key]) for key in known.keys() - chosen.keys()}


def test_replicas_are_told_apart_by_what_they_must_be() -> None:
    """W1, M4 The second search has a name and an index of its own; who asks it, and graph, which
    waits for its confirmations, know it. All else is as compose.yaml has it."""
    overlay = yaml.safe_load(
        (ROOT / "deploy" / "compose.replicas.yaml").read_text("utf-8").replace("!override", "")
    )["services"]
    assert {each["deploy"]["replicas"] for each in overlay.values()} == {2}
    assert {name for name, each in overlay.items() if each.keys() != {"deploy"}} == {"search"}
    assert overlay["search"]["volumes"] == ["/var/lib/concord"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_given_the_secrets_that_it_reads_and_no_others(service: str) -> None:
    """Must hold: a service that is broken into holds nobody else's keys."""
    named = " ".join(composed(service)["environment"].values())

    assert set(re.findall(r"/run/secrets/(\w+)", named)) == set(composed(service)["secrets"])


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_can_write_nowhere_and_has_time_to_stop(service: str) -> None:
    """Must hold: nobody's user, a read-only root, no privilege; calls under way end first."""
    found = composed(service)

    assert found["read_only"] is True
    assert found["cap_drop"] == ["ALL"]
    assert "root" not in found["user"]
    assert float(found["stop_grace_period"].removesuffix("s")) > DRAIN_SECONDS


@pytest.mark.parametrize("service", SERVICES)
def test_under_tls_a_service_is_given_its_own_certificate_and_its_key(service: str) -> None:
    """Must hold: W6 the overlay sets every setting of TLS, from files that are made for it; the
    authority's key is given to nobody."""
    overlay = TLS["services"][service]
    named = {key: value.rpartition("/")[2] for key, value in overlay["environment"].items()}
    files = {key: TLS["secrets"][name]["file"].rpartition("/")[2] for key, name in named.items()}

    assert sorted(overlay["secrets"]) == sorted(named.values())
    assert files == {
        "SERVICES_TLS_CA": f"{service_certificates.AUTHORITY}.crt",
        "SERVICES_TLS_CERT": f"{service}.crt",
        "SERVICES_TLS_KEY": f"{service}.key",
    }
    assert named.keys() <= settings(service).keys()
    assert service in distributed_secrets.SERVICES


def test_a_gateway_that_speaks_tls_does_so_to_everybody() -> None:
    """W6 The overlay of a certificate of the operator's own allows no plain text beside it."""
    overlay = yaml.safe_load((ROOT / "deploy" / "compose.gateway-tls.yaml").read_text("utf-8"))
    given = overlay["services"]["gateway"]
    files = {key: value.rpartition("/")[2] for key, value in given["environment"].items()}

    assert given["environment"].keys() <= settings("gateway").keys()
    assert files.pop("GATEWAY_PLAIN_TEXT_NETWORK") == "false"
    assert files.keys() == {"GATEWAY_TLS_CERT", "GATEWAY_TLS_KEY"}
    assert sorted(files.values()) == sorted(given["secrets"]) == sorted(overlay["secrets"])
    assert not overlay["secrets"].keys() & (COMPOSE["secrets"].keys() | TLS["secrets"].keys())


def test_the_gateway_alone_is_reached_from_outside() -> None:
    """Must hold: no database's port is published, and the gateway's on loopback alone."""
    ports = {name: each["ports"] for name, each in COMPOSE["services"].items() if "ports" in each}

    assert ports.keys() == {"gateway"}
    assert all(each.startswith("127.0.0.1:") for each in ports["gateway"])


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_holds_what_its_service_needs_and_no_more(service: str) -> None:
    """Must hold: an image installs its service's lock and the distributions that it imports."""
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    (stage,) = re.findall(
        rf"^FROM installer AS {service}-installed\n((?:(?!FROM).*\n)*)", text, re.M
    )
    ours, others = locks.needs(locks.SERVICES[service])
    installed = {(ROOT / each).resolve() for each in re.findall(r"\s(\./\S+)", stage)}

    assert installed == {locks.folders()[name] for name in ours}
    assert f"-r requirements/{service}.lock" in stage
    models = f"-r requirements/{service}-model.lock" in stage
    assert models == (not locks.MODELS.isdisjoint(others))


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_asks_for_health_where_its_service_tells_it(service: str) -> None:
    """Must hold: `up --wait` hears the truth, also of a gateway that speaks TLS: its own addresses
    may want a certificate of whoever asks."""
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    (stage,) = re.findall(rf"^FROM runtime AS {service}\n((?:(?!FROM).*\n)*)", text, re.M)
    (asked,) = re.findall(r'"concord_chassis.server.probe", "([^"]+)"\]', stage)
    if service == "gateway":
        (beside,) = re.findall(r"^ENV HEALTH_ADDRESS=(\S+)$", stage, re.M)
        assert asked == beside
        assert beside.removeprefix("unix:").rpartition("/")[0] in composed(service)["tmpfs"]
        assert "HEALTH_ADDRESS" in settings(service)
    else:
        listens = composed(service)["environment"][f"{service.upper()}_LISTEN"]
        assert asked.replace("127.0.0.1", "0.0.0.0") == listens  # noqa: S104 - compose's word
