"""Prints what changed since a commit, for `make quick`: `packages`, `folders` of tests, or `tests`.

The tests of a module are those named like it, those that import it, those of the modules that do,
and so on, up to a few: of its distribution, `tests/contract` and `tests/e2e`. CI runs all.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("services", "gateway", "deploy", "tests")
MOST = 3
"""Test modules for each module that changed: more take longer than one waits for."""


def home(path: Path) -> Path:
    """Return the folder of a file's distribution, or the room of `tests` that it is in."""
    folders = (each for each in path.parents[:-1] if (ROOT / each / "pyproject.toml").exists())
    return next(folders, Path(*path.parts[:2]))


def packages(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the packages whose types are to be checked."""
    for path in paths:
        inside = path.relative_to(home(path)).parts[0]
        if inside.startswith("concord_"):
            yield home(path) / inside


def folders(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of tests whose types are to be checked."""
    rooms = (home(path) if path.parts[0] == "tests" else home(path) / "tests" for path in paths)
    yield from (room for room in rooms if (ROOT / room).is_dir())


def tests(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the test modules to run: of each module that changed the nearest few."""
    for path in paths:
        yield from islice(_nearest(path), MOST)


def _nearest(path: Path) -> Iterator[Path]:
    rooms = [str(home(path)), "tests/contract", "tests/e2e"]
    files = [Path(each) for each in git("ls-files", *rooms)]
    seen, asked = set[Path](), {path}
    while asked:
        imports = "|".join(map(_import_of, asked))
        users = set(map(Path, git("grep", "-lE", "--untracked", imports, "--", *rooms)))
        alike = {file for file in files if any(_is_alike(file, each) for each in asked)}
        near = (asked | users | alike) - seen
        for file in sorted(near, key=lambda f: (f not in alike, home(f) != home(path), f)):
            if file.name.startswith("test_"):
                yield file
        asked = users - asked - seen
        seen |= near


def _is_alike(test: Path, path: Path) -> bool:
    return test.stem.startswith("test_") and f"_{path.stem.rstrip('es')}" in test.stem


def _import_of(path: Path) -> str:
    """Return a pattern of the lines that import a module; helpers of tests have no package."""
    *package, name = path.relative_to(home(path)).with_suffix("").parts
    if not package or not package[0].startswith("concord_"):
        return rf"^(from|import) {name}\b"
    return rf"^from {'[.]'.join(package)}([.]{name} import| import .*\b{name}\b)"


def git(*arguments: str) -> list[str]:
    """Return the lines that a command of git prints; none where it finds nothing."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines()


if __name__ == "__main__":
    fork = git("merge-base", "HEAD", sys.argv[2])[0]
    differing = git("diff", "--name-only", "--diff-filter=d", fork)
    new = git("ls-files", "--others", "--exclude-standard")
    changed = [p for p in map(Path, differing + new) if p.suffix == ".py" and p.parts[0] in ROOMS]
    asked = {"packages": packages, "folders": folders, "tests": tests}[sys.argv[1]]
    print(*sorted(set(map(str, asked(changed)))))  # noqa: T201 # make reads it
