"""The log's bound, and the folder of the sockets."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit

from concord_embedded import log_file, runtime_directory


def test_the_log_never_outgrows_its_bound(tmp_path: Path) -> None:
    """W6 A full log file is set aside, and replaces the one that was set aside before."""
    path = tmp_path / "log.jsonl"
    with log_file.opened(path, max_bytes=100) as log:
        for number in range(30):
            log.write(f"{number:019d}\n")

    kept = path.read_text("utf-8").splitlines()
    aside = path.with_name("log.jsonl.1").read_text("utf-8").splitlines()
    assert [*aside, *kept] == [f"{number:019d}" for number in range(20, 30)][-len(aside + kept) :]
    assert path.stat().st_size <= 120
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_log_is_appended_to(tmp_path: Path) -> None:
    """W6 A restart keeps what was logged before it."""
    for word in ("one", "two"):
        with log_file.opened(tmp_path / "log.jsonl") as log:
            log.write(f"{word}\n")

    assert (tmp_path / "log.jsonl").read_text("utf-8") == "one\ntwo\n"


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """The operating system refuses to write beyond `size` bytes, as a full disk does."""
    soft, hard = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, (soft, hard))


def test_a_log_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    """Must hold: a call on a full disk keeps its outcome; the log says how many bytes it lacks."""
    path = tmp_path / "log.jsonl"
    with log_file.opened(path) as log:
        log.write('{"n": 1}\n')
        with no_file_longer_than(12):
            for _ in range(3):
                log.write('{"n": 2}\n')
        log.write('{"n": 3}\n')

    *_, note, last = path.read_text("utf-8").splitlines()
    assert json.loads(note) == {"event": "log lost", "level": "warning", "bytes": 24}
    assert last == '{"n": 3}'


def test_a_log_that_cannot_be_set_aside_stops_nobody(tmp_path: Path) -> None:
    """Must hold: if the next file cannot be opened, the bound holds and nothing is raised."""
    path = tmp_path / "log.jsonl"
    path.with_name("log.jsonl.1").mkdir()
    with log_file.opened(path, max_bytes=10) as log:
        for _ in range(3):
            log.write("123456789\n")

    assert path.read_text("utf-8") == "123456789\n"


def test_sockets_live_in_a_short_private_folder(tmp_path: Path) -> None:
    """Design 5: a socket's path fits into 107 bytes; the folder goes when it is no longer used."""
    long = tmp_path / ("x" * 90)
    long.mkdir()
    with runtime_directory.made({"XDG_RUNTIME_DIR": str(long)}, tmp_path / "note") as folder:
        assert len(os.fsencode(folder / "search.sock")) <= 107
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    assert not folder.exists()
    assert not (tmp_path / "note").exists()


def test_the_runtime_directory_of_the_user_is_preferred(tmp_path: Path) -> None:
    """Design 5: XDG_RUNTIME_DIR is used where its path is short enough."""
    base = Path("/tmp") / f"c{os.getpid()}"
    base.mkdir(mode=0o700)
    try:
        with runtime_directory.made({"XDG_RUNTIME_DIR": str(base)}, tmp_path / "note") as folder:
            assert folder.parent == base
    finally:
        base.rmdir()


def test_what_a_killed_one_left_is_removed(tmp_path: Path) -> None:
    """Must hold: kill -9 leaves no litter beyond the next start."""
    left = Path(f"/tmp/concord-left{os.getpid()}")
    left.mkdir()
    (left / "graph.sock").touch()
    (tmp_path / "note").write_text(str(left), "utf-8")

    with runtime_directory.made({}, tmp_path / "note"):
        assert not left.exists()


def test_a_note_that_names_something_else_removes_nothing(tmp_path: Path) -> None:
    """W6 Only a folder with our prefix is removed."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / "note").write_text(str(precious), "utf-8")

    with runtime_directory.made({}, tmp_path / "note"):
        assert precious.is_dir()
