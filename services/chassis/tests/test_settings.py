from collections.abc import Mapping

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


def test_settings_come_from_the_prefixed_keys() -> None:
    """Issue 3: config from an environment mapping, passed in, never read at import."""
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
    """Style 8: an empty variable is an absent one."""
    settings = load(Settings, {"X_LISTEN": "a", "X_PORT": ""}, prefix="X_")

    assert (settings.port, settings.token, settings.names) == (7600, None, None)


def test_every_wrong_key_is_named_and_no_value_is_told() -> None:
    """Style 8: a missing key fails at start, by name; a value may be a secret."""
    environ = {"X_PORT": "hunter2", "X_REFLECTION": "hunter2", "X_KEYS": "hunter2=x"}

    with pytest.raises(ConfigError) as caught:
        load(Settings, environ, prefix="X_")

    message = str(caught.value)
    assert message == (
        "X_LISTEN is not set; X_PORT is not valid (int_parsing); "
        "X_REFLECTION is not valid (bool_parsing)"
    )
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_number_out_of_range_is_refused() -> None:
    """Style 8: each setting has a range."""
    with pytest.raises(ConfigError, match=r"X_PORT is not valid \(less_than_equal\)"):
        load(Settings, {"X_LISTEN": "a", "X_PORT": "65536"}, prefix="X_")


def test_a_model_that_can_change_is_refused() -> None:
    """Style 8: config is a frozen value."""

    class Loose(BaseModel):
        x: int = 1

    with pytest.raises(TypeError, match="Loose must be frozen"):
        load(Loose, {}, prefix="X_")
