"""Which keys are made and used: what no genesis takes and what servers read is refused."""

import shutil
from pathlib import Path

import pytest
from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned, clean_environ
from two_signers import proposal


@pytest.mark.parametrize(
    "name", ["Ada Lovelace", "ad\u0430", "-x", "x-", "", "a" * 129, "a\nb", "@", "\u00e4da"]
)
def test_a_name_that_no_genesis_takes_makes_no_key(name: str, tmp_path: Path) -> None:
    """V5 Refused when the key is made, not when it is enrolled; the sentence says what is taken."""
    concord = CommandLine(clean_environ() | {"XDG_CONFIG_HOME": str(tmp_path)})

    result = concord("principal", "create", "--slot", "agent", f"--name={name}")

    assert result.exit_code == 1
    assert "cannot name a principal: ASCII letters" in result.stderr
    assert not list(tmp_path.rglob("*.key"))


@pytest.mark.parametrize("words", [" " * 12, "aaaaaaaaaaaa", "ab ab ab ab ab", "\t" * 20])
def test_a_passphrase_of_next_to_nothing_makes_no_key(words: str, tmp_path: Path) -> None:
    """V5 Twelve spaces are no passphrase."""
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "CONCORD_PASSPHRASE": words}
    concord = CommandLine(clean_environ() | environ)

    result = concord("principal", "create", "--slot", "human", "--name", "ada")

    assert result.exit_code == 1
    assert "5 different characters" in result.stderr
    assert not list(tmp_path.rglob("*.key"))


def test_a_key_where_a_server_reads_signs_nothing(
    governed: Spawned, home: Path, signers: CommandLine
) -> None:
    """V5 W6 A key copied into the data directory is refused as it is when it is made there."""
    concord = signers
    made = proposal(concord, "propose", "set", "helper", "VALUES", "calm", "--constitutive")
    concord.done("review", str(made.number))
    inside = governed.data / "human.key"
    shutil.copy(home / "config" / "concord" / "human.key", inside)

    result = concord("approve", str(made.number), "--as", "human", "--key", str(inside))

    assert result.exit_code == 1
    assert "inside the data directory" in result.stderr
    assert "These bytes are signed" not in result.output


def test_a_start_with_bad_settings_names_the_variable(tmp_path: Path) -> None:
    """V4 `up` says which variable, which file and what is wrong; its help names them."""
    (tmp_path / "settings.json").write_text("[]")
    settings = {"GOVERNANCE_SETTINGS_FILE": str(tmp_path / "settings.json")}
    environ = clean_environ() | settings | {"CONCORD_DATA": str(tmp_path / "data")}

    result = CommandLine(environ)("up", "--port", "0")
    helped = CommandLine(clean_environ())("up", "--help")

    assert result.exit_code != 0
    assert "GOVERNANCE_SETTINGS_FILE" in result.output
    assert "no JSON object" in result.output
    assert "GOVERNANCE_SETTINGS_FILE" in helped.output
    assert "GOVERNANCE_STORE" in helped.output
