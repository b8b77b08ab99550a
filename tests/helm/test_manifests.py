"""Every manifest is one that Kubernetes takes, and pods may do no more than they must."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import kubernetes_validate
import pytest
from concord_embedded import distributed_secrets

from tests.helm.rendering import (
    CASES,
    CHART,
    HELM,
    NAME,
    SERVICES,
    Manifest,
    component,
    environ,
    manifests,
    of_kind,
    pods,
    read,
    rendered,
    run,
    secret_files,
    service_pod,
)

pytestmark = [
    pytest.mark.helm,
    pytest.mark.skipif(HELM is None, reason="helm is missing: `make helm` builds it with Go"),
]
CUSTOM = {"cert-manager.io/v1": "Certificate", "monitoring.coreos.com/v1": "ServiceMonitor"}
"""What other programs add to a cluster: Kubernetes' own schemas do not know it."""
IMAGES = (*SERVICES, "operator")


def job_of(case: str, name: str) -> Manifest:
    """A case's Job of a name."""
    (found,) = (
        each for each in of_kind(case, "Job") if each["metadata"]["name"] == f"{NAME}-{name}"
    )
    return found


@pytest.mark.parametrize("case", CASES)
def test_helm_finds_no_fault(case: str) -> None:
    """W10: `helm lint --strict`, whatever the values."""
    done = run("lint", "--strict", str(CHART), given=CASES[case])

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", ["1.28", "1.37"])
def test_manifests_are_of_kubernetes_schemas(version: str) -> None:
    """W10: each field of each case is one that there is, in the oldest version that the chart takes
    and in the newest."""
    different = {json.dumps(each): each for case in CASES for each in manifests(case)}
    for each in different.values():
        if CUSTOM.get(each["apiVersion"]) != each["kind"]:
            kubernetes_validate.validate(each, version, strict=True)

    assert len(different) > 100


@pytest.mark.parametrize("case", ["trial", "everything"])
def test_names_are_given_once_and_are_not_too_long(case: str) -> None:
    """W10: also those of a release with a long name."""
    named = [(each["kind"], each["metadata"]["name"]) for each in manifests(case)]
    long = read(rendered(*CASES[case], release="r" * 53))

    assert len(named) == len(set(named))
    assert max(len(each["metadata"]["name"]) for each in long) <= 63


@pytest.mark.parametrize("case", CASES)
def test_pods_may_do_no_more_than_they_must(case: str) -> None:
    """W6, W10: nobody's user, a root that cannot be written, no privilege, no token of the
    cluster but for the Job that makes the Secret; and each asks for what it needs."""
    found = list(pods(case))
    for owner, template in found:
        spec, name = template["spec"], owner["metadata"]["name"]
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["runAsUser"] > 0, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["automountServiceAccountToken"] is name.endswith("-make-secrets"), name
        assert spec["enableServiceLinks"] is False, name
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            allowed = container["securityContext"]
            assert allowed["allowPrivilegeEscalation"] is False, name
            assert allowed["capabilities"] == {"drop": ["ALL"]}, name
            assert allowed["readOnlyRootFilesystem"] is (container["name"] != "neo4j"), name
            assert container["resources"]["limits"]["memory"], name
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}, name

    assert len(found) >= 5


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_three_probes_that_need_no_certificate(case: str, service: str) -> None:
    """W10: gRPC probes of Kubernetes' own, at the address where health alone is told; what waits
    for a store or another service is not restarted."""
    (container,) = service_pod(case, service)["spec"]["containers"]
    (health,) = (each["containerPort"] for each in container["ports"] if each["name"] == "health")
    probes = {name: container[f"{name}Probe"] for name in ("startup", "readiness", "liveness")}

    assert environ(container)["HEALTH_ADDRESS"] == f"0.0.0.0:{health}"
    assert {each["grpc"]["port"] for each in probes.values()} == {health}
    asked = {name: each["grpc"]["service"] for name, each in probes.items()}
    ready = "live" if service == "gateway" else ""
    assert asked == {"startup": "live", "readiness": ready, "liveness": "live"}
    started = probes["startup"]
    assert started["failureThreshold"] * started["periodSeconds"] >= 900


@pytest.mark.parametrize("case", CASES)
def test_no_secret_stands_in_a_manifest(case: str) -> None:
    """W6, W10: Helm renders no Secret, and gives none in a plain variable."""
    assert not of_kind(case, "Secret")
    for owner, template in pods(case):
        for container in template["spec"]["containers"]:
            for name, value in environ(container).items():
                secret = any(word in name for word in ("PASSWORD", "KEY", "SECRET", "TOKEN"))
                assert not secret or value.startswith("/run/") or "=/run/" in value, (owner, name)


@pytest.mark.parametrize("case", CASES)
def test_a_pod_is_given_the_secrets_that_it_reads_and_no_others(case: str, tmp_path: Path) -> None:
    """W6, W10: who breaks into one service holds nobody else's keys; and each item is made."""
    distributed_secrets.make(tmp_path, url="", http_url="")
    made = {each.name for each in (tmp_path / "keys").iterdir()} | {"credentials.json"}
    for owner, template in pods(case):
        files = secret_files(template)
        spec = template["spec"]
        read = " ".join(
            [
                *(value for each in spec["containers"] for value in environ(each).values()),
                *(" ".join(each.get("command", ())) for each in spec.get("initContainers", ())),
            ]
        )
        named = {
            word.removeprefix("/run/secrets/")
            for word in read.replace("=", " ").replace(",", " ").split()
            if word.startswith("/run/secrets/")
        }
        if owner["metadata"]["name"].endswith("-neo4j"):
            continue
        assert files.keys() == named, owner["metadata"]["name"]
        for secret, item in files.values():
            if secret in (f"{NAME}-secrets", "keys", "c-secrets"):
                assert item in made, item


def test_the_gateways_key_is_its_users_alone() -> None:
    """W6: the gateway takes no key that a group may read, as a Secret's files are: it is copied."""
    template = service_pod("trial", "gateway")
    (made,) = template["spec"]["initContainers"]
    (container,) = template["spec"]["containers"]

    assert made["command"] == [
        *("install", "-m", "600"),
        *("/run/secrets/gateway_key", environ(container)["GATEWAY_ISSUER_KEY_FILE"]),
    ]


def test_images_are_named_by_digest_where_they_are_given() -> None:
    """W10: every image of ours; without digests by the tag, of one service or of all."""
    ours = {
        container["image"]
        for _, template in pods("images by digest")
        for container in (
            *template["spec"]["containers"],
            *template["spec"].get("initContainers", ()),
        )
        if container["image"].startswith("concord/")
    }
    tagged = rendered({"images": {"tag": "1", "tags": {"graph": "2"}, "prefix": "r/c"}})

    assert ours == {f"concord/{name}@sha256:{'0a' * 32}" for name in IMAGES}
    assert "image: r/c/graph:2\n" in tagged
    assert "image: r/c/search:1\n" in tagged


def test_what_scales_by_itself_has_no_number_of_its_own() -> None:
    """W10: an upgrade does not undo what the HPA did; search, which has an index, has none."""
    scaled = {each["spec"]["scaleTargetRef"]["name"] for each in of_kind("everything", *HPA)}
    numbers = {
        each["metadata"]["name"]: each["spec"].get("replicas")
        for each in of_kind("everything", "Deployment", "StatefulSet")
    }

    assert scaled == {f"{NAME}-{each}" for each in SERVICES if each != "search"}
    assert {name for name, number in numbers.items() if number is None} == scaled
    assert numbers[f"{NAME}-search"] == 3


HPA = ("HorizontalPodAutoscaler",)


@pytest.mark.parametrize("case", [name for name in CASES if name != "as little as can be"])
def test_one_pod_of_a_service_is_taken_at_a_time(case: str) -> None:
    """W10: a PDB for each service, replicas spread, and one more before one goes."""
    guarded = {
        component(each["spec"]["selector"]["matchLabels"]): each["spec"]["maxUnavailable"]
        for each in of_kind(case, "PodDisruptionBudget")
    }

    assert guarded == dict.fromkeys(SERVICES, 1)
    for service in SERVICES:
        spread = service_pod(case, service)["spec"]["topologySpreadConstraints"]
        for each in spread:
            assert component(each["labelSelector"]["matchLabels"]) == service
    for each in of_kind(case, "Deployment"):
        assert each["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_the_secret_is_made_by_a_job_that_may_do_nothing_else() -> None:
    """W7, W10: it may look for that one Secret, and create; none is there for one of yours."""
    (role,) = of_kind("trial", "Role")
    job = job_of("trial", "make-secrets")
    (container,) = job["spec"]["template"]["spec"]["containers"]

    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [f"{NAME}-secrets"]}
        | {"verbs": ["get"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
    ]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert container["command"][3:] == [
        f"{NAME}-secrets",
        f"{NAME}-gateway.ns.svc:7600",
        f"http://{NAME}-gateway.ns.svc:7601",
    ]
    assert not of_kind("stores elsewhere, passwords in the one Secret", "Role", "ServiceAccount")


def test_stores_are_brought_up_to_date_before_an_upgrade() -> None:
    """W10: by the program that does it, on the stores that the services have."""
    job = job_of("production", "migrate")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    (graph,) = service_pod("production", "graph")["spec"]["containers"]

    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-upgrade"
    assert container["command"] == ["python", "-m", "concord_embedded.migrate"]
    assert container["image"] == "registry.example/concord/operator:0.1.0"
    assert environ(container).items() - {("GOVERNANCE_STORE", "neo4j")} <= environ(graph).items()


def test_a_restore_stops_everything_first() -> None:
    """W10: no service runs, no backup begins, and the erasures that it repeats wait for each
    search; without a volume of backups it is refused."""
    case = "a restore"
    job = job_of(case, "restore")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    (cron,) = of_kind(case, "CronJob")
    services = [
        each
        for each in of_kind(case, "Deployment", "StatefulSet")
        if component(each["metadata"]["labels"]) in SERVICES
    ]

    assert [each["spec"]["replicas"] for each in services] == [0] * 5
    assert not of_kind(case, *HPA)
    assert cron["spec"]["suspend"] is True
    assert container["args"][:2] == ["backup", "restore"]
    assert environ(container)["GRAPH_ERASE_CONFIRMERS"] == "search,governance"
    assert run("template", str(CHART), given=[{"restore": {"backup": "concord-1"}}]).returncode


def test_a_backup_has_the_keys_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """W10: what the init container does, done here: files as `concord backup` wants them."""
    (cron,) = of_kind("production", "CronJob")
    spec = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (script,) = spec["initContainers"][0]["command"][2:]
    keys, state = tmp_path / "keys", tmp_path / "state"
    for folder in (keys, state, keys / "..data"):
        folder.mkdir()
    for name in ("audit-log.pem", "credentials.json"):
        (keys / "..data" / name).write_text(name)
        (keys / name).symlink_to(f"..data/{name}")
    command = script.replace("/keys/*", f"{keys}/*").replace("/state", str(state))
    for _ in range(2):
        subprocess.run(["sh", "-ec", command], check=True)

    root = Path(environ(spec["containers"][0])["CONCORD_DATA"].replace("/state", str(state)))
    assert {str(each.relative_to(root)) for each in root.rglob("*") if each.is_file()} == {
        "credentials.json",
        "keys/audit-log.pem",
    }
    assert root.stat().st_mode & 0o077 == 0
    assert spec["containers"][0]["args"] == ["backup", "create", "/state/backups", "--keep", "7"]


def test_metrics_are_read_where_each_service_tells_them() -> None:
    """W10: the ServiceMonitor finds a port of each service's; the dashboard is the one that there
    is, with the labels that Grafana looks for."""
    (monitor,) = of_kind("production", "ServiceMonitor")
    wanted: Mapping[str, str] = monitor["spec"]["selector"]["matchLabels"]
    scraped = {
        component(each["metadata"]["labels"])
        for each in of_kind("production", "Service")
        if wanted.items() <= each["metadata"]["labels"].items()
        and any(port["name"] == "metrics" for port in each["spec"]["ports"])
    }
    (shown,) = of_kind("production", "ConfigMap")
    dashboard: Any = json.loads(shown["data"]["concord.json"])

    assert scraped == set(SERVICES)
    for service in SERVICES:
        (container,) = service_pod("production", service)["spec"]["containers"]
        given = environ(container)
        assert given["METRICS_ADDRESS"] == "0.0.0.0:9464"
        assert {"name": "metrics", "containerPort": 9464} in container["ports"]
    assert dashboard == json.loads((CHART / "dashboards/concord.json").read_text("utf-8"))
    assert shown["metadata"]["labels"]["grafana_dashboard"] == "1"


@pytest.mark.parametrize("case", CASES)
def test_notes_say_how_to_reach_it(case: str, tmp_path: Path) -> None:
    """W10: what helm prints after an install, here as a manifest: helm prints it of a cluster."""
    chart = shutil.copytree(CHART, tmp_path / "concord")
    notes = chart / "templates" / "NOTES.txt"
    (chart / "templates/notes.yaml").write_text("said: |\n" + indent(notes.read_text(), "  "))
    notes.unlink()
    done = run("template", "memory", str(chart), "-s", "templates/notes.yaml", given=CASES[case])
    said = read(done.stdout)[0]["said"]

    assert "no value" not in said
    assert ("EVERY SERVICE IS STOPPED" in said) == (case == "a restore")
    address = "https://memory.example:7600" if case in SECURE else "127.0.0.1:7600"
    assert case in ("a restore", "certificates of one's own") or f"CONCORD_URL={address} " in said
    assert ("THERE ARE NO BACKUPS" in said) == (not of_kind(case, "CronJob"))


SECURE = ("production", "everything")
