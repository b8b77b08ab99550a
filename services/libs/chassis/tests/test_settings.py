from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest
from concord_chassis.config import ConfigError, load
from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True)

    listen: tuple[str, ...]
    port: int = Field(default=7600, ge=1, le=65535)
    reflection: bool = False
    keys: Mapping[str, str] = {}
    token: SecretStr | None = None
    names: tuple[str, ...] | None = None
    store: Literal["sqlite", "neo4j"] = "sqlite"


class Demanding(BaseModel):
    model_config = ConfigDict(frozen=True)

    token: SecretStr


def test_settings_come_from_the_prefixed_keys() -> None:
    """Style 8: settings are read from a given mapping, by the prefix and the field's name."""
    settings = load(
        Settings,
        {
            "X_LISTEN": "unix:/a, 127.0.0.1:1",
            "X_PORT": "80",
            "X_REFLECTION": "true",
            "X_KEYS": "gateway=/k/g, search=/k/s",
            "X_NAMES": "a,b",
            "X_TOKEN": "a,b",
            "X_OTHER": "ignored",
            "PORT": "1",
        },
        prefix="X_",
    )

    assert settings.listen == ("unix:/a", "127.0.0.1:1")
    assert (settings.port, settings.reflection) == (80, True)
    assert settings.keys == {"gateway": "/k/g", "search": "/k/s"}
    assert settings.names == ("a", "b")
    assert settings.token is not None
    assert settings.token.get_secret_value() == "a,b"


def test_defaults_hold_where_a_key_is_absent_or_empty() -> None:
    """Style 8: an empty value counts as absent."""
    settings = load(Settings, {"X_LISTEN": "a", "X_PORT": ""}, prefix="X_")

    assert (settings.port, settings.token, settings.names) == (7600, None, None)


LISTENING = {"X_LISTEN": "[::1]:1"}
WRONG: list[tuple[dict[str, str], str]] = [
    (
        {"X_PORT": "hunter2", "X_REFLECTION": "hunter2", "X_KEYS": "hunter2=x"},
        "X_LISTEN is not set; X_PORT is not valid: it must be a whole number; "
        "X_REFLECTION is not valid: it must be true or false",
    ),
    (LISTENING | {"X_PORT": "65536"}, "X_PORT is not valid: it must be at most 65535"),
    (
        LISTENING | {"X_STORE": "hunter2"},
        "X_STORE is not valid: it must be 'sqlite' or 'neo4j'",
    ),
    (  # read as a list of values, JSON would name a space `["home"`
        LISTENING | {"X_NAMES": '["home", "work"]'},
        "X_NAMES is not valid: it must be values separated by commas, not JSON",
    ),
    (
        LISTENING | {"X_KEYS": '{"a": "/b"}'},
        "X_KEYS is not valid: it must be NAME=VALUE pairs separated by commas, not JSON",
    ),
]


@pytest.mark.parametrize(("environ", "message"), WRONG)
def test_every_wrong_key_is_named_and_no_value_is_shown(
    environ: dict[str, str], message: str
) -> None:
    """Style 8: the error names all wrong keys and what they must be, but no given value, which may
    be a secret."""
    with pytest.raises(ConfigError) as caught:
        load(Settings, environ, prefix="X_")

    assert str(caught.value) == message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_model_that_can_change_is_refused() -> None:
    """Style 8: the model of settings must be frozen."""

    class Loose(BaseModel):
        x: int = 1

    with pytest.raises(TypeError, match="Loose must be frozen"):
        load(Loose, {}, prefix="X_")


def test_a_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    """Must hold: a container may get a secret as a file, instead of in its environment."""
    (tmp_path / "token").write_text("hunter2\n")
    environ = {"X_LISTEN": "a", "X_TOKEN_FILE": str(tmp_path / "token")}

    token = load(Demanding, environ, prefix="X_").token

    assert token.get_secret_value() == "hunter2"


@pytest.mark.parametrize("content", [None, b"", b"\xff"])
def test_a_secrets_file_that_holds_none_is_named(tmp_path: Path, content: bytes | None) -> None:
    """Must hold: the error names the setting and the file, but not the file's content."""
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    environ = {"X_TOKEN_FILE": str(tmp_path / "token")}

    with pytest.raises(ConfigError, match=f"X_TOKEN_FILE: {tmp_path / 'token'} "):
        load(Demanding, environ, prefix="X_")
