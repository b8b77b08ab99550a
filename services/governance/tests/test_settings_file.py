"""The settings file: two settings, each turned, and nothing else (V4)."""

import json
from pathlib import Path

import pytest
from concord_chassis.config import ConfigError
from concord_governance.config import SqliteConfig, read_settings, read_store
from concord_governance.domain.safeguards import SAFEGUARDS, Settings, policy
from concord_stores.neo4j_config import Neo4jConfig


def test_without_a_file_the_settings_are_those_of_the_requirements() -> None:
    """V4 30 days and 48 hours."""
    assert read_settings(None) == Settings(30, 48)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, Settings(30, 48)),
        ({"undo_retention_days": 7}, Settings(7, 48)),
        ({"approval_timeout_hours": 2}, Settings(30, 2)),
    ],
)
def test_each_setting_is_turned(
    settings: dict[str, int], expected: Settings, tmp_path: Path
) -> None:
    """V4 Each setting is read, and is part of the policy that consents name."""
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(settings))

    assert read_settings(path) == expected
    assert policy(expected).items() >= settings.items()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"undo_retention_days": 0}', "undo_retention_days"),
        ('{"undo_retention_days": 4000}', "undo_retention_days"),
        ('{"approval_timeout_hours": "48"}', "approval_timeout_hours"),
        ('{"approval_timeout_hours": 1.5}', "approval_timeout_hours"),
        ('{"required_slots": []}', "required_slots"),
        ("[]", "no JSON object with undo_retention_days and approval_timeout_hours"),
        ("7", "no JSON object"),
        ("{", "its JSON"),
        ("", "its JSON"),
        (
            '{"undo_retention_days": 7, "undo_retention_days": 30}',
            "'undo_retention_days' stands there twice",
        ),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(text: str, named: str, tmp_path: Path) -> None:
    """V4 V2 The sentence names the file and the setting; a safeguard is not one of them."""
    path = tmp_path / "settings.json"
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        read_settings(path)

    assert str(caught.value).startswith(f"GOVERNANCE_SETTINGS_FILE: {path} is not")
    assert named in str(caught.value)
    assert "()" not in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """V4 A file that was named and is not there is no default."""
    with pytest.raises(ConfigError, match=r"it cannot be read .No such file or directory"):
        read_settings(tmp_path / "none.json")
    with pytest.raises(ConfigError, match=r"it cannot be read .Is a directory"):
        read_settings(tmp_path)


def test_the_ledger_is_where_the_operator_says(tmp_path: Path) -> None:
    """A1 A file unless GOVERNANCE_STORE says Neo4j, whose password is not shown."""
    given = {"GOVERNANCE_LEDGER_PATH": str(tmp_path / "l.db"), "GOVERNANCE_READERS": "3"}
    assert read_store(given) == SqliteConfig(ledger_path=tmp_path / "l.db", readers=3)

    there = {"NEO4J_URI": "bolt://there:1", "NEO4J_PASSWORD": "secret"}
    found = read_store({**given, "GOVERNANCE_STORE": "neo4j", **there})
    assert isinstance(found, Neo4jConfig)
    assert (found.uri, found.user) == ("bolt://there:1", "neo4j")
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "GOVERNANCE_LEDGER_PATH"),
        ({"GOVERNANCE_STORE": "paper"}, "GOVERNANCE_STORE"),
        ({"GOVERNANCE_STORE": "neo4j", "NEO4J_URI": "bolt://there:1"}, "NEO4J_PASSWORD"),
        ({"GOVERNANCE_STORE": "neo4j", "NEO4J_PASSWORD": "secret"}, "NEO4J_URI"),
    ],
)
def test_a_missing_setting_of_the_ledger_is_named(given: dict[str, str], missing: str) -> None:
    """A1 By its key, at the start."""
    with pytest.raises(ConfigError, match=missing):
        read_store(given)


def test_every_safeguard_is_a_constant() -> None:
    """V2 What is hard is written in code, and no setting names it; the policy that consents name
    has it, so that a change of version, safeguards or who must consent is another policy."""
    in_force = policy(Settings())

    assert set(Settings.__dataclass_fields__) == {"undo_retention_days", "approval_timeout_hours"}
    assert (in_force["version"], len(SAFEGUARDS)) == (1, 4)
    assert in_force["safeguards"] == list(SAFEGUARDS)
    assert in_force["required_slots"] == {"AGENT": ["AGENT"], "BILATERAL": ["AGENT", "HUMAN"]}
