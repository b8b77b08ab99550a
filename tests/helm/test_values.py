"""Every value does something, and what is none is refused."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from tests.helm.rendering import CASES, CHART, EVERYTHING, HELM, rendered, run

pytestmark = [
    pytest.mark.helm,
    pytest.mark.skipif(HELM is None, reason="helm is missing: `make helm` builds it with Go"),
]
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))


def leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of each value that is no mapping with something in it."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name)


OTHER: Mapping[tuple[str, ...], object] = {
    ("images", "tags"): {"graph": "t", "search": "t"},
    ("images", "digests"): {"graph": "sha256:0"},
    ("images", "pullSecrets"): [{"name": "other"}],
    ("gateway", "tls", "mode"): "none",
    ("tls", "mode"): "none",
    ("restore", "backup"): "concord-1",
    ("probes", "startSeconds"): 60,
    ("topologySpread",): [],
    ("tolerations",): [{"operator": "Equal"}],
    ("gateway", "hosts"): ["other.example"],
    ("gateway", "tls", "dnsNames"): ["other.example"],
    ("test", "url"): "http://other:1",
}
"""Where another value is no plain one."""
BASES: Mapping[str, Any] = {
    "trial": {},
    "everything": EVERYTHING,
    "own certificates": CASES["certificates of one's own"][0],
    "backups": {"backup": {"enabled": True}},
    "elsewhere": {
        "neo4j": {"uri": "bolt://n:1", "passwordSecret": {"name": "of-n", "key": "k"}},
        "qdrant": {"url": "http://q:1", "apiKeySecret": {"name": "of-q", "key": "k"}},
    },
}


def other(path: tuple[str, ...], value: object) -> object:
    """Another value of a leaf."""
    if path in OTHER:
        return OTHER[path]
    match value:
        case bool():
            return not value
        case int():
            return value + 7
        case list():
            return [{"ports": [{"port": 1}]}]
        case dict():
            named = {"name": "other", "key": "k"}
            return {"A_FILE": named if path[-1].startswith("secret") else "other"}
    return "7" if path[-1] in ("port", "storage") else "other"


def changed(base: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Values that differ from `base` in one leaf."""
    result: dict[str, Any] = copy.deepcopy(dict(base))
    at, now = result, VALUES
    for name in path[:-1]:
        at, now = at.setdefault(name, {}), now[name]
    at[path[-1]] = other(path, at.get(path[-1], now[path[-1]]))
    return result


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    """What each of the bases renders."""
    return {name: rendered(base) for name, base in BASES.items()}


@pytest.mark.parametrize("path", list(leaves(VALUES)), ids=".".join)
def test_a_value_does_something(path: tuple[str, ...], before: Mapping[str, str]) -> None:
    """W10: another value renders something else, in one of the installations at least."""
    for name, base in BASES.items():
        done = run(
            *("template", "memory", str(CHART), "-n", "ns", "--skip-schema-validation"),
            given=[changed(base, path)],
        )
        if done.returncode == 0 and done.stdout != before[name]:
            return
    pytest.fail(f"{'.'.join(path)} changes nothing")


@pytest.mark.parametrize(
    "wrong",
    [
        {"graph": {"replica": 2}},
        {"graph": {"env": {"SEARCH_EMBEDDER": "openai"}}},
        {"search": {"autoscaling": {"enabled": True}}},
        {"search": {"secretFiles": {"SEARCH_OPENAI_KEY": {"name": "a", "key": "b"}}}},
        {"images": {"digests": {"graph": "latest"}}},
        {"images": {"digests": {"graf": f"sha256:{'0' * 64}"}}},
        {"neo4j": {"uri": "http://graph.example:7474"}},
        {"tls": {"mode": "on"}},
        {"restore": {"backup": "../other"}},
        {"gateway": {"replicas": 0}},
    ],
    ids=str,
)
def test_what_is_no_value_is_refused(wrong: object) -> None:
    """W10: by values.schema.json, before anything is rendered."""
    done = run("template", str(CHART), given=[wrong])

    assert done.returncode != 0
    assert "values don't meet the specifications of the schema" in done.stderr


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ({"tls": {"mode": "certManager"}}, "tls.issuer.name"),
        ({"tls": {"mode": "existing"}}, "tls.existing."),
        ({"gateway": {"tls": {"mode": "existing"}}}, "gateway.tls.secret"),
    ],
    ids=str,
)
def test_what_is_missing_is_named(lacking: object, said: str) -> None:
    """W10: a value that another one needs."""
    done = run("template", str(CHART), given=[lacking])

    assert done.returncode != 0
    assert said in done.stderr
