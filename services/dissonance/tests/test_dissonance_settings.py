"""Dissonance's settings, and those of its models: what is refused at the start, and never shown."""

import re
from pathlib import Path

import pytest
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.config import ConfigError, load
from concord_dissonance.adapters.openai_council.settings import read_settings
from concord_dissonance.bootstrap import build
from concord_dissonance.config import PREFIX, Addresses
from concord_dissonance.domain.errors import JudgeUnavailable
from concord_testing.council import council_file
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOWHERE = {
    f"DISSONANCE_{name}_ADDRESS": "unix:/nowhere" for name in ("GRAPH", "SEARCH", "GOVERNANCE")
}
ISSUER = TokenIssuer(Ed25519PrivateKey.generate(), "dissonance")
URL = "http://127.0.0.1:9/v1"
SECRET = "sk-very-secret"


def read(**settings: str) -> Addresses:
    """Read these settings beside the addresses."""
    return load(Addresses, NOWHERE | settings, PREFIX)


def test_a_model_is_shown_no_space_unless_it_is_named() -> None:
    """D11 Spaces stand in a list; the key is in no text of the settings."""
    model = {"DISSONANCE_LLM_URL": "http://host/v1", "DISSONANCE_LLM_MODEL": "m"}
    found = read(**model, DISSONANCE_LLM_SPACES="home,work", DISSONANCE_LLM_KEY="sk-secret")

    assert read(**model).llm_spaces == frozenset()
    assert found.llm_spaces == {"home", "work"}
    assert found.llm_key.get_secret_value() == "sk-secret"
    assert "sk-secret" not in repr(found)


@pytest.mark.parametrize("half", ["DISSONANCE_LLM_URL", "DISSONANCE_LLM_MODEL"])
def test_half_a_model_is_refused(half: str) -> None:
    """D11 A URL without a name, or a name without a URL, stops the start."""
    with pytest.raises(ConfigError, match="contradict each other"):
        read(**{half: "x"})


async def test_an_unusable_folder_of_a_model_stops_the_start(tmp_path: Path) -> None:
    """D4 What the operator set up and cannot work is said at once, with its place."""
    with pytest.raises(JudgeUnavailable, match=str(tmp_path)):
        build(read(DISSONANCE_NLI_FOLDER=str(tmp_path)), ISSUER)


@pytest.mark.parametrize(("why", "parts"), [("no such wheel", {"PARSER": False}), ("", {})])
async def test_health_names_a_missing_parser(
    monkeypatch: pytest.MonkeyPatch, why: str, parts: dict[str, bool]
) -> None:
    """D4 D13 The service is built without the parser's files, and says that they are missing."""
    monkeypatch.setattr("concord_dissonance.bootstrap.missing", lambda: why)
    app = build(read(), ISSUER)

    assert app.registrations[0].parts() == parts

    await app.close()


def test_the_models_file_is_read(tmp_path: Path) -> None:
    """D11 Three reviewers, a reviser, a quorum of three and 45 s unless the file says."""
    found = read_settings(council_file(tmp_path, URL), {"local": SECRET})

    assert found.review.reviewers == ("one", "two", "three")
    assert (found.review.quorum, found.review.timeout) == (3, 45)
    assert found.models["one"].vendor == "one"


INVALID = {
    "unknown reviewer": ('"two"', '"four"', "the model four is not in the file"),
    "same model twice": ('"two:8b"', '"ONE:8b"', "reviewers must be different models"),
    "reviewer twice": ('"two", "three"', '"two", "two"', "reviewers must be different models"),
    "unknown provider": ('provider = "local"', 'provider = "far"', "is not in the file"),
    "fewer than the quorum": ('"one", "two", "three"', '"one", "two"', "fewer reviewers"),
    "a reviser that reviews": (
        'reviser = "reviser"',
        'reviser = "one"',
        "the reviser is one of the reviewers",
    ),
    "unknown synthesizer": (
        'model = "writer"',
        'model = "four"',
        "the model four is not in the file",
    ),
    "a synthesizer that reviews": (
        'model = "writer"',
        'model = "two"',
        "the synthesis's model is one of the reviewers",
    ),
    "a synthesis of nobody": ('model = "writer"', "timeout = 5", "synthesis.model"),
    "a quorum of one": ("[review]", "[review]\nquorum = 1", "review.quorum"),
    "unknown role": ("price = 0", 'role = "friend"', "models.one.role"),
    "unknown setting": ("[review]", "[review]\nspeed = 1", "review.speed"),
    "a key in the file": ("at_once = 4", f'key = "{SECRET}"', "providers.local.key"),
    "no URL": (URL, "ftp://somewhere", "providers.local.url"),
    "no TOML": ("[review]", "[review", "cannot be read as TOML"),
}


@pytest.mark.parametrize(("old", "new", "complaint"), INVALID.values(), ids=INVALID.keys())
def test_an_invalid_models_file_stops_the_start(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    """D9 D11 By name, and without a value."""
    path = council_file(tmp_path, URL)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))

    with pytest.raises(ConfigError, match="DISSONANCE_MODELS_FILE is not valid") as refused:
        read_settings(path, {})
    assert complaint in str(refused.value)
    assert SECRET not in str(refused.value)


def test_either_role_may_be_absent(tmp_path: Path) -> None:
    """D8 D9 A model that synthesizes needs no council, nor a council such a model."""
    text = council_file(tmp_path, URL).read_text()
    head, review, synthesis = re.split(r"(?=^\[review\]|^\[synthesis\])", text, flags=re.MULTILINE)
    alone, council = tmp_path / "alone.toml", tmp_path / "council.toml"
    alone.write_text(f"{head}\n{synthesis}")
    council.write_text(f"{head}\n{review}")

    found = read_settings(alone, {})
    assert found.review.reviewers == ()
    assert found.synthesis is not None
    assert (found.synthesis.model, found.synthesis.timeout) == ("writer", 45)
    assert read_settings(council, {}).synthesis is None


async def test_keys_come_from_the_environment(tmp_path: Path) -> None:
    """D11 By provider; one of no provider, or without a file, stops the start."""
    file = {"DISSONANCE_MODELS_FILE": str(council_file(tmp_path, URL))}
    good = read(**file, DISSONANCE_MODEL_KEYS=f"local={SECRET}")
    far = read(**file, DISSONANCE_MODEL_KEYS=f"far={SECRET}")

    assert SECRET not in repr(good)
    await build(good, ISSUER).close()
    with pytest.raises(ConfigError, match="far, which is no provider") as refused:
        build(far, ISSUER)
    assert SECRET not in str(refused.value)
    with pytest.raises(ConfigError, match="contradict"):
        read(DISSONANCE_MODEL_KEYS=f"local={SECRET}")
