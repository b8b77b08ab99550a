"""`concord-hook` when something is wrong: status 0, silence, and a line in the log."""

import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from concord.governance.v1 import access_pb2
from concord_client import credentials
from concord_hook import __main__ as program
from concord_hook import state, target
from concord_hook.door import MOST_BYTES, Door, DoorError
from concord_hook.event import Event
from concord_hook.target import Target
from concord_testing.certificates import pair
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned
from hook_runs import COMMAND, Hook, dead_port, in_space, path

EVENT = json.dumps(
    {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Where is Ada?"}
).encode()


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[dict[str, str]]:
    """The environment of a server that treats each connection by `answer`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        port = listening.getsockname()[1]
        yield {"CONCORD_HTTP_URL": f"http://127.0.0.1:{port}", "CONCORD_API_KEY": "k", **path()}
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def saying(reply: bytes) -> Callable[[socket.socket], None]:
    """Answer a request with these bytes."""

    def answer(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(reply)

    return answer


@pytest.mark.parametrize("event", program.EVENTS)
def test_a_dead_server_is_a_line_in_the_log(event: str, tmp_path: Path) -> None:
    """S9 At every event."""
    hook = Hook(dead_port(), tmp_path)
    dialogue = tmp_path / "t.jsonl"
    said = {"type": "user", "message": {"role": "user", "content": "Ada lives in Bremen."}}
    dialogue.write_text(json.dumps(said))
    fields = {"prompt": "x", "error": "y", "transcript_path": str(dialogue)}

    assert hook(event, **fields) == ""
    until = time.monotonic() + 20
    while event not in hook.log and time.monotonic() < until:  # a session's end is in no hurry
        time.sleep(0.05)
    assert f"{event}: ConnectionRefusedError" in hook.log
    assert (hook.folder / "hook.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"garbage",
        b"[]",
        b"null",
        b'{"session_id": 3, "prompt": ["x"]}',
        b'{"prompt": "\\ud800"}',
        b"\xff\xfe",
        b'{"a": ' * 100_000,
        b'{"prompt": "' + b"x" * (9 << 20) + b'"}',
    ],
    ids=range(9),
)
def test_garbage_is_silence(said: bytes, tmp_path: Path) -> None:
    """S9 Whatever stands on standard input."""
    hook = Hook(dead_port(), tmp_path)

    for event in ("prompt", "tool", "session-end"):
        assert hook.raw(event, said) == ""


@pytest.mark.parametrize("field", ["session_id", "prompt"])
def test_a_field_of_another_form_is_a_line_in_the_log(field: str, tmp_path: Path) -> None:
    """S9 Silence for the model, but not for who looks why nothing comes up."""
    hook = Hook(dead_port(), tmp_path)
    said = {"session_id": "s", "prompt": "Where is Ada?", field: ["x"]}

    assert hook.raw("prompt", json.dumps(said).encode()) == ""
    assert f"prompt: ValueError: {field} is no text" in hook.log


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n\r\nnone",
        b"HTTP/1.1 200 OK\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\n\r\n{"results": 3}',
        b'HTTP/1.1 200 OK\r\n\r\n{"results": [3, {"confidence": "CONFIDENCE_BAND_HIGH"}]}',
        b'HTTP/1.1 503 No\r\n\r\n{"code": "unavailable", "message": "secret"}',
        b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n",
        b"\x00\xff",
    ],
    ids=range(8),
)
def test_a_server_of_another_kind_is_silence(reply: bytes, tmp_path: Path) -> None:
    """S9 No reply is trusted to be one; nothing of its words is logged."""
    with server(saying(reply)) as environ:
        hook = Hook(environ, tmp_path)
        assert hook.prompt("Where is Ada?") == ""
        assert hook("tool", error="x") == hook("session-start") == ""

    assert "secret" not in hook.log


def test_a_slow_server_is_not_waited_for(tmp_path: Path) -> None:
    """S9 One second in all, also where bytes trickle in: each is in time, all are not."""

    def trickle(connection: socket.socket) -> None:
        connection.recv(65_536)
        for _ in range(200):
            try:
                connection.sendall(b"H")
            except OSError:
                return
            time.sleep(0.05)

    with server(trickle) as environ:
        begin = time.monotonic()
        ended = subprocess.run(
            (*COMMAND, "prompt"),
            input=EVENT,
            env={**environ, "XDG_STATE_HOME": str(tmp_path)},
            capture_output=True,
            timeout=60,
            check=True,
        )
        took = time.monotonic() - begin

    assert program.LIMIT == 1.0
    assert not ended.stdout + ended.stderr
    assert 0.9 < took < 8  # a busy machine starts a process slowly
    assert "prompt: " in Hook(environ, tmp_path).log


def test_a_client_that_never_ends_its_event_is_not_waited_for(tmp_path: Path) -> None:
    """S9 The whole process has a limit, and not each call alone."""
    hook = Hook(dead_port(), tmp_path)
    process = subprocess.Popen((*COMMAND, "prompt"), stdin=subprocess.PIPE, env=hook.environ)
    try:
        assert process.wait(30) == 0
    finally:
        process.kill()
        assert process.stdin
        process.stdin.close()
    assert "prompt: the time of 1 s was over" in hook.log


def test_a_hook_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    """S9 The next one of the session works; what it holds is free."""
    reached = threading.Event()

    def never(connection: socket.socket) -> None:
        connection.recv(65_536)
        reached.set()
        time.sleep(2)

    with server(never) as environ:
        hook = Hook(environ, tmp_path)
        process = subprocess.Popen((*COMMAND, "prompt"), stdin=subprocess.PIPE, env=hook.environ)
        assert process.stdin
        process.stdin.write(EVENT)
        process.stdin.close()
        assert reached.wait(30)
        process.send_signal(signal.SIGKILL)
        process.wait(30)

    mine = state.State(str(hook.folder), "key")
    assert mine.claim("s", ["a"]) == ["a"]


def test_a_revoked_key_is_silence(
    system: Spawned, concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """S9 W7 It gets nothing; the log says the status, and no key."""
    _, say = in_space(system, concord, unique("revoked"), tmp_path)
    say("add", "Ada is in Bremen.", "--id", "ada")
    made = concord.reply(
        access_pb2.CreateKeyResponse, "--space", say.space, "key", "create", "--principal",
        "visitor", "--kind", "agent", "--scopes", "read",
    )  # fmt: skip
    environ = {"CONCORD_HTTP_URL": system.http_url, "CONCORD_API_KEY": made.secret, **path()}
    hook = Hook(environ, tmp_path)
    assert "[memory:ada]" in hook.prompt("Where is Ada?")
    say("key", "revoke", made.key.id)

    until = time.monotonic() + 60
    session = 0
    while hook.prompt("Where is Ada?", f"t{session}") and time.monotonic() < until:
        session += 1  # a door believes an answer about a key for a short while
        time.sleep(0.2)
    assert "prompt: DoorError: status 401 unauthenticated" in hook.log
    assert made.secret not in hook.log


def test_a_huge_prompt_is_asked_by_its_ends(
    system: Spawned, concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """S9 A megabyte before the question, or after it, is no failure."""
    hook, say = in_space(system, concord, unique("huge"), tmp_path)
    say("add", "Ada is in Bremen.", "--id", "ada")
    event = Event(json.dumps({"prompt": f"A{'x' * 10_000}Z"}).encode())

    assert len(event.prompt) <= 2_000
    assert event.prompt[0] + event.prompt[-1] == "AZ"
    hook.prompt(f"Where is Ada?\n{'lorem ' * 200_000}")
    hook.prompt(f"{'x' * 1_000_000}\x00\u202e\ud83d\nWhere is Ada?")
    assert not hook.log


def test_wrong_arguments_and_unwritable_folders_are_silence(tmp_path: Path) -> None:
    """S9 Also where not even the log can be written."""
    hook = Hook(dead_port(), tmp_path)

    for event in ("", "promt", "--within"):
        assert hook.raw(event, EVENT) == ""
    assert hook.raw("prompt", EVENT, "--within", "0") == ""
    assert "UsageError: --within takes 0.05 to 60 seconds" in hook.log
    assert hook.raw("prompt", EVENT, "prompt") == ""
    (tmp_path / "file").touch()
    assert Hook(dead_port(), tmp_path / "file").raw("prompt", EVENT) == ""
    unknown = Hook({**path(), "CONCORD_DATA": str(tmp_path / "none")}, tmp_path)
    assert unknown.raw("prompt", EVENT) == ""
    assert "TargetError: cannot read" in unknown.log


def test_the_log_and_the_state_are_bounded(tmp_path: Path) -> None:
    """S9 The log begins anew at 256 KiB; old sessions go, and the oldest of too many."""
    folder = str(tmp_path / "hooks")
    for _ in range(2_000):
        state.log(folder, "x" * 1_000 + "\nprompt: forged")
    sizes = [each.stat().st_size for each in Path(folder).iterdir()]
    assert len(sizes) == 2
    assert max(sizes) < state.MOST_LOG_BYTES + 1_000
    assert "\nprompt: forged" not in (tmp_path / "hooks" / "hook.log").read_text()

    mine = state.State(folder, "key")
    for at in range(5):
        mine.claim(f"s{at}", ["a"])
    old = sorted(Path(folder).glob("session-*"))[0]
    os.utime(old, (0, 0))
    mine.clean()
    assert len([*Path(folder).glob("session-*")]) == 4
    assert not old.exists()
    assert len(mine.claim("many", [str(at) for at in range(5_000)])) <= state.MOST_SHOWN
    assert not mine.claim("many", ["another"])


def test_offers_that_were_half_written_are_none(tmp_path: Path) -> None:
    """S9 A kill in the midst of a session's end."""
    mine = state.State(str(tmp_path), "key")
    mine.offer(["a", "b"])
    (kept,) = tmp_path.glob("offers-*")
    assert mine.offered() == ["a", "b"]
    assert mine.offered() == []
    kept.write_text('["a", "b')
    assert mine.offered() == []


def test_a_reply_without_end_is_refused() -> None:
    """S9 At most four megabytes are read."""
    with server(saying(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (MOST_BYTES + 70_000))) as environ:
        door = Door(Target(environ["CONCORD_HTTP_URL"], "k", ("", "", "")), time.monotonic() + 20)
        with pytest.raises(DoorError, match="too large"):
            door.call("a.B/C", {})
    for url in ("ftp://a", "127.0.0.1:1", "http://"):
        with pytest.raises(DoorError):
            Door(Target(url, "k", ("", "", "")), 0)


def test_the_door_is_opened_over_tls(tmp_path: Path) -> None:
    """S9 W6 With the authority and the certificate that the variables name, and not without."""
    ca = pair(tmp_path, "ca")
    theirs, ours = pair(tmp_path, "server", ca), pair(tmp_path, "caller", ca)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(ca.cert_file))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(theirs.cert_file, theirs.key_file)

    def answer(connection: socket.socket) -> None:
        with suppress(OSError), context.wrap_socket(connection, server_side=True) as secured:
            saying(b'HTTP/1.1 200 OK\r\n\r\n{"a": 1}')(secured)

    with server(answer) as environ:
        url = environ["CONCORD_HTTP_URL"].replace("http://127.0.0.1", "https://localhost")
        for known in ("", str(ca.cert_file)):
            door = Door(
                Target(url, "k", (known, str(ours.cert_file), str(ours.key_file))),
                time.monotonic() + 20,
            )
            if known:
                assert door.call("a.B/C", {}) == {"a": 1}
            else:
                with pytest.raises(ssl.SSLCertVerificationError):
                    door.call("a.B/C", {})


@pytest.mark.parametrize("space", ["", "default", "demo"])
def test_the_hook_finds_the_key_that_an_agents_command_finds(
    space: str, system: Spawned, tmp_path: Path
) -> None:
    """S9 W4 The same file and variables, in the same order."""
    ours = {"CONCORD_API_KEY": "k", "CONCORD_HTTP_URL": "http://h:1", "CONCORD_URL": "h:2"}
    for environ in (system.environ, {**system.environ, **ours}, ours):
        theirs = credentials.find(url=None, api_key=None, space=space or None, environ=environ)
        found = target.find(environ, space, "")
        assert found.key == theirs.api_key
    assert target.find(system.environ, space, "").url == system.http_url
    assert target.find(ours, space, str(system.data)).url == system.http_url
    elsewhere = {**system.environ, "CONCORD_URL": "another:1"}
    with pytest.raises(target.TargetError, match="set CONCORD_HTTP_URL"):
        target.find(elsewhere, space, "")
    with pytest.raises(target.TargetError, match="no key"):
        target.find(system.environ, "unheard", "")
    assert not list(tmp_path.iterdir())
