"""The data directory: made for its owner alone, and locked."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from concord_embedded import data_directory
from concord_embedded.errors import StartError


def mode(path: Path) -> int:
    """The permission bits of `path`."""
    return stat.S_IMODE(path.stat().st_mode)


def test_every_folder_is_its_owners_alone(tmp_path: Path) -> None:
    """W6 The directory and its folders are made with mode 0700, whatever the umask."""
    before = os.umask(0)
    try:
        with data_directory.opened(tmp_path / "deep" / "data") as data:
            folders = [data.root, *(each for each in data.root.iterdir() if each.is_dir())]
    finally:
        os.umask(before)

    assert len(folders) > 3
    assert {mode(folder) for folder in folders} == {0o700}
    assert mode(data.root / "lock") == 0o600


def test_a_second_opener_is_told_who_holds_it(tmp_path: Path) -> None:
    """Must hold: for a locked data directory the start fails and says what to do."""
    with (
        data_directory.opened(tmp_path / "data"),
        pytest.raises(StartError, match=rf"\(process {os.getpid()}\) is running on .*--data"),
        data_directory.opened(tmp_path / "data"),
    ):
        pass
    with data_directory.opened(tmp_path / "data"):
        pass


def test_the_lock_ends_with_the_process(tmp_path: Path) -> None:
    """Must hold: kill -9 leaves no lock behind."""
    code = (
        "import os, sys, pathlib\n"
        "from concord_embedded import data_directory\n"
        "with data_directory.opened(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), 9)\n"
    )
    died = subprocess.run([sys.executable, "-c", code, str(tmp_path / "data")], check=False)
    assert died.returncode == -9

    with data_directory.opened(tmp_path / "data"):
        pass


def test_a_directory_that_others_may_write_in_is_refused(tmp_path: Path) -> None:
    """W6 Another user could have put keys into such a directory."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)

    with pytest.raises(StartError, match="chmod 700"), data_directory.opened(shared):
        pass


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o755, 0o740])
def test_a_directory_that_others_may_look_into_is_refused(tmp_path: Path, mode: int) -> None:
    """W6 Its memories and keys could have been read: it says what to run, and starts after it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)

    with (
        pytest.raises(StartError, match=f"Others may read .*`chmod -R go= {shared}`"),
        data_directory.opened(shared),
    ):
        pass
    subprocess.run(["chmod", "-R", "go=", shared], check=True)
    with data_directory.opened(shared):
        pass


def test_a_file_in_its_place_is_told(tmp_path: Path) -> None:
    """Must hold: a path that is no directory is refused in a sentence."""
    (tmp_path / "data").write_text("x", "utf-8")

    with (
        pytest.raises(StartError, match=r"is not a directory.*--data"),
        data_directory.opened(tmp_path / "data"),
    ):
        pass


@pytest.mark.parametrize("place", ["/proc/concord", "/sys/concord"])
def test_a_place_that_cannot_be_written_is_told(place: str) -> None:
    """Must hold: an unwritable data directory is refused in a sentence, also for root."""
    with pytest.raises(StartError, match="--data"), data_directory.opened(Path(place)):
        pass
