"""The command as its users have it: a process, a pipe, a terminal."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread

import pytest
from concord.dissonance.v1.dissonance_pb2 import ListConflictsResponse
from concord.governance.v1.proposal_pb2 import CreateProposalResponse
from concord_client import terms
from concord_client.cli.commands.system.up import typed_as
from concord_client.credentials import CredentialsError
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import COMMAND, Spawned, clean_environ, ran
from two_signers import typed

MOST_LOADED = 550
"""Modules that help may load: 500 are Python's, Typer's, Rich's and the commands' own."""


def on_a_terminal(environ: dict[str, str], columns: int, *arguments: str) -> str:
    """What a command prints on a terminal of so many columns."""
    colourful = {**environ, "TERM": "xterm-256color"}
    status, screen = typed(colourful, [], *arguments, columns=columns)
    assert status == 0
    return screen.replace("\r\n", "\n")


def test_help_loads_little() -> None:
    """W4 What only some commands need is loaded by these alone: so help is there at once."""
    code = """import sys
from concord_client.cli import main
try: main()
finally: print(*sys.modules, file=sys.stderr)"""
    result = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
    )
    loaded = set(result.stderr.split())

    assert "Usage" in result.stdout
    assert not loaded & {"grpc", "asyncio", "numpy", "cryptography", "concord_embedded"}
    assert not {name for name in loaded if name.startswith("concord_client.importers.")} - {
        "concord_client.importers.form"
    }
    assert len(loaded) < MOST_LOADED


def test_a_pipe_gets_plain_whole_lines(system: Spawned, unique: Unique) -> None:
    """W4 No colour codes, no wrapping, no padding, ids whole."""
    own = unique("a-rather-long-id-of-somebody-who-likes-long-ids")
    long = " ".join(f"word{number}" for number in range(60))
    run = CommandLine(system.environ)
    run.done("add", f"{long} {own}", "--id", own)
    run.done("add", f"It follows. {own}", "--supersedes", own)

    for arguments in (["search", own, "--all"], ["lineage", own], ["get", own]):
        printed = run.done(*arguments)
        lines = printed.splitlines()
        assert "\x1b" not in printed
        assert own in printed
        assert any(" ".join(f"word{number}" for number in range(20)) in line for line in lines)
        assert all(line == line.rstrip() for line in lines)


def test_eighty_columns_hold_everything(system: Spawned, unique: Unique) -> None:
    """W4 On a terminal nothing is cut off and nothing is wider than the screen."""
    own, ada = unique("an-id-of-forty-characters-or-so"), unique("Ada")
    run = CommandLine(system.environ)
    run.done("add", f"Some {'long ' * 40} text. {own}", "--id", own)
    run.done("link", ada, "WROTE_A_LONG_LETTER_ABOUT", f"memory:{own}")

    for arguments in (
        ["search", own, "--limit", "1"],  # other tests of the system remember long texts
        ["get", own],
        ["lineage", own],
        ["neighbors", ada],
        ["path", ada, f"memory:{own}"],
        ["status"],
    ):
        shown = on_a_terminal(system.environ, 80, *arguments)
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
        assert max(map(len, plain.splitlines())) <= 80, arguments
        assert "…" not in plain
        if arguments != ["status"]:
            assert own in plain.replace("\n", "").replace(" ", "")


def test_ids_can_be_copied_from_eighty_columns(
    signers: CommandLine, environ: dict[str, str], unique: Unique
) -> None:
    """W4 D5 V9 Ids of conflicts and proposals stand whole on a line, and a proposal's line names
    its items."""
    one, other, long = unique("one"), unique("other"), "with many words " * 20
    for own in (one, other):
        signers.done("add", f"{own} {long}", "--id", own)
    signers.done("link", f"memory:{one}", "CONTRADICTS", f"memory:{other}")
    listed = signers.reply(ListConflictsResponse, "conflicts", "--item", one)
    made = signers.reply(
        CreateProposalResponse, "propose", "add", f"I am {one}.", "--constitutive"
    ).proposal
    changed = signers.reply(CreateProposalResponse, "propose", "promote", one).proposal

    for arguments, shown in (
        (["conflicts"], [listed.conflicts[0].id]),
        (["proposals"], [made.id, changed.id, f"memory:{one}", f"new memory  I am {one}."]),
        (["briefing"], [listed.conflicts[0].id, made.id, changed.id, f"memory:{one}"]),
        (["audit", "log"], [made.id, one]),
    ):
        page = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", on_a_terminal(environ, 80, *arguments))
        assert max(map(len, page.splitlines())) <= 80, arguments
        assert [each for each in shown if each not in page] == [], arguments


def test_a_terminal_shows_progress(system: Spawned, unique: Unique, tmp_path: Path) -> None:
    """W4 Long work shows how far it is; in a pipe it does not."""
    path = tmp_path / "n.jsonl"
    path.write_text(json.dumps({"content": unique("x")}) + "\n", "utf-8")

    shown = on_a_terminal(system.environ, 80, "import", str(path))

    assert "Remembering" in shown
    assert "Indexing" in shown
    assert "1/1" in shown


def test_not_running_says_what_to_do(tmp_path: Path) -> None:
    """W4 Neither set up nor reachable is a sentence that names `concord up`."""
    never = CommandLine(clean_environ() | {"CONCORD_DATA": str(tmp_path)})("status")
    environ = {"CONCORD_URL": "127.0.0.1:1", "CONCORD_API_KEY": "ck_" + "x" * 43}
    gone = CommandLine(clean_environ() | environ)("get", "x")

    for result in (never, gone):
        assert (result.exit_code, result.stdout) == (1, "")
        assert "`concord up`" in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert gone.stderr.startswith("ERROR_REASON_UNAVAILABLE: ")


@contextmanager
def another_program() -> Iterator[str]:
    """Where an HTTP server of somebody else's listens."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_an_http_address_is_told_from_one_where_nothing_runs(system: Spawned) -> None:
    """W4 Neither Concord's own HTTP address nor another program's: it answers, but not gRPC."""
    with another_program() as other:
        for url in (system.http_url, other):
            result = CommandLine(system.environ | {"CONCORD_URL": url})("get", "x")

            assert result.exit_code == 1
            assert "What answers there does not speak gRPC: set CONCORD_URL" in result.stderr
            assert "Start it" not in result.stderr


@pytest.mark.parametrize("path", ["/api", "/concord.graph.v1.GraphService", "?space=a"])
def test_an_address_with_a_path_is_told_what_it_is(system: Spawned, path: str) -> None:
    """W4 Of a URL that is no address nothing is asked, and gRPC says nothing about it."""
    for url in (system.url, system.http_url, "http://ada:sesame@nowhere.invalid"):
        result = CommandLine(system.environ | {"CONCORD_URL": f"{url}{path}"})("get", "x")

        assert "sesame" not in result.stderr
        assert (result.exit_code, result.stdout) == (1, "")
        assert "without a path, as `concord up` prints it" in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_port_that_there_cannot_be_is_refused() -> None:
    """W4 gRPC would take it modulo 65,536, and ask whoever listens there."""
    with pytest.raises(CredentialsError, match="no address of Concord"):
        terms.address("127.0.0.1:73136")
    assert terms.address("127.0.0.1:65535") == ("127.0.0.1:65535", None)


def test_where_nothing_listens_is_told_in_our_words(system: Spawned) -> None:
    """W4 The address, and a name that is none, without gRPC's own words."""
    gone = CommandLine(system.environ | {"CONCORD_URL": "127.0.0.1:1"})("get", "x")
    http = CommandLine(system.environ | {"CONCORD_URL": system.http_url})("get", "x")
    nowhere = CommandLine(system.environ | {"CONCORD_URL": "nowhere.invalid:7600"})("get", "x")

    assert "Concord does not answer at 127.0.0.1:1. Start it with `concord up`" in gone.stderr
    assert "There is no host of the name in CONCORD_URL." in nowhere.stderr
    for said in (gone.stderr, http.stderr, nowhere.stderr):
        assert not re.search("backends|SETTINGS|INTERNAL:|UNKNOWN:|resolving", said)


def redirected(environ: Mapping[str, str], redirection: str, *arguments: str) -> tuple[int, str]:
    """The exit status and standard error of a command whose streams a shell redirects."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *COMMAND, *arguments],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stderr


def test_an_output_without_room_ends_in_a_sentence(system: Spawned) -> None:
    """W4 What was done stays done: no traceback, and another status than success."""
    lost = "The output cannot be written: No space left on device. What the command did stays"
    for arguments in (["list"], ["status", "--json"], ["--help"]):
        status, said = redirected(system.environ, ">/dev/full", *arguments)

        assert (status, said) == (1, f"{lost} done.\n"), arguments


def test_closed_streams_end_in_a_sentence_or_in_nothing(system: Spawned, unique: Unique) -> None:
    """W4 Who reads nothing is no failure; what is to be read and is closed is told."""
    own = unique("closed")

    assert redirected(system.environ, ">&-", "add", own, "--id", own) == (0, "")
    assert redirected(system.environ, "<&-", "get", own) == (0, "")
    assert redirected(system.environ, "<&-", "add", "-") == (
        1,
        "Standard input cannot be read: it is closed.\n",
    )
    assert redirected(system.environ, "2>&-", "get", unique("nothing")) == (1, "")


def test_what_is_not_utf8_ends_in_a_sentence(system: Spawned, tmp_path: Path) -> None:
    """W4 In standard input, an argument, and of an output that cannot show it."""
    latin = tmp_path / "latin"
    latin.write_bytes(b"caf\xe9")
    bad = latin.read_bytes().decode("utf-8", "surrogateescape")
    ascii_only = system.environ | {"PYTHONIOENCODING": "ascii"}

    for language in ("C", "C.UTF-8"):
        environ = system.environ | {"LC_ALL": language}
        assert redirected(environ, f"<{latin}", "add", "-") == (
            1,
            "Standard input is not UTF-8: convert it to UTF-8 first.\n",
        )
        for arguments in (["add", bad], ["search", bad], ["get", bad]):
            status, said = redirected(environ, "", *arguments)
            assert status == 1
            assert said.startswith("What was given is not UTF-8 (character 4 of a text)")
    assert redirected(system.environ, "", "add", "A Brücke.", "--id", "bridge") == (0, "")
    status, said = redirected(ascii_only, "", "get", "bridge")
    assert status == 1
    assert said.startswith("The output's encoding, ascii, has no '\\xfc'")


def test_tls_to_a_plain_address_is_told_in_one_line(system: Spawned) -> None:
    """W4 As a process: gRPC's own notes of its handshake are no part of what is told."""
    plain = system.url.removeprefix("http://")
    done = subprocess.run(
        [sys.executable, "-m", "concord_client", "get", "x"],
        env=system.environ | {"CONCORD_URL": f"https://{plain}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "does not speak TLS: set CONCORD_URL without https://" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_variables_alone_are_enough(system: Spawned, unique: Unique) -> None:
    """W4 CONCORD_URL and CONCORD_API_KEY need no data directory; `--data` needs no variable."""
    key = json.loads((system.data / "credentials.json").read_bytes())["keys"]["demo"]
    environ = clean_environ() | {"CONCORD_URL": system.url, "CONCORD_API_KEY": key}
    own = unique("note")

    added = ran("add", own, "--id", own, environ=environ)
    read = ran("--data", str(system.data), "--space", "demo", "get", own, environ=clean_environ())

    assert (added.returncode, read.returncode) == (0, 0)
    assert own in read.stdout


def test_a_reader_that_leaves_early_is_no_failure(system: Spawned, unique: Unique) -> None:
    """W4 `concord export | head -1` ends quietly, with the status of any tool in its place."""
    for letter in "stuvwxyz":  # more than a pipe holds
        CommandLine(system.environ).done("add", letter * 15_000 + unique(letter))
    with subprocess.Popen(
        [*COMMAND, "export"],
        env=system.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        complained = process.stderr.read()
        process.wait(100)

    assert (complained, process.returncode) == ("", 141)


def test_the_version_is_told() -> None:
    """W4 `--version` names the installed distribution's."""
    result = ran("--version", environ=clean_environ())

    assert (result.returncode, result.stdout) == (0, f"concord {version('concord-client')}\n")


def test_what_to_try_next_is_typed_as_it_is_shown(tmp_path: Path) -> None:
    """W4: the command that is shown works from there, on this data, without an environment."""
    own = Path(sys.executable).parent / "concord"
    other = tmp_path / "some data"

    assert typed_as(other, {"PATH": str(own.parent)}) == f"concord --data '{other}'"
    shown = shlex.split(typed_as(other, {"PATH": "/nowhere"}))
    assert (Path(shown[0]).resolve(), shown[1:]) == (own.resolve(), ["--data", str(other)])
    home = {"PATH": str(own.parent), "XDG_DATA_HOME": str(tmp_path)}
    assert typed_as(tmp_path / "concord", home) == "concord"
    assert typed_as(other, home | {"CONCORD_DATA": str(other)}).endswith(f"--data '{other}'")
