"""Where the client finds Concord."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from concord_client.credentials import (
    CredentialsError,
    Role,
    Target,
    data_directory,
    find,
    forget,
    read,
    save,
)
from concord_client.terms import address

CONTENT = {
    "url": "127.0.0.1:7600",
    "http_url": "http://127.0.0.1:7601",
    "keys": {
        "default": "ck_default",
        "demo": "ck_demo",
        "old": "ck_old",
        "concord:system": "ck_operator",
    },
    "owner_keys": {"default": "ck_owner", "mine": "ck_mine"},
    "admin_keys": {"old": "ck_admin"},
    "enrolment_secrets": {"default": "s1", "demo": "s2"},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory as `concord up` leaves it."""
    (tmp_path / "credentials.json").write_text(json.dumps(CONTENT), "utf-8")
    return tmp_path


def found(
    environ: Mapping[str, str],
    *,
    url: str | None = None,
    api_key: str | None = None,
    space: str | None = None,
    role: Role = Role.AGENT,
) -> tuple[str, str]:
    """The address and key found."""
    target = find(url=url, api_key=api_key, space=space, environ=environ, role=role)
    return target.url, target.api_key


def test_the_data_directory_gives_address_and_key_of_the_space(data: Path) -> None:
    """W4 `CONCORD_DATA` alone is enough; the space is "default" unless named."""
    environ = {"CONCORD_DATA": str(data)}

    assert found(environ) == ("127.0.0.1:7600", "ck_default")
    assert found(environ, space="demo") == ("127.0.0.1:7600", "ck_demo")


@pytest.mark.parametrize(
    ("space", "role", "key"),
    [
        ("default", Role.AGENT, "ck_default"),
        ("default", Role.OWNER, "ck_owner"),
        ("default", Role.ADMIN, "ck_owner"),
        ("demo", Role.OWNER, "ck_demo"),
        ("mine", Role.AGENT, "ck_mine"),
        ("old", Role.OWNER, "ck_old"),
        ("old", Role.ADMIN, "ck_admin"),
        ("demo", Role.ADMIN, "ck_demo"),
        ("default", Role.KEY_MAKER, "ck_operator"),
        ("made since", Role.KEY_MAKER, "ck_operator"),
        ("demo", Role.OPERATOR, "ck_operator"),
        ("concord:system", Role.AGENT, "ck_operator"),
        ("concord:system", Role.OWNER, "ck_operator"),
    ],
)
def test_of_several_keys_the_one_for_the_role_is_used(
    data: Path, space: str, role: Role, key: str
) -> None:
    """W7 W8 Its owner, its agent, and who makes spaces hold different keys.

    In a system of before the owner's key does not write: there the agent's is used as before.
    """
    assert found({"CONCORD_DATA": str(data)}, space=space, role=role)[1] == key


def test_what_is_kept_is_found_by_its_space(data: Path) -> None:
    """W7 `--save`: beside what stands there, and readable by its owner alone."""
    environ = {"CONCORD_DATA": str(data)}
    save(environ, "alpha", key="ck_alpha", enrolment_secret="s3")
    path = save(environ, "alpha", owner_key="ck_alpha_owner")

    assert found(environ, space="alpha")[1] == "ck_alpha"
    assert found(environ, space="alpha", role=Role.ADMIN)[1] == "ck_alpha_owner"
    assert found(environ)[1] == "ck_default"
    assert read(path).enrolment_secrets == {"default": "s1", "demo": "s2", "alpha": "s3"}
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CredentialsError, match="of another system"):
        save({**environ, "CONCORD_URL": "elsewhere:1"}, "alpha", key="ck_other")


def test_without_an_operators_key_it_says_so(data: Path) -> None:
    """W7 Spaces are the operator's."""
    content = {**CONTENT, "keys": {"default": "ck_default"}}
    (data / "credentials.json").write_text(json.dumps(content), "utf-8")

    environ = {"CONCORD_DATA": str(data)}
    with pytest.raises(CredentialsError, match="no operator's key"):
        found(environ, role=Role.OPERATOR)
    assert found(environ, role=Role.KEY_MAKER)[1] == "ck_owner"


def test_variables_win_over_the_file_and_arguments_over_both(data: Path) -> None:
    """W4 `CONCORD_URL` and `CONCORD_API_KEY` override, each by itself."""
    environ = {"CONCORD_DATA": str(data), "CONCORD_URL": "h:1"}

    assert found(environ) == ("h:1", "ck_default")
    assert found({**environ, "CONCORD_API_KEY": "ck_x"}) == ("h:1", "ck_x")
    assert found({**environ, "CONCORD_API_KEY": "ck_x"}, url="g:2", api_key="ck_y") == (
        "g:2",
        "ck_y",
    )
    assert found({"CONCORD_URL": "h:1", "CONCORD_API_KEY": "ck_x"}) == ("h:1", "ck_x")


def test_a_key_that_is_known_to_be_another_spaces_is_refused(data: Path) -> None:
    """G13 A write meant for one space does not silently go to another."""
    environ = {"CONCORD_DATA": str(data), "CONCORD_API_KEY": "ck_default"}

    assert found(environ, space="default")[1] == "ck_default"
    with pytest.raises(CredentialsError, match="is the key of the space 'default', not of 'demo'"):
        found(environ, space="demo")


def test_default_data_directory_follows_xdg() -> None:
    """W4 Without `CONCORD_DATA` it is `concord` in the user's data home."""
    assert data_directory({"XDG_DATA_HOME": "/x"}) == Path("/x/concord")
    assert data_directory({}) == Path("~/.local/share/concord").expanduser()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "Start Concord with `concord up`"),
        ("not json", "is damaged"),
        ("[]", "is damaged"),
        (json.dumps({**CONTENT, "keys": {"default": 7}}), "is damaged"),
        (json.dumps({**CONTENT, "keys": {}, "owner_keys": {}}), "There is no key for the space"),
        (json.dumps({**CONTENT, "url": ""}), "has not come up"),
    ],
)
def test_what_is_wrong_with_the_file_is_told(
    tmp_path: Path, content: str | None, told: str
) -> None:
    """W4 Each way of not finding Concord says what to do."""
    if content is not None:
        (tmp_path / "credentials.json").write_text(content, "utf-8")

    with pytest.raises(CredentialsError, match=told):
        found({"CONCORD_DATA": str(tmp_path)})


def test_keys_of_a_deleted_space_leave_the_file_of_the_system_in_use(data: Path) -> None:
    """W7 Of a distributed system, too, with a note of it; the file of another one stays."""
    environ = {"CONCORD_DATA": str(data)}
    path = data / "credentials.json"
    forget({**environ, "CONCORD_URL": "elsewhere:1"}, "default")
    assert json.loads(path.read_text("utf-8")) == CONTENT

    forget({**environ, "CONCORD_URL": "127.0.0.1:7600"}, "default")

    left = read(path)
    assert set(left.keys) == {"demo", "old", "concord:system"}
    assert (set(left.owner_keys), left.enrolment_secrets) == ({"mine"}, {"demo": "s2"})
    assert json.loads(path.read_text("utf-8"))["deleted_spaces"] == ["default"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to another user")
def test_a_file_of_the_containers_user_stays_theirs(data: Path) -> None:
    """W7 Root saves a key in a distributed system's file; `make compose-backup` reads it after."""
    path = data / "credentials.json"
    os.chown(path, 10_001, 10_002)

    save({"CONCORD_DATA": str(data)}, "bob", key="ck_bob")

    assert (path.stat().st_uid, path.stat().st_gid) == (10_001, 10_002)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read(path).keys["bob"] == "ck_bob"


def test_no_secret_shows_in_a_representation(data: Path) -> None:
    """W6 Credentials in a traceback or log tell no key."""
    shown = repr(read(data / "credentials.json")) + repr(Target("h:1", "ck_secret"))

    assert "ck_" not in shown
    assert "s1" not in shown


@pytest.mark.parametrize(
    ("url", "place", "secured"),
    [
        ("127.0.0.1:7600", "127.0.0.1:7600", False),
        ("http://127.0.0.1:7600/", "127.0.0.1:7600", False),
        ("https://concord.example.org:443", "concord.example.org:443", True),
    ],
)
def test_https_means_tls(url: str, place: str, secured: bool) -> None:
    """W6 An address that begins with https:// is reached by TLS alone."""
    target, tls = address(url)

    assert (target, tls is not None) == (place, secured)
