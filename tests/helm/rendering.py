"""Renders the chart with values, and finds its parts."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "concord"
HELM = (
    os.environ.get("HELM")
    or next((str(path) for path in (ROOT / ".venv/bin/helm",) if path.exists()), None)
    or shutil.which("helm")
)
"""The program; None where there is none."""
RELEASE = "memory"
NAME = f"{RELEASE}-concord"
SERVICES = ("graph", "search", "dissonance", "governance", "gateway")
Manifest: TypeAlias = Mapping[str, Any]

EVERYTHING = {
    "images": {"pullSecrets": [{"name": "pull"}], "tag": "9.9.9"},
    "neo4j": {"uri": "bolt+s://graph.example:7999"},
    "qdrant": {"url": "https://index.example:6999"},
    "storageClass": "fast",
    "graph": {"autoscaling": {"enabled": True}, "env": {"GRAPH_EXPORTERS": 3}},
    "search": {
        "replicas": 3,
        "env": {
            "SEARCH_EMBEDDER": "openai",
            "SEARCH_OPENAI_URL": "https://models.example/v1",
            "SEARCH_OPENAI_MODEL": "large",
            "SEARCH_OPENAI_DIMENSION": 1024,
        },
        "secretFiles": {"SEARCH_OPENAI_KEY_FILE": {"name": "models", "key": "openai"}},
    },
    "dissonance": {
        "autoscaling": {"enabled": True},
        "secretFiles": {"DISSONANCE_MODELS_FILE": {"name": "models", "key": "models.toml"}},
        "secretEnv": {"DISSONANCE_MODEL_KEYS": {"name": "models", "key": "keys"}},
    },
    "governance": {"autoscaling": {"enabled": True}, "annotations": {"a": "b"}},
    "gateway": {
        "autoscaling": {"enabled": True},
        "service": {"type": "LoadBalancer", "annotations": {"a": "b"}},
        "hosts": ["memory.example"],
        "page": True,
        "tls": {
            "mode": "certManager",
            "secret": "own",
            "issuer": {"name": "public"},
            "clientCaSecret": "callers",
        },
    },
    "tls": {"mode": "certManager", "issuer": {"name": "services"}},
    "networkPolicy": {
        "gatewayFrom": [{"namespaceSelector": {}}],
        "neo4jTo": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
        "qdrantTo": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
        "egress": {"search": [{"ports": [{"port": 443}]}]},
    },
    "monitoring": {
        "enabled": True,
        "from": [{"namespaceSelector": {}}],
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True},
    },
    "backup": {"enabled": True},
    "test": {"url": "https://memory.example:7600", "caSecret": "authority"},
    "podLabels": {"team": "memory"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"operator": "Exists"}],
    "priorityClassName": "high",
}
OWN = {name: f"{name}-certificate" for name in SERVICES}
CASES: Mapping[str, Sequence[object]] = {
    "trial": (),
    "production": (ROOT / "deploy" / "helm" / "production.yaml",),
    "everything": (EVERYTHING,),
    "certificates of one's own": (
        {
            "tls": {"mode": "existing", "existing": OWN},
            "gateway": {"tls": {"mode": "existing", "secret": "own"}},
        },
    ),
    "stores elsewhere, passwords in the one Secret": (
        {
            "secrets": {"existing": "keys"},
            "neo4j": {"uri": "neo4j://graph.example"},
            "qdrant": {"url": "http://index.example"},
        },
    ),
    "images by digest": (
        {
            "images": {
                "digests": dict.fromkeys((*SERVICES, "operator"), f"sha256:{'0a' * 32}"),
                "tags": {"graph": "ignored"},
            }
        },
    ),
    "backups in a claim": ({"backup": {"enabled": True, "existingClaim": "mine"}},),
    "a restore": (
        {
            "backup": {"enabled": True},
            "restore": {"backup": "concord-20261128T120000.000000Z"},
            "graph": {"autoscaling": {"enabled": True}},
        },
    ),
    "as little as can be": (
        {
            "migration": {"enabled": False},
            "networkPolicy": {"enabled": False},
            "podDisruptionBudget": {"enabled": False},
            "topologySpread": [],
            "fullnameOverride": "c",
        },
    ),
}


def run(*arguments: str, given: Sequence[object] = ()) -> "subprocess.CompletedProcess[str]":
    """Runs helm with files of values and mappings of values, the later over the earlier."""
    assert HELM is not None
    files, stdin = [], ""
    for each in given:
        files += ["-f", str(each) if isinstance(each, Path) else "-"]
        stdin = stdin if isinstance(each, Path) else yaml.safe_dump(each)
    return subprocess.run(
        [HELM, *arguments, *files, "--kube-version", "1.32.0"],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(*given: object, skip_schema: bool = False, release: str = RELEASE) -> str:
    """The manifests as text. At most one of `given` is no file."""
    more = ["--skip-schema-validation"] if skip_schema else []
    done = run("template", release, str(CHART), "-n", "ns", *more, given=given)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(text: str) -> list[Manifest]:
    """The manifests in a text. libyaml's loader, where there is one, is ten times as fast."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [each for each in yaml.load_all(text, loader) if each]


@cache
def manifests(case: str) -> Sequence[Manifest]:
    """The manifests of a case."""
    return read(rendered(*CASES[case]))


def of_kind(case: str, *kinds: str) -> list[Manifest]:
    """A case's manifests of some kinds."""
    return [each for each in manifests(case) if each["kind"] in kinds]


def component(labels: Mapping[str, str]) -> str:
    """The component that labels are of."""
    return labels["app.kubernetes.io/component"]


def pods(case: str) -> Iterator[tuple[Manifest, Mapping[str, Any]]]:
    """Each manifest that makes pods, and its pods' template."""
    for each in manifests(case):
        match each["kind"]:
            case "Deployment" | "StatefulSet" | "Job":
                yield each, each["spec"]["template"]
            case "CronJob":
                yield each, each["spec"]["jobTemplate"]["spec"]["template"]
            case "Pod":
                yield each, each


def service_pod(case: str, service: str) -> Mapping[str, Any]:
    """The template of a service's pods."""
    (found,) = (
        template
        for owner, template in pods(case)
        if owner["kind"] in ("Deployment", "StatefulSet")
        and component(template["metadata"]["labels"]) == service
    )
    return found


def environ(container: Mapping[str, Any]) -> dict[str, str]:
    """A container's plain variables."""
    return {each["name"]: each["value"] for each in container.get("env", ()) if "value" in each}


def secret_files(template: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The files of a pod's volume "secrets": from which Secret, and which item of it."""
    volumes = {each["name"]: each for each in template["spec"].get("volumes", ())}
    sources = volumes.get("secrets", {}).get("projected", {}).get("sources", ())
    return {
        item["path"]: (source["secret"]["name"], item["key"])
        for source in sources
        for item in source["secret"]["items"]
    }
