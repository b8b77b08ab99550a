"""Finds the Markdown files of a folder, always in the same order."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from unicodedata import normalize

from concord_client.importers.outcome import Defect, LeftOut

SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Found:
    """A readable Markdown file."""

    path: Path
    name: str
    """The path relative to the folder, with slashes, in NFC as typed links are."""


def markdown_files(folder: Path) -> Iterator[Found | Defect | LeftOut]:
    """Yield the folder's Markdown files, depth first, each directory by name; or the one file.

    Names starting with a dot, and files that are no Markdown, are left out. A symbolic link to a
    path inside the folder is followed.
    A Defect is a link that leads out of the folder, to nothing or to a directory that contains it,
    an unreadable directory, a name that is not UTF-8, or a Markdown name of no regular file.
    """
    try:
        root = folder.resolve(strict=True)
    except (OSError, RuntimeError):
        yield Defect(str(folder), 0, "no such folder")
        return
    if root.is_file():
        yield Found(root, normalize("NFC", folder.name))
        return
    yield from _walk(root, root, "", (root,))


def _walk(
    directory: Path, root: Path, prefix: str, around: tuple[Path, ...]
) -> Iterator[Found | Defect | LeftOut]:
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        yield Defect(prefix.rstrip("/") or str(root), 0, error.strerror or "cannot be listed")
        return
    for name in names:
        if name.startswith("."):
            yield LeftOut("hidden file or folder", "", _printable(prefix + name))
        else:
            yield from _visit(directory / name, root, prefix + name, around)


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _visit(
    path: Path, root: Path, name: str, around: tuple[Path, ...]
) -> Iterator[Found | Defect | LeftOut]:
    printable = _printable(name)
    try:
        real = path.resolve(strict=True)
        status = real.stat()
    except (OSError, RuntimeError):
        yield Defect(printable, 0, "a symbolic link that leads nowhere, or in a circle")
        return
    is_markdown = name.lower().endswith(SUFFIXES)
    if not S_ISDIR(status.st_mode) and not is_markdown:
        yield LeftOut("file that is no Markdown", "", printable)
    elif not real.is_relative_to(root):
        yield Defect(printable, 0, "a symbolic link that leads out of the folder")
    elif printable != name:
        yield Defect(printable, 0, "the name is not UTF-8")
    elif S_ISREG(status.st_mode):
        yield Found(real, normalize("NFC", name))
    elif not S_ISDIR(status.st_mode):
        yield Defect(printable, 0, "not a regular file")
    elif real in around:
        yield Defect(printable, 0, "a symbolic link that leads back to a folder around it")
    else:
        yield from _walk(real, root, f"{name}/", (*around, real))
